/** Reads what a finalized transaction did to the balances of some holders, as enough endpoints tell it alike. */
import type { Evidence } from "../../ledger/belief.ts";
import type { Holder } from "../../ledger/routing.ts";
import { differ, weigh } from "../agree.ts";
import type { EndpointCall, NodeContext } from "../ask.ts";
import type { TransactionChange } from "./attribute-inflows.ts";
import { changesAsTold } from "./landed-changes.ts";

interface ToldChanges {
  readonly endpoint: string;
  readonly changes: readonly bigint[];
}

/** See `RoutingLedger.changesOf`. An endpoint that does not have the transaction, or not yet, contradicts no other. */
export async function balanceChanges(
  nodes: NodeContext,
  signature: string,
  holders: readonly Holder[],
): Promise<Evidence<readonly bigint[] | null>> {
  const question: EndpointCall<ToldChanges | null> = async (endpoint) => {
    const changes = await changesAsTold(signature)(endpoint);
    if (changes === null) return null;
    return { endpoint: endpoint.name, changes: holders.map((holder) => changeOf(changes, holder)) };
  };
  return await weigh(nodes, question, (answers) => {
    const told = answers.filter((answer) => answer !== null);
    return alike(nodes, `the transaction ${signature}`, told);
  });
}

/** Null while too few tell them. */
function alike(nodes: NodeContext, subject: string, told: readonly ToldChanges[]): readonly bigint[] | null {
  const texts = told.map(({ changes }) => changes.join(" "));
  const different = [...new Set(texts)];
  const [enough, ...others] = different.filter(
    (text) => texts.filter((each) => each === text).length >= nodes.witnesses,
  );
  if (others.length > 0 || (enough === undefined && different.length > 1)) {
    throw differ(
      nodes,
      subject,
      told.map(({ endpoint }) => endpoint),
    );
  }
  if (enough === undefined) return null;
  nodes.disputes.end(subject);
  return told[texts.indexOf(enough)]?.changes ?? null;
}

function changeOf({ lamports, tokens }: TransactionChange, { owner, mint }: Holder): bigint {
  const changes =
    mint === null
      ? lamports.filter(({ account }) => account === owner)
      : tokens.filter((each) => each.owner === owner && each.mint === mint);
  return changes.reduce((sum, { change }) => sum + change, 0n);
}
