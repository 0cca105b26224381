/** A payment from quote to finality, then another whose service is killed right after it was taken. */
import assert from "node:assert/strict";
import { unitsIn } from "../amounts.ts";
import { showUsdcOfBoth, type UsdcOfBoth } from "../balances.ts";
import { followToCompletion } from "../follow.ts";
import { COMPLETED, showNotices } from "../notices.ts";
import { ok, title } from "../screen.ts";
import type { Stage } from "../stage.ts";
import { quoteSignPost } from "../wallet-mode.ts";

const AMOUNT = "12.5";

export async function send(stage: Stage): Promise<void> {
  const { chain, client } = stage;
  title(`Alice sends Bob ${AMOUNT} USDC`);
  const before = await showUsdcOfBoth("before", client, chain);
  const first = await payBob(stage);
  await followToCompletion(client, first);
  await showEnd(stage, first, before);

  title("Again, and the service is killed (SIGKILL) right after it took the payment");
  const beforeKill = await showUsdcOfBoth("before", client, chain);
  const second = await payBob(stage);
  await stage.killAndRestartService();
  await followToCompletion(client, second);
  await showEnd(stage, second, beforeKill);
}

async function payBob({ chain, client }: Stage): Promise<string> {
  const recipients = [{ address: chain.bob.address, amount: AMOUNT }];
  const { transactionId } = await quoteSignPost(client, chain.alice, {
    request: { inputAsset: "USDC", outputAsset: "USDC", amount: AMOUNT, recipients },
    payment: () => ({ type: "send", recipients }),
  });
  return transactionId;
}

/** Compares what the chain and the receiver know with what was asked for. */
async function showEnd(
  { chain, client, receiver }: Stage,
  transactionId: string,
  before: UsdcOfBoth,
): Promise<void> {
  const after = await showUsdcOfBoth("after", client, chain);
  const paid = unitsIn(AMOUNT);
  assert(after.bob - before.bob === paid, "Bob was not paid exactly once");
  assert(before.alice - after.alice === paid, "Alice did not pay exactly once");
  ok("Alice paid once, Bob was paid once");
  await showNotices(receiver, transactionId, COMPLETED);
}
