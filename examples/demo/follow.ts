/** Watching a transaction from outside, by asking for it again and again. */
import assert from "node:assert/strict";
import type { TransactionBody } from "paystate";
import type { Client } from "./client.ts";
import { step } from "./screen.ts";
import { until } from "./until.ts";

const ENDS = new Set(["completed", "failed", "cancelled"]);

/** Shows each new status until the last, and resolves with the transaction as it ended. `look` sees it every time. */
export async function followToEnd(
  client: Client,
  transactionId: string,
  look: (transaction: TransactionBody) => void = () => {},
): Promise<TransactionBody> {
  let shown = "pending";
  return until(`the end of ${transactionId}`, async () => {
    const transaction = await client.transaction(transactionId);
    const { status } = transaction;
    if (status !== shown) step("status", `${shown} → ${status}`);
    shown = status;
    look(transaction);
    return ENDS.has(status) ? transaction : undefined;
  });
}

/** Follows a transaction that is to be completed, shows where it is on the chain, and resolves with what it ended as. */
export async function followToCompletion(
  client: Client,
  transactionId: string,
): Promise<TransactionBody & { readonly signature: string }> {
  const ended = await followToEnd(client, transactionId);
  const { status, reason, signature } = ended;
  assert(status === "completed" && signature !== null, `the transaction ${status}: ${String(reason)}`);
  step("on chain", signature);
  return { ...ended, signature };
}
