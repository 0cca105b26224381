/** The one place where something thrown becomes a response. Details that are not for the caller go to the log instead. */
import { ERRORS, type ErrorKind } from "../errors/error-table.ts";
import { isPaymentError, PaymentError, upstreamError } from "../errors/errors.ts";
import { LedgerUnavailable } from "../ledger/ledger.ts";
import { CommitUnknown } from "../../storage/decided.ts";
import { StorageUnusable } from "../../storage/storage-unusable.ts";
import type { Logger } from "../core/runtime.ts";
import { docUrlOf } from "./docs/doc-url.ts";
import type { TextStream } from "./contract/endpoint.ts";
import { writeRateLimit } from "./rate-window.ts";

/** Labels of a request in the log, for failures on our side. */
interface RequestLabel {
  readonly requestId: string;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
}

/** A begun answer: the headers written so far, and the request's label in the log. */
export interface BegunAnswer {
  readonly label: RequestLabel;
  readonly headers: Headers;
}

/** A database that was waited for in vain may be back in a few seconds. */
const RETRY_SECONDS = 5;

/**
 * The answer to a request that threw: the API's error body, with the request's id and the place of the remedy in `details`; the headers that belong to
 * the error are added to those of the begun answer. Anything but a `PaymentError`, `LedgerUnavailable`,
 * `StorageUnusable` and `CommitUnknown` is `INTERNAL_ERROR`, a constant sentence.
 */
export function errorAnswer(thrown: unknown, { label, headers }: BegunAnswer, log: Logger): WholeAnswer {
  const error = known(thrown, label, log);
  const { code, message, details } = error;
  const { status, header }: ErrorKind = ERRORS[code];
  const value = header?.valueOf(details) ?? null;
  if (header !== undefined && value !== null) headers.set(header.name, value);
  if (isPaymentError(error, "RATE_LIMIT_EXCEEDED")) {
    writeRateLimit(headers, { ...error.details, remaining: 0, resetSeconds: error.details.retryAfter });
  }
  headers.set("content-type", "application/json");
  const told = { ...details, requestId: label.requestId, docUrl: docUrlOf(code) };
  const body = { error: { code, message, details: told } };
  return { status, headers, text: JSON.stringify(body) };
}

function known(thrown: unknown, label: RequestLabel, log: Logger): PaymentError {
  if (isPaymentError(thrown)) return thrown;
  if (thrown instanceof LedgerUnavailable) {
    log.warn({ ...label, err: thrown }, "the ledger could not be asked");
    return upstreamError();
  }
  if (thrown instanceof StorageUnusable) {
    log.error({ ...label, err: thrown }, "the database could not be used");
    return new PaymentError("STORAGE_UNAVAILABLE", { retryAfter: RETRY_SECONDS });
  }
  if (thrown instanceof CommitUnknown) {
    log.error({ ...label, err: thrown }, "the database did not say whether a request was carried out");
    return new PaymentError("OUTCOME_UNKNOWN", { retryAfter: RETRY_SECONDS });
  }
  log.error({ ...label, err: thrown }, "a request failed");
  return new PaymentError("INTERNAL_ERROR", {});
}

/** Status, headers and text of an answer; a null text is an answer without a body. */
export interface WholeAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string | TextStream | null;
}

/** The answer to a request that came by `fetch`. */
export function responseOf({ status, headers, text }: WholeAnswer): Response {
  const body = text === null || typeof text === "string" ? text : readableOf(text);
  return new Response(body, { status, headers });
}

/** Asks for the next part when the last one was taken. */
function readableOf(text: TextStream): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await text.next();
      if (done === true) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await text.return();
    },
  });
}

/** A text from its first part on, whose failure goes to the log: for its reader the connection breaks. */
export async function* loggedStream(
  [first, rest]: readonly [string, TextStream],
  { label }: BegunAnswer,
  log: Logger,
): TextStream {
  try {
    yield first;
    yield* rest;
  } catch (err) {
    log.error({ ...label, err }, "an answer broke off");
    throw new Error("the answer broke off", { cause: err });
  } finally {
    await rest.return();
  }
}
