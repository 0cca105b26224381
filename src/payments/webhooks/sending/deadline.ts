/** Bounds work by one absolute deadline on an injected clock. */
import type { Clock } from "../../../core/runtime.ts";

/** The reason of the work's signal when its time is up, as opposed to the caller's own reason. */
export class DeadlineError extends Error {
  constructor(ms: number) {
    super(`not finished within ${ms} ms`);
    this.name = "DeadlineError";
  }
}

/** Ends the timer of finished work. Given, because the platform would make an error with a stack each time. */
const FINISHED = "the work has finished";

export interface DeadlineOptions {
  readonly ms: number;
  readonly clock: Clock;
  /** Gives the work up before its time. */
  readonly caller?: AbortSignal | undefined;
}

/**
 * Runs `work` with a signal that aborts after `ms` (reason: {@link DeadlineError}) or with `caller` (its reason).
 * Settles only when `work` does: the work must heed its signal. Nothing is left behind, neither timer nor listener.
 */
export async function withDeadline<T>(
  { ms, clock, caller }: DeadlineOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const running = new AbortController();
  const finished = new AbortController();
  const abandon = (): void => running.abort(caller?.reason);
  if (caller?.aborted === true) abandon();
  // Not AbortSignal.any: on Node 20 it keeps every short signal alive for as long as a long-lived caller's.
  caller?.addEventListener("abort", abandon, { once: true });
  void clock.sleep(ms, finished.signal).then(() => {
    if (!finished.signal.aborted) running.abort(new DeadlineError(ms));
  });
  try {
    return await work(running.signal);
  } finally {
    caller?.removeEventListener("abort", abandon);
    finished.abort(FINISHED);
  }
}
