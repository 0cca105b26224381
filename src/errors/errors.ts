/** The error of every use case: a code of the table, its sentence, and the details that the table promises for it. */
import type { ErrorCode, ErrorDetails } from "./error-table.ts";
import { messageOf } from "./remedies.ts";

export type { ErrorCode, ErrorDetails };

/** A fault of a request. `path` is the field, such as `recipients.0.amount`. */
export type FieldProblem = ErrorDetails["VALIDATION_ERROR"]["fields"][number];

/**
 * The error of every use case. `code` narrows `details`; the message is for people and no interface: what is wrong and, where the
 * details have a `reason`, what a caller does about it.
 *
 * @example
 * ```ts
 * import { isPaymentError, PaymentError } from "paystate";
 *
 * const thrown: unknown = new PaymentError("QUOTE_NOT_FOUND", { quoteId: "qt_1" });
 * if (isPaymentError(thrown, "QUOTE_NOT_FOUND")) console.log(thrown.details.quoteId); // qt_1
 * ```
 */
export class PaymentError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = "PaymentError";
  readonly code: Code;
  readonly details: ErrorDetails[Code];

  constructor(code: Code, details: ErrorDetails[Code], options?: ErrorOptions) {
    super(messageOf(code, details), options);
    this.code = code;
    this.details = details;
  }
}

/** After 2 s a lagging node has usually caught up, and a broken connection works again. */
const UPSTREAM_RETRY_SECONDS = 2;

/** The error for a chain or a provider that could not be asked, or does not know yet what was asked. */
export function upstreamError(options?: ErrorOptions): PaymentError<"UPSTREAM_ERROR"> {
  return new PaymentError("UPSTREAM_ERROR", { retryAfter: UPSTREAM_RETRY_SECONDS }, options);
}

/** The error for one wrong field. `path` is the field, such as `recipients.0.amount`, and empty for the body as a whole. */
export function fieldError(
  path: string,
  message: string,
  reason?: FieldProblem["reason"],
): PaymentError<"VALIDATION_ERROR"> {
  const problem = reason === undefined ? { path, message } : { path, message, reason };
  return new PaymentError("VALIDATION_ERROR", { fields: [problem] });
}

/** The error for private mode or swaps that the service was not configured with: no repetition helps. */
export function routingOff(): PaymentError<"ROUTING_UNAVAILABLE"> {
  return new PaymentError("ROUTING_UNAVAILABLE", { reason: "off" });
}

/**
 * Whether something thrown is a `PaymentError`, and of this code when one is given.
 *
 * @example
 * ```ts
 * import { isPaymentError, PaymentError } from "paystate";
 *
 * const thrown: unknown = new PaymentError("INVALID_API_KEY", {});
 * console.log(isPaymentError(thrown), isPaymentError(thrown, "QUOTE_NOT_FOUND")); // true false
 * ```
 */
export function isPaymentError<Code extends ErrorCode>(
  thrown: unknown,
  code?: Code,
): thrown is PaymentError<Code> {
  return thrown instanceof PaymentError && (code === undefined || thrown.code === code);
}
