/** The reason why an attempt failed, as far as the webhook's owner may know. */
import type { AttemptError } from "./sending/attempt.ts";

const BLOCKED: AttemptError = "blocked_address";
const UNRESOLVED: AttemptError = "dns";

/** A refused address is shown as an unresolved name: otherwise a tenant could map this server's own network. */
export function shownError(error: string | null): string | null {
  return error === BLOCKED ? UNRESOLVED : error;
}
