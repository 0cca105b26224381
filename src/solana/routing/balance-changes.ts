/** Reads what a finalized transaction did to the balances of some holders, as enough endpoints tell it alike. */
import type { Agreed } from "../../ledger/belief.ts";
import type { Holder } from "../../ledger/routing.ts";
import { agree } from "../agree.ts";
import type { Nodes } from "../ask.ts";
import type { LandedChanges } from "./attribute-inflows.ts";
import { changesAsTold } from "./landed-changes.ts";

/** See `RoutingLedger.changesOf`. */
export async function balanceChanges(
  nodes: Nodes,
  signature: string,
  holders: readonly Holder[],
): Promise<Agreed<readonly bigint[]> | null> {
  return agree(nodes, {
    subject: `the transaction ${signature}`,
    question: async (endpoint) => {
      const changes = await changesAsTold(signature)(endpoint);
      return changes === null ? null : holders.map((holder) => changeOf(changes, holder));
    },
    textOf: (changes) => (changes === null ? "" : changes.join(" ")),
  });
}

function changeOf({ lamports, tokens }: LandedChanges, { owner, mint }: Holder): bigint {
  const changes =
    mint === null
      ? lamports.filter(({ account }) => account === owner)
      : tokens.filter((each) => each.owner === owner && each.mint === mint);
  return changes.reduce((sum, { change }) => sum + change, 0n);
}
