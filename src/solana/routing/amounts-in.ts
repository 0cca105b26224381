/** Reads what many single accounts hold: the cheapest way to see whether anything has changed. */
import type { Hint } from "../../ledger/belief.ts";
import type { Commitment } from "../../ledger/ledger.ts";
import type { AssetAccount } from "../../ledger/routing.ts";
import { ask, type NodeContext } from "../ask.ts";
import { readAccounts } from "../read-accounts.ts";
import { lamportsIn, unitsOfAnybody } from "./held-in-account.ts";

/** See `RoutingLedger.amountsIn`. */
export async function amountsIn(
  nodes: NodeContext,
  accounts: readonly AssetAccount[],
  commitment: Commitment,
): Promise<Hint<readonly bigint[]>> {
  const read = readAccounts(
    accounts.map(({ address }) => address),
    commitment,
  );
  // The limits of all endpoints count for looks: one whose calls have to wait leaves them to the next.
  const endpoints = nodes.endpoints.toSorted((a, b) => Number(b.hasRoom()) - Number(a.hasRoom()));
  return await ask({ ...nodes, endpoints }, async (endpoint) => {
    const found = await read(endpoint);
    return accounts.map(({ mint }, index) =>
      mint === null ? lamportsIn(found[index]) : unitsOfAnybody(found[index], mint),
    );
  });
}
