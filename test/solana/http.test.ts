/** The same ledger over a real socket, with the `fetch` of Node. */
import { expect, test } from "vitest";
import { LedgerUnavailable } from "../../src/ledger/ledger.ts";
import { chainFixture, signPayment } from "../kit/chain-fixture.ts";

test("H20: a payment goes over HTTP, and an endpoint that is gone is LedgerUnavailable without its key", async () => {
  const fixture = await chainFixture();
  const listener = await fixture.chain.listen({ port: 0, host: "127.0.0.1" });
  const ledger = fixture.ledgerOf([`${listener.url}/?api-key=k3y`]);
  const alice = fixture.wallet("alice", { lamports: 1_000_000_000n, usdc: 5n });
  const transfers = [{ recipient: fixture.wallet("bob").address, amount: 5n }];
  const payment = { sender: alice.address, mint: fixture.mints.USDC, decimals: 6, transfers };
  const { bytes } = await ledger.buildPayment(payment, new Uint8Array(32));
  const answer = await ledger.verifyPayment(signPayment(bytes, alice.secretKey), payment);
  if ("refused" in answer) throw new Error(answer.refused);
  expect(await ledger.simulatePayment(answer.verified, payment)).toBeNull();
  await ledger.broadcast(answer.verified.bytes);
  expect(await ledger.statuses([answer.verified.signature])).toMatchObject([{ commitment: "processed" }]);
  expect(await ledger.balances(alice.address)).toMatchObject({ endpoint: "127.0.0.1" });

  await listener.close();
  let error: unknown;
  const asked = ledger.balances(alice.address).catch((reason: unknown) => (error = reason));
  while (error === undefined) {
    await new Promise((resolve) => setImmediate(resolve));
    fixture.clock.advance(10);
  }
  await asked;
  expect(error).toBeInstanceOf(LedgerUnavailable);
  expect((error as Error).message).toContain("127.0.0.1");
  expect((error as Error).message).not.toContain("k3y");
  await fixture.close();
});
