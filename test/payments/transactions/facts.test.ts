/** What every answer and notice says a transaction is about: who pays what, and by which quote. */
import { expect } from "vitest";
import type { TransactionsQuery } from "../../../src/payments/frame/requests.ts";
import type { TransactionFacts } from "../../../src/payments/frame/notices/notice-body.ts";
import { swapTest } from "../../kit/swap-test.ts";
import { expectRefusal } from "../wallet/wallet-world.ts";
import { webhookTest } from "../webhooks/webhook-test.ts";

// modules: webhooks
webhookTest(
  "Q2: an order in SOL and one in USDC of the same amount differ in every answer, list, event and notice",
  async ({ fixture, customer, register, posts }) => {
    const { service, mints } = fixture;
    await register();
    const alice = fixture.wallet("alice", { lamports: 5_000_000_000n, usdc: 50_000_000n });
    const { address: to } = fixture.wallet("bob");
    for (const [asset, mint] of [
      ["SOL", null],
      ["USDC", mints.USDC],
    ] as const) {
      const { quote, body } = await fixture.prepareSend(customer, { from: alice, to, amount: "1", asset });
      const facts: TransactionFacts = {
        sender: alice.address,
        quoteId: quote.quoteId,
        inputAsset: asset,
        inputMint: mint,
        inputAmount: "1",
        outputAsset: asset,
        outputMint: mint,
        outputAmount: "1",
      };
      const request = { ...body, recipients: [...body.recipients] };
      const { body: created } = await service.createTransaction(customer, request);
      expect(created).toMatchObject(facts);
      expect((await service.createTransaction(customer, request)).body).toEqual(created);
      await fixture.finalize();
      const { transactionId } = created;
      expect(await service.transaction(customer, transactionId)).toMatchObject(facts);
      const { data: listed } = await service.listTransactions(customer);
      expect(listed.find((each) => each.transactionId === transactionId)).toMatchObject(facts);
      const told = [{ data: facts }, { data: facts }, { data: facts }];
      expect((await service.transactionEvents(customer, transactionId)).data).toMatchObject(told);
      expect((await service.events(customer, { limit: 3 })).data).toMatchObject(told);
      const notices = posts().map(({ body: sent }) => JSON.parse(sent.toString("utf8")) as object);
      expect(notices.slice(-3)).toMatchObject(told);
    }
  },
);

// modules: private
swapTest("Q2: a private swap names both sides, and its fee is part of what is given", async ({ world }) => {
  const caller = await world.caller();
  const sender = world.wallet("alice", { lamports: 2_000_000n });
  const { quote, body } = await world.orderSwap(caller, { sender, give: "SOL", get: "USDC", amount: "2" });
  const facts: TransactionFacts = {
    sender: sender.address,
    quoteId: quote.quoteId,
    inputAsset: "SOL",
    inputMint: null,
    inputAmount: "2",
    outputAsset: "USDC",
    outputMint: world.mints.USDC,
    outputAmount: quote.outputAmount,
  };
  expect(body).toMatchObject({ ...facts, depositAmount: "2" });
  expect(await world.service.transaction(caller, body.transactionId)).toMatchObject(facts);
  const to = [{ address: world.wallet("bob").address, amount: "5" }];
  const order = await world.order(caller, { sender, to });
  expect(order.body.inputAmount).toBe(order.quote.inputAmount);
  expect(order.body).toMatchObject({ depositAmount: order.body.inputAmount, outputAmount: "5" });
});

