/**
 * Asks again for about two seconds what a node may not know yet: one URL often is a pool of nodes, some of which are a few
 * slots behind the others.
 */
import { elapsed, type Clock } from "../../core/runtime.ts";
import { EndpointFailure, isBehind } from "../endpoint-failure.ts";

// Five slots are made meanwhile: a node of a pool that was so far behind has then heard what was true at the beginning.
const CATCH_UP_MS = 2_000;
// Before each try. The fourth try is made after the two seconds, the last one where that met a node further behind.
const PAUSES_MS = [0, 250, 500, 1_250, 500];

/** The clock of the pauses, and the signal that ends them. */
export interface Patience {
  readonly clock: Clock;
  readonly closed: AbortSignal;
}

/**
 * The first answer of `attempt` that is not undefined, and not the failure of a node that is behind. `attempt` is told
 * whether a node that was a few slots behind at the beginning has caught up. Rejects with that failure after five tries, and
 * with every other error at once.
 */
export async function untilKnown<T>(
  { clock, closed }: Patience,
  attempt: (hasCaughtUp: boolean) => Promise<T | undefined>,
): Promise<T> {
  const begunAt = elapsed(clock);
  let behind = new EndpointFailure("behind", "does not know yet what it is asked about");
  for (const pauseMs of PAUSES_MS) {
    if (pauseMs > 0) await clock.sleep(pauseMs, closed);
    try {
      const known = await attempt(elapsed(clock) - begunAt >= CATCH_UP_MS);
      if (known !== undefined) return known;
    } catch (error) {
      if (!isBehind(error)) throw error;
      behind = error;
    }
  }
  throw behind;
}
