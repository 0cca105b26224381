/** Reads what a finalized transaction did to the balances of some holders, as enough endpoints tell it alike. */
import type { Evidence } from "../../ledger/belief.ts";
import type { Holder } from "../../ledger/routing.ts";
import { agree } from "../agree.ts";
import type { NodeContext } from "../ask.ts";
import type { TransactionChange } from "./attribute-inflows.ts";
import { changesAsTold } from "./landed-changes.ts";

/** See `RoutingLedger.changesOf`. */
export async function balanceChanges(
  nodes: NodeContext,
  signature: string,
  holders: readonly Holder[],
): Promise<Evidence<readonly bigint[]> | null> {
  return agree(nodes, {
    subject: `the transaction ${signature}`,
    question: async (endpoint) => {
      const changes = await changesAsTold(signature)(endpoint);
      return changes === null ? null : holders.map((holder) => changeOf(changes, holder));
    },
    textOf: (changes) => (changes === null ? "" : changes.join(" ")),
  });
}

function changeOf({ lamports, tokens }: TransactionChange, { owner, mint }: Holder): bigint {
  const changes =
    mint === null
      ? lamports.filter(({ account }) => account === owner)
      : tokens.filter((each) => each.owner === owner && each.mint === mint);
  return changes.reduce((sum, { change }) => sum + change, 0n);
}
