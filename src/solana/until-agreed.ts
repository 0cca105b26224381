/** Asks several endpoints again for what none of them may know yet, by the rule of `untilKnown`. */
import type { NodeContext } from "./ask.ts";
import { withRole } from "./endpoint.ts";
import { isBehind, troubleOf, unavailable } from "./endpoint-failure.ts";
import { untilKnown } from "./rpc/until-known.ts";

/**
 * The first conclusion of `attempt` that is not undefined. `attempt` is told whether a node that was a few slots behind at
 * the beginning has caught up. Throws `LedgerUnavailable` where nothing is known in the end.
 */
export async function untilAgreed<T>(
  nodes: NodeContext,
  attempt: (hasCaughtUp: boolean) => Promise<T | undefined>,
): Promise<T> {
  try {
    return await untilKnown(nodes, attempt);
  } catch (error) {
    if (!isBehind(error)) throw error;
    const witnesses = withRole(nodes.endpoints, "witness");
    throw unavailable(
      nodes.closed,
      witnesses.map((endpoint) => troubleOf(endpoint, error)),
    );
  }
}
