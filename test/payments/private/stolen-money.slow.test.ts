/** Somebody else has the key of an order's address: what is gone is told as missing, and a person ends it. */
// modules: private
import { expect } from "vitest";
import { BY } from "../../kit/by.ts";
import { listsOutside, lyingNode, type LyingNode } from "./lying-nodes.ts";
import { MINUTE, SOL, type Ordered, type Scene } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";
import { spendElsewhere } from "./spend-elsewhere.ts";
import { thief } from "./thieves.ts";

const robbed = (order: Ordered) => ({
  ...order,
  words: { asset: "USDC" as const, payees: [], sender: "open" as const },
  stolen: { SOL: 0n, USDC: 0n, USDT: 0n },
  forged: new Map<number, number>(),
});

/** The kinds of what waits for a person about it. */
async function mattersOf(world: Scene, { id }: Ordered): Promise<readonly string[]> {
  const matters = await world.service.operator.attention();
  return matters.filter(({ transactionId }) => transactionId === id).map(({ kind }) => kind);
}

test("C12, R11: what a thief takes of a deposit is told as missing within two looks, nobody is paid of it, and conclude ends it and frees what the order reserved", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await world.deposit(order.address, { usdc: order.due - 1n });
  // The level has seen it.
  await world.pass(MINUTE);
  await thief(world).act(robbed(order), { order: 0, does: "sweep", asset: 0, part: 2 });
  // Two looks: one when the amount changes, one as any order with money takes it now and then.
  world.chain.advance(35);
  await world.pass(MINUTE);
  world.chain.advance(35);
  for (let polled = 0; polled <= 30; polled++) await world.service.settled();
  expect(await mattersOf(world, order)).toEqual(["missing"]);
  expect((await world.service.reconcile()).findings).toMatchObject([
    { transactionId: order.id, findings: [{ finding: "missing", asset: "USDC" }] },
  ]);
  await world.passAndSettle(31 * MINUTE, 4);
  const [, before] = await world.held(world.alice.address);
  await world.service.operator.resolve(order.id, { action: "conclude" }, BY);
  for (let look = 0; look < 2; look++) await world.passAndSettle(11 * MINUTE, 4);
  expect(await mattersOf(world, order)).toEqual([]);
  expect(await world.storage.reservations(`sponsor ${world.sponsor.address}`)).toEqual([]);
  expect(await world.service.reconcile()).toMatchObject({ isExplained: true });
  expect((await world.held(world.bob.address))[1]).toBe(0n);
  expect((await world.held(world.alice.address))[1]).toBeGreaterThanOrEqual(before);
});

test("C28: a thief who buys the marker of the order himself pays nobody: recipients are unpaid, and nothing says completed", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await thief(world).act(robbed(order), { order: 0, does: "forge", chunk: 0, length: 0 });
  world.chain.advance(35);
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(8);
  for (let look = 0; look < 3; look++) await world.passAndSettle(11 * MINUTE, 6);
  expect(await world.shown(order)).toMatchObject({
    status: "failed",
    reason: "PAYOUT_FAILED",
    recipients: [{ status: "unpaid" }],
  });
  expect((await world.held(world.bob.address))[1]).toBe(0n);
  expect((await world.held(world.alice.address))[1]).toBeGreaterThan(order.due - 500_000n);
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
});

test("C45: a loan of which one lamport was stolen is missing", async ({ open }) => {
  const world = await open();
  const order = await world.sendTo({ asset: "SOL", amount: "0.5" });
  await world.deposit(order.address, { lamports: order.due });
  await world.service.settled();
  world.chain.advance(1);
  await world.service.settled();
  await spendElsewhere(world, order, { amount: 1n });
  for (let look = 0; look < 4; look++) await world.passAndSettle(11 * MINUTE, 2);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect(await mattersOf(world, order)).toEqual(["missing"]);
  expect((await world.held(world.bob.address))[0]).toBe(SOL + SOL / 2n);
});

test("C50: after conclude a late deposit goes back whole, and a later theft is missing again", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await world.service.cancelTransaction(world.customer, order.id);
  await world.deposit(order.address, { usdc: 900n });
  await thief(world).act(robbed(order), { order: 0, does: "sweep", asset: 0, part: 1 });
  for (let look = 0; look < 6; look++) await world.passAndSettle(MINUTE, 2);
  await world.service.reconcile();
  expect(await mattersOf(world, order)).toEqual(["missing"]);
  await world.service.operator.resolve(order.id, { action: "conclude" }, BY);
  const [, before] = await world.held(world.alice.address);
  await world.deposit(order.address, { usdc: 4_000_000n });
  for (let look = 0; look < 2; look++) await world.passAndSettle(11 * MINUTE, 6);
  expect((await world.held(world.alice.address))[1]).toBeGreaterThan(before + 3_500_000n);
  expect(await mattersOf(world, order)).toEqual([]);
  await world.deposit(order.address, { usdc: 900n });
  await thief(world).act(robbed(order), { order: 0, does: "sweep", asset: 0, part: 1 });
  for (let look = 0; look < 6; look++) await world.passAndSettle(MINUTE, 2);
  await world.service.reconcile();
  expect(await mattersOf(world, order)).toEqual(["missing"]);
});

test("C60: late money after conclude, which nodes list later than they show it, goes back, and nothing is missing", async ({
  open,
}) => {
  const nodes: LyingNode[] = [];
  const world = await open({}, {}, ({ chain, ledgerOf }) => {
    nodes.push(lyingNode(chain, "node"));
    return ledgerOf(nodes.map(({ endpoint }) => endpoint));
  });
  const order = await world.sendTo();
  await world.service.cancelTransaction(world.customer, order.id);
  await world.deposit(order.address, { usdc: 900n });
  await thief(world).act(robbed(order), { order: 0, does: "sweep", asset: 0, part: 1 });
  for (let look = 0; look < 6; look++) await world.passAndSettle(MINUTE, 2);
  await world.service.reconcile();
  await world.service.operator.resolve(order.id, { action: "conclude" }, BY);
  const [, before] = await world.held(world.alice.address);
  const ends = nodes.map((node) => node.tell(listsOutside({ from: world.chain.slot(), to: Infinity })));
  await world.deposit(order.address, { usdc: 4_000_000n });
  await world.passAndSettle(10_000, 2);
  for (const end of ends) end();
  for (let look = 0; look < 3; look++) await world.passAndSettle(11 * MINUTE, 6);
  expect((await world.held(world.alice.address))[1]).toBeGreaterThan(before + 3_500_000n);
  const level = (await world.storage.orderedTransaction(order.id))?.order?.levels.find(
    ({ received }) => received > 0n,
  );
  expect(level).toMatchObject({ received: 4_000_900n, writtenOff: 900n, missing: 0n });
  expect(await mattersOf(world, order)).toEqual([]);
});

test("what somebody else has tried with the key and failed is nothing", async ({ open }) => {
  const world = await open();
  const order = await world.sendTo();
  // Its error is found when it runs: the address does not hold so many lamports.
  await spendElsewhere(world, order, { amount: 1_000_000n * SOL });
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(10);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect(await mattersOf(world, order)).toEqual([]);
  await world.judge();
});
