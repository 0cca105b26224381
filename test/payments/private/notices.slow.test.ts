/** What a private order tells: the answer to GET at each of its stages, and its notices, each once and in order. */
// modules: private, webhooks
import { formatAmount } from "../../../src/core/amount.ts";
import { expect } from "vitest";
import { STATUS_EVENTS, type Notice } from "../../../src/payments/frame/notices/notice-body.ts";
import { units } from "../../kit/money.ts";
import { MINUTE, orderedAs, type Ordered, type Scene } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";

/** Everything the service says of statuses from now on. */
function listening(world: Scene): Notice[] {
  const heard: Notice[] = [];
  world.service.subscribe({ events: STATUS_EVENTS }, (notice) => void heard.push(notice));
  return heard;
}

const said = (heard: readonly Notice[], { id }: Ordered): Notice[] =>
  heard.filter(({ transactionId }) => transactionId === id);

test("GET shows a private send at every stage: pending, processing, confirmed, completed", async ({
  open,
}) => {
  const world = await open();
  const { quote, body } = await world.order(world.customer, {
    sender: world.alice,
    to: [{ address: world.bob.address, amount: "5" }],
  });
  const order = orderedAs(body);
  const always = {
    transactionId: order.id,
    type: "send",
    mode: "private",
    ephemeralAddress: order.address,
    depositAmount: quote.inputAmount,
    depositAsset: "USDC",
    depositMint: world.mints.USDC,
    depositExpiresAt: body.depositExpiresAt,
    createdAt: body.createdAt,
    cancelledAt: null,
    refunds: [],
    refundOf: null,
    refundedAmount: "0",
    refundedBy: [],
    unreturned: [],
    reason: null,
    reference: null,
    sender: world.alice.address,
    quoteId: quote.quoteId,
    inputAsset: "USDC",
    inputMint: world.mints.USDC,
    inputAmount: quote.inputAmount,
    outputAsset: "USDC",
    outputMint: world.mints.USDC,
    outputAmount: "5",
    attention: null,
    attentionMessage: null,
  };
  const bob = { address: world.bob.address, amount: "5" };
  const unpaid = [{ ...bob, status: "pending", signature: null }];
  const nothing = { signature: null, blockTime: null, fee: null, signatures: [], recipients: unpaid };
  const due = { received: [], remainingAmount: quote.inputAmount, paymentUri: body.paymentUri };
  expect(await world.shown(order)).toEqual({ ...always, ...nothing, ...due, status: "pending" });
  expect(Date.parse(body.depositExpiresAt) - Date.parse(body.createdAt)).toBe(30 * MINUTE);

  // A part of it changes nothing else that is shown.
  await world.deposit(order.address, { usdc: 2_000_000n });
  const came = (amount: bigint): object => ({
    asset: "USDC",
    mint: world.mints.USDC,
    amount: formatAmount(amount, 6),
    decimals: 6,
    payer: null,
    signature: expect.any(String) as string,
    counted: true,
  });
  const underWay = (amount: bigint): object => ({
    unreturned: [{ asset: "USDC", amount: formatAmount(amount, 6), reason: "under_way" }],
  });
  expect(await world.shown(order)).toEqual({
    ...always,
    ...nothing,
    ...underWay(2_000_000n),
    status: "pending",
    received: [came(2_000_000n)],
    remainingAmount: formatAmount(order.due - 2_000_000n, 6),
    paymentUri: body.paymentUri.replace(
      `amount=${quote.inputAmount}&`,
      `amount=${formatAmount(order.due - 2_000_000n, 6)}&`,
    ),
  });

  await world.deposit(order.address, { usdc: order.due - 2_000_000n });
  const processing = await world.shown(order);
  const all = {
    received: [came(2_000_000n), came(order.due - 2_000_000n)],
    remainingAmount: "0",
    paymentUri: null,
  };
  expect(processing).toEqual({
    ...always,
    ...nothing,
    ...all,
    ...underWay(order.due),
    status: "processing",
    signatures: [expect.any(String)],
  });
  world.chain.advance(2);
  await world.service.settled();
  const [signature] = processing.signatures;
  expect(await world.shown(order)).toEqual({
    ...always,
    ...nothing,
    ...all,
    ...underWay(order.due),
    status: "confirmed",
    signature,
    signatures: [signature],
    recipients: [{ ...bob, status: "confirmed", signature }],
  });
  await world.settle(10);
  expect(await world.shown(order)).toEqual({
    ...always,
    ...all,
    status: "completed",
    signature,
    signatures: [signature],
    blockTime: expect.any(Number) as number,
    fee: quote.fee,
    recipients: [{ ...bob, status: "paid", signature }],
  });
  await world.judge();
});

test("a completed send tells pending, confirmed, completed: each once, in order, with every field", async ({
  open,
}) => {
  const world = await open();
  const heard = listening(world);
  const order = await world.sendTo();
  await world.service.settled();
  expect(said(heard, order).map(({ event }) => event)).toEqual(["transaction.pending"]);
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(10);
  const recipients = [{ address: world.bob.address, amount: "5" }];
  const { signature, blockTime, fee } = await world.shown(order);
  const data = { transactionId: order.id, mode: "private", type: "send", recipients, reason: null };
  const unknown = { signature: null, blockTime: null, fee: null };
  expect(said(heard, order)).toMatchObject([
    { event: "transaction.pending", data: { ...data, ...unknown, status: "pending" } },
    { event: "transaction.confirmed", data: { ...data, status: "confirmed", signature } },
    { event: "transaction.completed", data: { ...data, status: "completed", signature, blockTime, fee } },
  ]);
  for (const notice of said(heard, order)) {
    expect(notice.data.recipients.every((share) => !("status" in share))).toBe(true);
  }
  await world.judge();
});

