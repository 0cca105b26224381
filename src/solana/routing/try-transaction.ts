/** Simulates a plan's transaction: what would fail on the chain fails here, without a fee. */
import { VersionedMessage, VersionedTransaction } from "@solana/web3.js";
import type { TransactionFault, TransactionPlan, UnsignedTransaction } from "../../ledger/routing.ts";
import { askUntil, type Nodes } from "../ask.ts";
import { explain } from "./explain-error.ts";
import { settleDoubt } from "./settle-doubt.ts";

/**
 * See `RoutingLedger.tryTransaction`. A node that does not know the blockhash may only lag, so the next one is asked.
 */
export async function tryTransaction(
  nodes: Nodes,
  plan: TransactionPlan,
  { message }: UnsignedTransaction,
): Promise<TransactionFault | null> {
  const transaction = new VersionedTransaction(VersionedMessage.deserialize(message));
  const err = await askUntil(
    nodes,
    (error) => error !== "BlockhashNotFound",
    async (connection): Promise<unknown> => {
      const { value } = await connection.simulateTransaction(transaction, {
        commitment: "confirmed",
        sigVerify: false,
        replaceRecentBlockhash: false,
      });
      return value.err;
    },
  );
  if (err === null) return null;
  const explained = explain(plan, err);
  const verdict = "doubt" in explained ? await settleDoubt(nodes, plan, explained) : explained;
  return { ...verdict, error: JSON.stringify(err) };
}
