/** Simulates a plan's transaction: what would fail on the chain fails here, without a fee. */
import type { Evidence } from "../../ledger/belief.ts";
import type { TransactionFault, TransactionPlan, UnsignedTransaction } from "../../ledger/routing.ts";
import { joinTransaction } from "../../ledger/wire-format.ts";
import { follows } from "../agree.ts";
import type { NodeContext } from "../ask.ts";
import { simulate } from "../simulation.ts";
import { explain } from "./explain-error.ts";
import { settleDoubt } from "./settle-doubt.ts";

/** See `RoutingLedger.tryTransaction`. */
export async function tryTransaction(
  nodes: NodeContext,
  plan: TransactionPlan,
  { message, signers }: UnsignedTransaction,
): Promise<Evidence<TransactionFault> | null> {
  const blank = signers.map(() => null);
  const failure = await simulate(nodes, joinTransaction(message, blank), false);
  if (failure === null) return null;
  const { err } = failure;
  const explained = explain(plan, err);
  const verdict = "doubt" in explained ? await settleDoubt(nodes, plan, explained) : explained;
  return follows(failure, () => ({ ...verdict, error: JSON.stringify(err) }));
}