test("a payroll says of each recipient whether it was paid, so that a failed one is not taken for unpaid", async ({
  open,
}) => {
  const world = await open();
  const heard = listening(world);
  const payees = ["one", "two", "three"].map((name) =>
    world.wallet(name, { lamports: 1_000_000n, usdc: 1n }),
  );
  const { body } = await world.order(world.customer, {
    sender: world.alice,
    to: payees.map(({ address }) => ({ address, amount: "2" })),
  });
  const order = orderedAs(body);
  const [, frozen] = payees;
  if (frozen === undefined) throw new Error("there are three");
  await world.freeze(frozen, "USDC");
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(20);
  const notices = said(heard, order);
  expect(notices.map(({ event }) => event)).toEqual(["transaction.pending", "transaction.failed"]);
  expect(notices[0]?.data.recipients.map(({ status }) => status)).toEqual(["unpaid", "unpaid", "unpaid"]);
  expect(notices[1]?.data).toMatchObject({
    status: "failed",
    reason: "PARTIAL_PAYOUT",
    recipients: [{ status: "paid" }, { status: "unpaid" }, { status: "paid" }],
  });
  const shown = await world.shown(order);
  expect(shown.recipients.map(({ status, signature }) => [status, signature === null])).toEqual([
    ["paid", false],
    ["unpaid", true],
    ["paid", false],
  ]);
  // What was kept is the fee, though one was not paid; the rest has gone back.
  const refunded = units(shown.refunds[0]?.amount ?? "0", 6);
  expect(shown).toMatchObject({
    refunds: [{ asset: "USDC", status: "paid", signature: expect.any(String) as string }],
  });
  expect(order.due - 4_000_000n - refunded).toBe((await world.held(world.treasury.address))[1]);
  await world.judge();
});

test("nothing came: failed once, with DEPOSIT_TIMEOUT and no fee; cancelled: no notice after pending", async ({
  open,
}) => {
  const world = await open();
  const heard = listening(world);
  const idle = await world.sendTo();
  const cancelled = await world.sendTo();
  await world.service.cancelTransaction(world.customer, cancelled.id);
  await world.passAndSettle(31 * MINUTE);
  expect(said(heard, idle).map(({ event, data }) => [event, data.status, data.reason, data.fee])).toEqual([
    ["transaction.pending", "pending", null, null],
    ["transaction.failed", "failed", "DEPOSIT_TIMEOUT", "0"],
  ]);
  expect(said(heard, cancelled).map(({ event }) => event)).toEqual(["transaction.pending"]);
  const shown = await world.shown(cancelled);
  expect(shown).toMatchObject({ status: "cancelled", fee: "0" });
  expect(shown.cancelledAt).not.toBeNull();
  await world.judge();
});

test("a payroll seen final before it was seen confirmed tells both in one commit", async ({ open }) => {
  const world = await open();
  const heard = listening(world);
  const payees = ["one", "two"].map((name) => world.wallet(name, { lamports: 1_000_000n, usdc: 1n }));
  const { body } = await world.order(world.customer, {
    sender: world.alice,
    to: payees.map(({ address }) => ({ address, amount: "2" })),
  });
  const order = orderedAs(body);
  await world.deposit(order.address, { usdc: order.due });
  world.chain.advance(35);
  await world.settle(6);
  const notices = said(heard, order);
  expect(notices.map(({ event, data }) => [event, data.status])).toEqual([
    ["transaction.pending", "pending"],
    ["transaction.confirmed", "confirmed"],
    ["transaction.completed", "completed"],
  ]);
  expect(notices[1]?.timestamp).toBe(notices[2]?.timestamp);
  expect(notices[2]?.data.recipients.map(({ status }) => status)).toEqual(["paid", "paid"]);
  await world.judge();
});

test("an underpaid order in refund is processing, then failed with its refund pending and then paid", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await world.deposit(order.address, { usdc: 2_000_000n });
  await world.pass(31 * MINUTE);
  // First the chain refuses the order for good; then the money goes back.
  const seen = new Map<string, unknown>();
  for (let round = 0; round < 40; round++) {
    world.chain.advance(12);
    await world.service.settled();
    const { status, reason, refunds, unreturned } = await world.shown(order);
    seen.set([status, ...refunds.map((refund) => refund.status)].join(" "), { reason, refunds, unreturned });
  }
  const bare = new Set(["pending", "failed"]);
  expect([...seen.keys()].filter((each) => !bare.has(each))).toEqual([
    "processing",
    "failed pending",
    "failed paid",
  ]);
  const waits = {
    reason: "INCOMPLETE_DEPOSIT",
    refunds: [],
    unreturned: [{ amount: "2", reason: "under_way" }],
  };
  expect(seen.get("processing")).toMatchObject(waits);
  expect(seen.get("failed pending")).toMatchObject({
    refunds: [{ asset: "USDC", amount: "2" }],
    unreturned: [],
  });
  expect(await world.shown(order)).toMatchObject({ status: "failed", fee: "0", signatures: [] });
  await world.judge();
});
