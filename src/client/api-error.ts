/** The service's refusals as errors: their code gives their details a type. */
import type { ErrorCode, ErrorDetails } from "../errors/errors.ts";

/** The parts of an `ApiError`. */
export interface ApiErrorParts<Code extends ErrorCode> {
  readonly code: Code;
  readonly message: string;
  readonly status: number;
  readonly details: ErrorDetails[Code] & { readonly requestId: string; readonly docUrl?: string };
  readonly retryAfterMs: number | null;
  readonly attempts: number;
}

/**
 * The service has refused a request. {@link isApiError} gives `details` the type of their code. A newer service may have
 * codes that this version does not know: treat them by their `status`.
 */
export class ApiError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = "ApiError";
  /** A permanent word such as `INSUFFICIENT_BALANCE`. The message is for people, and no interface. */
  readonly code: Code;
  /** The HTTP status. */
  readonly status: number;
  /** The details of the code, `requestId`, which the operator finds in the logs, and `docUrl`, which tells what to do. */
  readonly details: ErrorDetails[Code] & { readonly requestId: string; readonly docUrl?: string };
  /** Milliseconds until the request may be repeated; null when the service does not tell. */
  readonly retryAfterMs: number | null;
  /**
   * How many requests were sent. After several requests, an earlier one may have been carried out, with its answer
   * lost: `cancelTransaction` is then refused with `CANNOT_CANCEL`, `currentStatus` `cancelled`.
   */
  readonly attempts: number;

  constructor(parts: ApiErrorParts<Code>) {
    super(`${parts.code}: ${parts.message}`);
    this.code = parts.code;
    this.status = parts.status;
    this.details = parts.details;
    this.retryAfterMs = parts.retryAfterMs;
    this.attempts = parts.attempts;
  }
}

/**
 * Whether a thrown value is a refusal of the service, with this code if a code is given.
 *
 * @example
 * ```ts no-run: there is no service at this address
 * import { createClient, isApiError } from "paystate/client";
 *
 * const client = createClient({ baseUrl: "https://pay.example", apiKey: process.env["API_KEY"] ?? "" });
 * try {
 *   await client.cancelTransaction("tx_019abc0f8a3c4c1f9d02f4be9a17c3e5");
 * } catch (error) {
 *   if (!isApiError(error, "CANNOT_CANCEL")) throw error;
 *   console.log(`too late: it is ${error.details.currentStatus}`);
 * }
 * ```
 */
export function isApiError<Code extends ErrorCode>(thrown: unknown, code?: Code): thrown is ApiError<Code> {
  return thrown instanceof ApiError && (code === undefined || thrown.code === code);
}
