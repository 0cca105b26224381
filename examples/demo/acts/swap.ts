/** SOL for USDC in wallet mode: one transaction that Alice and the operator's desk both sign. */
import assert from "node:assert/strict";
import { SOL_DECIMALS, unitsIn } from "../amounts.ts";
import { holdingsOf, type Holdings } from "../balances.ts";
import { followToCompletion } from "../follow.ts";
import { COMPLETED, showNotices } from "../notices.ts";
import { money, note, ok, step, title } from "../screen.ts";
import type { Stage } from "../stage.ts";
import { quoteSignPost } from "../wallet-mode.ts";

const AMOUNT = "1";

export async function swap(stage: Stage): Promise<void> {
  const { chain, client, receiver } = stage;
  const { alice } = chain;
  title(`Alice swaps ${AMOUNT} SOL for USDC with the operator's desk`);
  note("one transaction moves both, or nothing: Alice signs it first, and the desk only what it quoted");
  const before = await showBoth(stage, "before");
  const { quote, transactionId } = await quoteSignPost(client, alice, {
    request: { inputAsset: "SOL", outputAsset: "USDC", amount: AMOUNT },
    payment: ({ outputAmount }) => ({
      type: "swap",
      recipients: [{ address: alice.address, amount: outputAmount }],
    }),
  });
  const { fee } = await followToCompletion(client, transactionId);

  const after = await showBoth(stage, "after");
  const given = unitsIn(quote.inputAmount, SOL_DECIMALS);
  const paidFee = unitsIn(fee ?? "0", SOL_DECIMALS);
  const got = unitsIn(quote.outputAmount);
  assert(
    lamports(before.alice) - lamports(after.alice) === given + paidFee,
    "Alice did not give what was quoted",
  );
  assert(unitsIn(after.alice.usdc) - unitsIn(before.alice.usdc) === got, "Alice did not get what was quoted");
  ok(`Alice gave exactly ${quote.inputAmount} SOL and the fee, and got exactly ${quote.outputAmount} USDC`);
  assert(lamports(after.desk) - lamports(before.desk) === given, "the desk did not get what was quoted");
  assert(
    unitsIn(before.desk.usdc) - unitsIn(after.desk.usdc) === got,
    "the desk did not give what was quoted",
  );
  ok("the desk got and gave the same");
  await showNotices(receiver, transactionId, COMPLETED);
}

/** What Alice and the desk own. */
interface Both {
  readonly alice: Holdings;
  readonly desk: Holdings;
}

async function showBoth({ chain, client }: Stage, when: string): Promise<Both> {
  const [alice, desk] = await Promise.all([
    holdingsOf(client, chain.alice.address),
    holdingsOf(client, chain.operator.desk.address),
  ]);
  step(when, `Alice has ${inWords(alice)}, the desk has ${inWords(desk)}`);
  return { alice, desk };
}

function inWords({ sol, usdc }: Holdings): string {
  return money(`${sol} SOL and ${usdc} USDC`);
}

function lamports({ sol }: Holdings): bigint {
  return unitsIn(sol, SOL_DECIMALS);
}
