/** What the owner of a private order sees of its money: what came, what is missing, who is paid, what is held. */
// modules: private
import { expect } from "vitest";
import type { TransactionBody } from "../../../src/payments/frame/transactions/transaction-schema.ts";
import { BY } from "../../kit/by.ts";
import { MINUTE, orderedAs, SOL } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";

const counted = ({ received = [] }: TransactionBody): unknown =>
  received.map((each) => [each.asset, each.amount, each.counted]);

test("an underpaid order shows what came and what is still missing, to the last unit", async ({ open }) => {
  const world = await open();
  const order = await world.sendTo();
  await world.deposit(order.address, { usdc: order.due - 1n });
  const short = await world.shown(order);
  expect(short).toMatchObject({ status: "pending", remainingAmount: "0.000001" });
  expect(short.received).toMatchObject([{ asset: "USDC", mint: world.mints.USDC, counted: true }]);
  await world.deposit(order.address, { usdc: 3_000_001n });
  const paid = await world.shown(order);
  expect(paid.remainingAmount).toBe("0");
  expect(paid.received).toHaveLength(2);
  await world.settle(10);
  await world.judge();
});

test("money of another asset is shown and does not count; what comes late is shown and does not count", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await world.deposit(order.address, { usdt: 7_000_000n });
  await world.settle(4);
  const other = await world.shown(order);
  expect(counted(other)).toEqual([["USDT", "7", false]]);
  expect(other.remainingAmount).toBe(other.depositAmount);
  await world.passAndSettle(31 * MINUTE, 8);
  expect(await world.shown(order)).toMatchObject({ status: "failed", remainingAmount: other.depositAmount });
  await world.deposit(order.address, { usdc: order.due });
  await world.passAndSettle(11 * MINUTE, 8);
  const late = await world.shown(order);
  expect(counted(late)).toEqual([
    ["USDT", "7", false],
    ["USDC", other.depositAmount, false],
  ]);
  expect(late).toMatchObject({ status: "failed", remainingAmount: other.depositAmount });
  await world.judge();
});

test("a cancelled order counts nothing that comes after", async ({ open }) => {
  const world = await open();
  const order = await world.sendTo();
  await world.service.cancelTransaction(world.customer, order.id);
  expect((await world.shown(order)).recipients).toMatchObject([{ status: "unpaid", signature: null }]);
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(8);
  const shown = await world.shown(order);
  expect(shown).toMatchObject({ status: "cancelled", remainingAmount: shown.depositAmount });
  expect(counted(shown)).toEqual([["USDC", shown.depositAmount, false]]);
  await world.judge();
});

test("each recipient of a payroll goes from pending to paid, and who cannot be paid ends as unpaid", async ({
  open,
}) => {
  const world = await open();
  const carol = world.wallet("carol", { usdc: 1n });
  const to = [world.bob, carol].map(({ address }) => ({ address, amount: "2" }));
  const order = orderedAs((await world.order(world.customer, { sender: world.alice, to })).body);
  const seen: unknown[] = [];
  const look = async (): Promise<void> => {
    const { status, recipients } = await world.shown(order);
    const now = [status, ...recipients.map((each) => each.status)];
    if (JSON.stringify(seen.at(-1)) !== JSON.stringify(now)) seen.push(now);
  };
  await look();
  await world.freeze(carol, "USDC");
  await world.deposit(order.address, { usdc: order.due });
  for (let round = 0; round < 60; round++) {
    await look();
    world.chain.advance(round % 3 === 0 ? 2 : 12);
    await world.service.settled();
  }
  await world.settle(10);
  await look();
  const words = seen.map((each) => (each as string[]).join(" "));
  expect(words[0]).toBe("pending pending pending");
  expect(words).toContain("processing pending pending");
  expect(words.at(-1)).toBe("failed paid unpaid");
  // No word goes back.
  const rank = ["pending", "confirmed", "paid", "unpaid"];
  for (const place of [1, 2]) {
    const ranks = seen.map((each) => rank.indexOf((each as string[])[place] ?? ""));
    expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
  }
  await world.judge();
});

test("held money is said to its owner without the reason, until the operator lets it go", async ({
  open,
}) => {
  const refused = new Set<string>();
  const world = await open({}, { screen: async (address) => (refused.has(address) ? "refused" : "ok") });
  const order = await world.sendTo();
  expect(await world.shown(order)).toMatchObject({ attention: null, attentionMessage: null });
  await world.service.cancelTransaction(world.customer, order.id);
  const mallory = world.wallet("mallory", { lamports: 2n * SOL });
  refused.add(mallory.address);
  await world.pay(mallory, order.address, SOL);
  await world.passAndSettle(MINUTE, 6);
  const held = await world.shown(order);
  expect(held).toMatchObject({ status: "cancelled", attention: "held" });
  expect(held.attentionMessage).toMatch(/held until the operator/);
  expect(JSON.stringify(held)).not.toContain("screening");
  await world.service.operator.resolve(`held:${order.id}`, { action: "release" }, BY);
  await world.settle(8);
  expect(await world.shown(order)).toMatchObject({ attention: null, refunds: [{ status: "paid" }] });
  await world.passAndSettle(11 * MINUTE, 6);
  await world.judge();
});

test("C78: a page of orders that got thousands of deposits ends earlier, and the next one goes on", async ({
  open,
}) => {
  const world = await open();
  for (const { id } of [await world.sendTo(), await world.sendTo()]) {
    const came = Array.from({ length: 1_500 }, (_, n) => ({
      id: `${id}:${n}`,
      order: id,
      mint: world.mints.USDC,
      amount: 1_000n,
      payer: null,
      signature: `${n}`,
      slot: n,
      at: n,
      decimals: null,
      account: null,
      leftAt: null,
    }));
    await world.storage.commit([{ writes: came.map((insert) => ({ table: "deposits" as const, insert })) }]);
  }
  const first = await world.service.listTransactions(world.customer);
  expect([first.data.length, first.hasMore]).toEqual([1, true]);
  const startingAfter = first.data[0]?.transactionId ?? "";
  const next = await world.service.listTransactions(world.customer, { startingAfter });
  expect([next.data.length, next.hasMore]).toEqual([1, false]);
});
