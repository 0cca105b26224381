/** Simulates a plan's transaction: what would fail on the chain fails here, without a fee. */
import type { TransactionFault, TransactionPlan, UnsignedTransaction } from "../../ledger/routing.ts";
import { joinTransaction } from "../../ledger/wire-format.ts";
import type { Nodes } from "../ask.ts";
import { simulate } from "../simulation.ts";
import { explain } from "./explain-error.ts";
import { settleDoubt } from "./settle-doubt.ts";

/** See `RoutingLedger.tryTransaction`. */
export async function tryTransaction(
  nodes: Nodes,
  plan: TransactionPlan,
  { message, signers }: UnsignedTransaction,
): Promise<TransactionFault | null> {
  const blank = signers.map(() => null);
  const { err } = await simulate(nodes, joinTransaction(message, blank), false);
  if (err === null) return null;
  const explained = explain(plan, err);
  const verdict = "doubt" in explained ? await settleDoubt(nodes, plan, explained) : explained;
  return { ...verdict, error: JSON.stringify(err) };
}
