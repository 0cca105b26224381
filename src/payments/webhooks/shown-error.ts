/** Why an attempt failed, in the words that the webhook's owner may read. */
import type { AttemptError } from "./sending/attempt.ts";

const BLOCKED: AttemptError = "blocked_address";
const UNRESOLVED: AttemptError = "dns";

/** Which names lead into this server's own network is not told: a tenant could draw a map of it. */
export function shownError(error: string | null): string | null {
  return error === BLOCKED ? UNRESOLVED : error;
}