swapTest(
  "Q2: a payment that names another asset than its quote is refused, and the quote stays good",
  async ({ world }) => {
    const { service, mints } = world;
    const caller = await world.caller();
    const from = world.wallet("alice", { lamports: 2_000_000_000n, usdc: 2_000_000n });
    const { address: to } = world.wallet("bob", { lamports: 2_000_000n });
    const { quote, body } = await world.prepareSend(caller, { from, to, amount: "1" });
    const post = (assets: object) =>
      service.createTransaction(caller, { ...body, recipients: [...body.recipients], ...assets });
    for (const assets of [
      { inputAsset: "SOL" },
      { outputAsset: "SOL" },
      { inputAsset: "USDC", outputAsset: "USDT" },
      { inputAsset: mints.USDT },
      { inputAsset: "usdc" },
      { outputAsset: "no asset" },
    ]) {
      const { quoteId } = quote;
      await expectRefusal(post(assets), "INVALID_QUOTE", { quoteId, reason: "asset_mismatch" });
    }
    const { body: created } = await post({ inputAsset: "USDC", outputAsset: mints.USDC });
    expect(created).toMatchObject({ status: "pending", outputAsset: "USDC" });
  },
);

// modules: private
swapTest("Q2: a list is filtered by either asset, by the sender and by the quote", async ({ world }) => {
  const { service, mints } = world;
  const caller = await world.caller();
  const alice = world.wallet("alice", { lamports: 2_000_000n });
  const bob = world.wallet("bob", { lamports: 2_000_000_000n, usdc: 5_000_000n });
  const swap = await world.orderSwap(caller, { sender: alice, give: "SOL", get: "USDC", amount: "2" });
  world.clock.advance(1_000);
  const send = await world.prepareSend(caller, { from: bob, to: alice.address, amount: "1" });
  const sent = await service.createTransaction(caller, {
    ...send.body,
    recipients: [...send.body.recipients],
    reference: "order-7",
  });
  const { transactionId: ofSwap } = swap.body;
  const { transactionId: ofSend } = sent.body;
  const listed = async (query: TransactionsQuery, who = caller): Promise<readonly string[]> =>
    (await service.listTransactions(who, query)).data.map(({ transactionId }) => transactionId);
  expect(await listed({ asset: "SOL" })).toEqual([ofSwap]);
  expect(await listed({ asset: "USDC" })).toEqual([ofSend, ofSwap]);
  expect(await listed({ asset: mints.USDC, mode: "private" })).toEqual([ofSwap]);
  expect(await listed({ asset: mints.USDT })).toEqual([]);
  expect(await listed({ sender: alice.address })).toEqual([ofSwap]);
  expect(await listed({ sender: bob.address, reference: "order-7" })).toEqual([ofSend]);
  expect(await listed({ sender: alice.address, reference: "order-7" })).toEqual([]);
  expect(await listed({ sender: mints.USDC })).toEqual([]);
  const { quoteId } = send.quote;
  expect(await listed({ quoteId })).toEqual([ofSend]);
  expect(await listed({ quoteId, sender: alice.address })).toEqual([]);
  expect(await listed({ quoteId, asset: "SOL" })).toEqual([]);
  expect(await listed({ quoteId, recipient: alice.address })).toEqual([ofSend]);
  expect(await listed({ quoteId, recipient: bob.address })).toEqual([]);
  expect(await listed({ quoteId: swap.quote.quoteId, recipient: alice.address })).toEqual([ofSwap]);
  expect(await listed({ quoteId, startingAfter: ofSend })).toEqual([]);
  const { createdAt } = await service.transaction(caller, ofSend);
  expect(await listed({ quoteId, createdAfter: createdAt })).toEqual([ofSend]);
  expect(await listed({ quoteId, createdBefore: createdAt })).toEqual([]);
  expect(await listed({ quoteId: "quote_0" })).toEqual([]);
  expect(await listed({ quoteId }, await world.caller())).toEqual([]);
  const { body: unused } = await service.createQuote(caller, {
    inputAsset: "USDC",
    outputAsset: "USDC",
    amount: "1",
  });
  expect(await listed({ quoteId: unused.quoteId })).toEqual([]);
  await expectRefusal(listed({ asset: "usdc" }), "INVALID_ASSET", { asset: "usdc" });
});
