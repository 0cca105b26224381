/** Tries again what may pass: after a pause that grows, and not before the service wants to be asked. */
import pRetry from "p-retry";
import type { Clock, Random } from "../core/runtime.ts";
import { ApiError } from "./api-error.ts";
import { mayPass } from "./read-answer.ts";

/** Limits on retries: number and time. */
interface RetryOptions {
  /** How often a request is sent again. */
  readonly retries: number;
  /** How long all pauses of one call may take together, in milliseconds. */
  readonly maxWaitMs: number;
  readonly clock: Clock;
  readonly random: Random;
}

/** Before the second request; twice that before the next. */
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 8_000;

/** Tries until an answer comes, it will not pass, or the patience is over; then it rejects with the last error. */
export async function retrying<T>(
  attempt: (number: number) => Promise<T>,
  { retries, maxWaitMs, clock, random }: RetryOptions,
  signal: AbortSignal | undefined,
): Promise<T> {
  let leftMs = maxWaitMs;
  try {
    return await pRetry(attempt, {
      retries,
      // p-retry would sleep on the machine's clock; the pause is ours.
      minTimeout: 0,
      shouldRetry: async ({ error, retriesConsumed }) => {
        if (signal?.aborted === true || !mayPass(error)) return false;
        const wanted = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
        const pauseMs = Math.max(wanted, backoffMs(retriesConsumed, random));
        // A caller that would have to wait for an hour gets the error at once.
        if (pauseMs > leftMs) return false;
        leftMs -= pauseMs;
        await clock.sleep(pauseMs, signal);
        signal?.throwIfAborted();
        return true;
      },
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

/** Between half of the pause and all of it, so that many clients do not come back at once. */
function backoffMs(retries: number, random: Random): number {
  const [chance = 0] = random.bytes(1);
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** retries, MAX_PAUSE_MS);
  return Math.round(pauseMs * (0.5 + chance / 512));
}
