/** Lists the errors of an endpoint: declared ones, and the errors of its body, its key and its path. */
import { ERRORS } from "../../error-table.ts";
import type { ErrorCode } from "../../errors.ts";
import { bodyUse, type Endpoint, type KeyedEndpoint } from "./endpoint.ts";

/** The errors of an endpoint without duplicates, in the order of the table. */
export function errorsOf(endpoint: Endpoint): readonly ErrorCode[] {
  const codes = new Set<ErrorCode>(["RATE_LIMIT_EXCEEDED", "INTERNAL_ERROR"]);
  if (endpoint.scope !== "none") for (const code of keyedErrors(endpoint)) codes.add(code);
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.has(code));
}

function keyedErrors(endpoint: KeyedEndpoint): readonly ErrorCode[] {
  const codes: ErrorCode[] = ["INVALID_API_KEY", "STORAGE_UNAVAILABLE", ...endpoint.errors];
  if (endpoint.scope !== "any") codes.push("INSUFFICIENT_SCOPE");
  if (endpoint.query !== undefined) codes.push("VALIDATION_ERROR");
  if (endpoint.method !== "GET") codes.push("OUTCOME_UNKNOWN");
  if (endpoint.method === "POST") codes.push("IDEMPOTENCY_KEY_REUSED");
  if (bodyUse(endpoint) !== "unread") {
    codes.push("VALIDATION_ERROR", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE");
  }
  // An id with a slash is another path.
  if (endpoint.path.includes("{")) codes.push("NOT_FOUND");
  return codes;
}
