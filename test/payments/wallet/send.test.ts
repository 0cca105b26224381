/** A send in wallet mode, from the quote to finality, on a real Solana runtime. */
import { expect } from "vitest";
import { serviceTest as test } from "../../kit/service-test.ts";

test("W19: a send is pending, confirmed and completed, each told once and in order", async ({ world }) => {
  const { service, chain, wallet } = world;
  const caller = await world.caller();
  const alice = wallet("alice", { lamports: 1_000_000_000n, usdc: 50_000_000n });
  const bob = wallet("bob");
  const told: string[] = []; // modules: webhooks
  // modules: webhooks
  service.subscribe({ accountId: caller.accountId }, ({ event, data }) =>
    told.push(`${event} ${data.status}`),
  );

  const created = await world.send(caller, { from: alice, to: bob.address, amount: "12.5" });
  expect(created).toMatchObject({ status: "pending", mode: "wallet" });
  await service.settled();
  expect((await service.transaction(caller, created.transactionId)).status).toBe("pending");
  chain.advance(2);
  await service.settled();
  expect((await service.transaction(caller, created.transactionId)).status).toBe("confirmed");
  chain.advance(40);
  await service.settled();

  const done = await service.transaction(caller, created.transactionId);
  expect(done).toMatchObject({ status: "completed", signature: created.signature, reason: null });
  expect(done.blockTime).toBeTypeOf("number");
  expect(done.fee).toBe("0.000005091");
  expect(done.recipients).toEqual([
    { address: bob.address, amount: "12.5", status: "paid", signature: created.signature },
  ]);
  // modules: webhooks
  expect(told).toEqual([
    "transaction.pending pending",
    "transaction.confirmed confirmed",
    "transaction.completed completed",
  ]);
  const { tokens } = await service.balances(bob.address);
  expect(tokens).toEqual([{ mint: world.mints.USDC, symbol: "USDC", balance: "12.5", decimals: 6 }]);
});

test("a payroll that fits one signed transaction pays every recipient its own amount, or nobody", async ({
  world,
}) => {
  const { service, wallet, sign } = world;
  const caller = await world.caller();
  const alice = wallet("alice", { lamports: 1_000_000_000n, usdc: 50_000_000n });
  const recipients = ["bob", "carol", "dave"].map((name, index) => ({
    address: wallet(name).address,
    amount: `${index + 1}.5`,
  }));
  const assets = { inputAsset: "USDC", outputAsset: "USDC" };
  const request = { ...assets, amount: "7.5", sender: alice.address, recipients };
  const { body: quote } = await service.createQuote(caller, request);
  const { body: created } = await service.createTransaction(caller, {
    type: "payroll",
    quoteId: quote.quoteId,
    sender: alice.address,
    recipients,
    signedTransaction: sign(quote.transaction ?? "", alice),
  });
  await world.finalize();
  const { status, recipients: shown, signature } = await service.transaction(caller, created.transactionId);
  expect(status).toBe("completed");
  expect(shown).toEqual(recipients.map((share) => ({ ...share, status: "paid", signature })));
  for (const { address, amount } of recipients) {
    expect((await service.balances(address)).tokens).toMatchObject([{ symbol: "USDC", balance: amount }]);
  }
});
