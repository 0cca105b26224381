/**
 * Asks again for about two seconds what an endpoint may not know yet: one URL often is a pool of nodes, some of which
 * are a few slots behind the others.
 */
import { elapsed } from "../runtime.ts";
import type { NodeContext } from "./ask.ts";
import { withRole } from "./endpoint.ts";
import { EndpointFailure, isBehind, troubleOf, unavailable } from "./endpoint-failure.ts";

// Five slots are made meanwhile: a node of a pool that was so far behind has then heard what was true at the beginning.
const CATCH_UP_MS = 2_000;
// Before each further try. The fourth try is made after the two seconds, the last one where that met a node further behind.
const PAUSES_MS = [0, 250, 500, 1_250, 500];

const BEHIND = new EndpointFailure("behind", "does not know the blockhash yet");

/**
 * The first answer of `attempt` that is not undefined. `attempt` is told whether a node that was a few slots behind at the
 * beginning has caught up. Throws `LedgerUnavailable` where nothing is known in the end.
 */
export async function untilKnown<T>(
  nodes: NodeContext,
  attempt: (hasCaughtUp: boolean) => Promise<T | undefined>,
): Promise<T> {
  const { clock, closed } = nodes;
  const begunAt = elapsed(clock);
  for (const pauseMs of PAUSES_MS) {
    if (pauseMs > 0) await clock.sleep(pauseMs, closed);
    const known = await attempt(elapsed(clock) - begunAt >= CATCH_UP_MS);
    if (known !== undefined) return known;
  }
  throw unavailable(
    closed,
    withRole(nodes.endpoints, "witness").map((endpoint) => troubleOf(endpoint, BEHIND)),
  );
}

/** The answer of one endpoint's call. The call is made again while it meets a node that is behind, five times in all. */
export async function onceCaughtUp<T>({ clock, closed }: NodeContext, call: () => Promise<T>): Promise<T> {
  const [, ...pauses] = PAUSES_MS;
  for (const pauseMs of pauses) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof EndpointFailure && isBehind(error))) throw error;
      await clock.sleep(pauseMs, closed);
    }
  }
  return await call();
}
