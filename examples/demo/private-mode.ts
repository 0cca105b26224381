/** Private mode from a caller's side: ask for a quote, post it, and send the deposit to the address that comes back. */
// modules: private
import assert from "node:assert/strict";
import type { CreatedTransactionBody, QuoteBody, TransactionRequest } from "paystate";
import { decimalOf, sum, unitsIn } from "./amounts.ts";
import { money, step } from "./screen.ts";
import type { Stage } from "./stage.ts";
import { sendUsdc } from "./wallet.ts";

type PrivateOrder = Extract<CreatedTransactionBody, { mode: "private" }>;

/** Orders that Alice's USDC be paid out privately. */
export async function quoteAndPost(
  { chain, client }: Stage,
  { type, recipients }: Pick<TransactionRequest, "type" | "recipients">,
): Promise<{ readonly quote: QuoteBody; readonly order: PrivateOrder }> {
  const quote = await client.quote({
    inputAsset: "USDC",
    outputAsset: "USDC",
    amount: decimalOf(sum(recipients.map(({ amount }) => unitsIn(amount)))),
    mode: "private",
    recipients,
  });
  const { inputAmount, fee, fees } = quote;
  step("quote", `${quote.quoteId}, to deposit ${money(`${inputAmount} USDC`)}`);
  step("", `of which fee ${fee} USDC: network ${fees.network}, routing ${fees.routing}, rent ${fees.rent}`);
  const order = await client.create({
    type,
    mode: "private",
    quoteId: quote.quoteId,
    recipients,
    sender: chain.alice.address,
  });
  assert(order.mode === "private", "the service took it for a wallet transaction");
  step("post", order.transactionId);
  step("address", `${order.ephemeralAddress}, made for this order alone`);
  step("status", order.status);
  return { quote, order };
}

/** Sends the deposit from Alice's wallet; the service has no part in that. */
export async function deposit({ chain }: Stage, order: PrivateOrder): Promise<void> {
  const { depositAmount, depositAsset, ephemeralAddress } = order;
  const signature = await sendUsdc(chain, chain.alice, {
    to: ephemeralAddress,
    amount: unitsIn(depositAmount),
  });
  step("deposit", `Alice's wallet sends ${depositAmount} ${depositAsset} there`);
  step("on chain", signature);
}
