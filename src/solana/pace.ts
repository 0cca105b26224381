/** Keeps to an endpoint's rate limit instead of running into it: providers count refused calls too. */
import type { Clock } from "../runtime.ts";
import { EndpointFailure } from "./endpoint-failure.ts";

// A second's worth of calls may be made at once, as providers allow, and at least one; a poll and a request of the API
// then do not wait for each other.
const BURST_MS = 1_000;
// Past this the caller is better served by another endpoint, or by an error.
const MAX_WAIT_MS = 4_000;

/** Resolves when the next call may be made, in the order asked. Throws `EndpointFailure` when the queue is too long. */
export type Pace = () => Promise<void>;

/** A token bucket of a second's calls, kept as the moment at which it will be full again. */
export function paceOf(requestsPerSecond: number, clock: Clock, closed: AbortSignal): Pace {
  const interval = 1_000 / requestsPerSecond;
  const burst = Math.max(BURST_MS, interval);
  let fullAt = 0;
  return async () => {
    const now = clock.now();
    const next = Math.max(fullAt, now) + interval;
    const wait = next - now - burst;
    if (wait > MAX_WAIT_MS) {
      throw new EndpointFailure("busy", "more calls than its rate limit allows", { retryAfterMs: wait });
    }
    fullAt = next;
    if (wait > 0) await clock.sleep(wait, closed);
  };
}
