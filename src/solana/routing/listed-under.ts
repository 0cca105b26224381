/** Lists the transactions that name a key, as one endpoint tells it. */
import type { Address } from "../../address.ts";
import type { Hint } from "../../ledger/belief.ts";
import { ask, type NodeContext } from "../ask.ts";

/** Anybody can name any key: more are a flood, in which nothing has to be found. */
const MOST = 10;

/** See `RoutingLedger.listedUnder`. */
export async function listedUnder(nodes: NodeContext, key: Address): Promise<Hint<readonly string[]>> {
  return await ask(nodes, async ({ rpc }) => {
    const listed = await rpc.getSignaturesForAddress(key, { limit: MOST });
    return listed
      .filter(({ err }) => err === null)
      .map(({ signature }) => signature)
      .toReversed();
  });
}
