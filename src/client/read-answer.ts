/** Reads what came back: an answer, a refusal of the service, or something that is neither. */
import type { ErrorCode } from "../errors/errors.ts";
import { ApiError, isApiError } from "./api-error.ts";
import { NoAnswer } from "./no-answer.ts";

/** The request, as errors name it. */
export interface Attempt {
  /** Method and path, such as `POST /v1/quotes`. */
  readonly label: string;
  /** From 1. */
  readonly number: number;
  readonly idempotencyKey: string | null;
}

/** A response, with its text. */
export interface ReceivedAnswer {
  readonly status: number;
  readonly text: string;
  /** Instead of the text, where that is read as it comes; else null. */
  readonly body: ReadableStream<Uint8Array> | null;
  /** In milliseconds; null when the response has none. */
  readonly retryAfterMs: number | null;
}

/** Too many requests, and what proxies and the service say while something behind them is away. */
const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** The text of an answer. Throws `ApiError` for a refusal, `NoAnswer` for what the service never says. */
export function acceptedText(received: ReceivedAnswer, attempt: Attempt): string {
  const { status, text } = received;
  if (status === 200 || status === 201) return text;
  const refusal = refusalIn(text);
  if (refusal === null) throw unusable(received, attempt, PASSING.has(status));
  const { code, message, details } = refusal;
  throw new ApiError({
    code,
    message,
    status,
    details,
    attempts: attempt.number,
    retryAfterMs: received.retryAfterMs,
  });
}

/** The object of an answer. Throws `NoAnswer` when its text is none: it was cut off or changed on its way. */
export function objectIn(received: ReceivedAnswer, attempt: Attempt): object {
  const value = parsed(acceptedText(received, attempt));
  if (!isObject(value)) throw unusable(received, attempt, true);
  return value;
}

/** Whether a repetition of the request may soon succeed. */
export function mayPass(error: unknown): boolean {
  if (error instanceof NoAnswer) return error.mayPass;
  return isApiError(error) && PASSING.has(error.status) && !isOff(error);
}

/** An option that the service lacks is missing a moment later, too. */
function isOff(error: ApiError): boolean {
  return isApiError(error, "ROUTING_UNAVAILABLE") && error.details.reason === "off";
}

function unusable(
  { status }: ReceivedAnswer,
  { label, number, idempotencyKey }: Attempt,
  soon: boolean,
): NoAnswer {
  const hint = soon ? "" : "; is baseUrl where the service stands?";
  return new NoAnswer({
    message: `${label} was answered with ${status} and a body that is none of the service's${hint}`,
    status,
    mayPass: soon,
    attempts: number,
    idempotencyKey,
  });
}

type Refusal = Pick<ApiError, "code" | "message" | "details">;

/** The error body of the service, null when it is none. */
function refusalIn(text: string): Refusal | null {
  const body = parsed(text);
  const error = isObject(body) ? body["error"] : null;
  if (!isObject(error)) return null;
  const { code, message, details } = error;
  if (typeof code !== "string" || typeof message !== "string" || !isObject(details)) return null;
  if (typeof details["requestId"] !== "string") return null;
  return { code: code as ErrorCode, message, details: details as unknown as ApiError["details"] };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
