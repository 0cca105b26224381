/** A private payment, with the service killed while the money is on its way. */
// modules: private
import assert from "node:assert/strict";
import { unitsIn } from "../amounts.ts";
import { showUsdcOfBoth } from "../balances.ts";
import { addressesIn } from "../explorer.ts";
import { followToCompletion } from "../follow.ts";
import { COMPLETED, showNotices } from "../notices.ts";
import { deposit, quoteAndPost } from "../private-mode.ts";
import { qrCode } from "../qr-code.ts";
import { note, ok, step, title } from "../screen.ts";
import type { Stage } from "../stage.ts";

const AMOUNT = "25";

export async function payPrivately(stage: Stage): Promise<void> {
  const { chain, client, receiver } = stage;
  const { alice, bob } = chain;
  title(
    `Alice pays Bob ${AMOUNT} USDC privately, and the service is killed (SIGKILL) with her money on its way`,
  );
  note("her deposit goes to an address made for this payment, and the service pays Bob from there");
  const before = await showUsdcOfBoth("before", client, chain);
  const { quote, order } = await quoteAndPost(stage, {
    type: "send",
    recipients: [{ address: bob.address, amount: AMOUNT }],
  });
  note("a wallet that makes token accounts for others pays this with one scan (Solana Pay):");
  step("uri", order.paymentUri);
  for (const line of qrCode(order.paymentUri)) step("", line);
  await deposit(stage, order);
  const depositedAt = performance.now();
  await stage.killAndRestartService();
  const { signature } = await followToCompletion(client, order.transactionId);
  const seconds = ((performance.now() - depositedAt) / 1_000).toFixed(1);

  const after = await showUsdcOfBoth("after", client, chain);
  assert(after.bob - before.bob === unitsIn(AMOUNT), "Bob was not paid exactly once");
  assert(before.alice - after.alice === unitsIn(quote.inputAmount), "Alice did not pay exactly once");
  ok(`Bob got exactly ${AMOUNT} USDC, once, ${seconds} s after the deposit: two finalities and a restart`);
  assert(!(await addressesIn(chain, signature)).includes(alice.address), "the payment to Bob names Alice");
  ok("the transaction that paid Bob does not name Alice");
  note("(amounts are public, and whoever runs the service knows who paid whom)");
  note(
    "(the fee is paid with it; the small account that it made first stays, so that nothing pays Bob again)",
  );
  await showNotices(receiver, order.transactionId, COMPLETED);
}
