/** M32: a copy from before the payout, the markers swept, and nodes whose history begins after all of it. */
import { expect, onTestFinished, test } from "vitest";
import { BY } from "../../kit/by.ts";
import {
  beforeThePayout,
  forget,
  mattersOf,
  open,
  ordered,
  owned,
  served,
  shown,
  startOn,
} from "./restored-world.ts";
import { privateFixture } from "../../kit/private-fixture.ts";
import { memoryStorage } from "../../kit/storages.ts";
import { restore } from "./kept-copies.ts";
import { withoutHistoryBefore } from "./lying-nodes.ts";
import { spendElsewhere } from "./spend-elsewhere.ts";
import { Turning } from "./turning.ts";

const MINUTE = 60_000;
/** Each lives through two orders' worth of time. */

test("M32: without new money a restored order is told nothing, and is held as unexplained", async () => {
  const world = await open();
  const order = await served(world);
  forget(world, world.nodes);
  const restored = await startOn(world, order);
  await restored.pass(31 * MINUTE);
  await restored.pass(31 * MINUTE);
  expect(await shown(restored, world, order)).toMatchObject({ status: "pending", attention: "held" });
  expect(await mattersOf(restored)).toContain("unexplained");
  expect((await restored.service.health()).attention).toBeGreaterThan(0);
});

test("M32: new money at a restored address pays no recipient again, and is held as unexplained", async () => {
  const world = await open();
  const order = await served(world);
  forget(world, world.nodes);
  const paid = await owned(world, world.bob);
  world.chain.fund(order.address, { usdc: order.due });
  world.chain.advance(40);
  const restored = await startOn(world, order);
  await restored.pass(MINUTE);
  await restored.pass(31 * MINUTE);
  expect(await owned(world, world.bob)).toBe(paid);
  expect(await shown(restored, world, order)).toMatchObject({ attention: "held" });
  expect(await mattersOf(restored)).toContain("unexplained");
});

test("M32: a copy in which the deposit had come pays no recipient with new money, either", async () => {
  const world = await open();
  const order = await served(world);
  const paid = await owned(world, world.bob);
  forget(world, world.nodes);
  const restored = await startOn(world, { ...order, copy: beforeThePayout(world, order) });
  world.chain.fund(order.address, { usdc: order.due });
  await restored.pass(MINUTE);
  expect(await owned(world, world.bob)).toBe(paid);
  expect(await shown(restored, world, order)).toMatchObject({ status: "processing", attention: "held" });
});

test("M32: a restored order cannot be cancelled, since nothing shows that it was not paid", async () => {
  const world = await open();
  const order = await served(world);
  forget(world, world.nodes);
  const { service } = await startOn(world, order);
  await expect(service.cancelTransaction(world.customer, order.id)).rejects.toMatchObject({
    code: "ALREADY_PROCESSED",
  });
});

test("M32: nor can one whose window is still open, at an address that nothing has been held for yet", async () => {
  const world = await open();
  const order = await ordered(world);
  await world.service.stop();
  world.clock.advance(10 * MINUTE);
  world.chain.advance(40);
  forget(world, world.nodes);
  const restored = await startOn(world, order);
  expect(await restored.heldReason()).toBeNull();
  await expect(restored.service.cancelTransaction(world.customer, order.id)).rejects.toMatchObject({
    code: "ALREADY_PROCESSED",
  });
  expect(await restored.heldReason()).toBe("missing_history");
});

test("M32: an operator who releases a restored address vouches for it: the order ends, and what comes later goes back", async () => {
  const world = await open();
  const order = await served(world);
  forget(world, world.nodes);
  const restored = await startOn(world, order);
  await restored.pass(31 * MINUTE);
  expect(await restored.heldReason()).toBe("missing_history");
  await restored.service.operator.releaseDeposit(order.id, BY);
  await restored.pass(31 * MINUTE);
  expect(await shown(restored, world, order)).toMatchObject({
    status: "failed",
    reason: "DEPOSIT_TIMEOUT",
  });
  const before = await owned(world, world.alice);
  world.chain.fund(order.address, { usdc: 2_000_000n });
  for (let look = 0; look < 3; look++) await restored.pass(6 * MINUTE);
  expect(await restored.heldReason()).toBeNull();
  expect(await owned(world, world.alice)).toBeGreaterThan(before);
  const audit = await restored.service.operator.auditLog();
  expect(audit).toMatchObject([{ act: "release", what: { heldReason: "missing_history" } }]);
});

test("M32: new money at a restored address whose order is over is held before it goes back, and dust holds nothing", async () => {
  const world = await open();
  const order = await ordered(world);
  await world.service.cancelTransaction(world.customer, order.id);
  // Its address has heard of that, too: else the address may look first whether it is to wait on.
  await world.service.settled();
  const copy = world.copies.at(-1) ?? new Uint8Array();
  await world.service.stop();
  world.clock.advance(60 * MINUTE);
  world.chain.advance(40);
  forget(world, world.nodes);
  const restored = await startOn(world, { ...order, copy });
  world.chain.fund(order.address, { usdc: 900n });
  for (let look = 0; look < 2; look++) await restored.pass(6 * MINUTE);
  expect(await restored.heldReason()).toBeNull();
  world.chain.fund(order.address, { usdc: 2_000_000n });
  for (let look = 0; look < 2; look++) await restored.pass(6 * MINUTE);
  expect(await restored.heldReason()).toBe("missing_history");
  // Nothing was planned that waits for a release.
  expect((await restored.storage.transaction(order.id))?.payments).toEqual([]);
});

test("M32: a late deposit at nodes that keep little history goes back, as the database has missed nothing", async () => {
  const world = await open();
  const order = await served(world);
  await world.service.start();
  forget(world, world.nodes);
  const before = await owned(world, world.alice);
  world.chain.fund(order.address, { usdc: 2_000_000n });
  for (let look = 0; look < 3; look++) {
    await world.pass(6 * MINUTE);
    await world.settle(2);
  }
  expect(await owned(world, world.alice)).toBeGreaterThan(before);
  expect((await world.storage.deposits([order.address]))[0]?.heldReason).toBeNull();
});

test("M32: an address that was checked after a gap is not checked for it again, so that its history may go", async () => {
  const world = await open();
  const order = await ordered(world);
  await world.service.stop();
  world.clock.advance(10 * MINUTE);
  world.chain.advance(40);
  await world.service.start();
  await world.pass(31 * MINUTE);
  await world.settle(2);
  expect(await world.service.transaction(world.customer, order.id)).toMatchObject({
    reason: "DEPOSIT_TIMEOUT",
  });
  expect((await world.storage.deposits([order.address]))[0]?.checkedTo).toBeGreaterThan(0);
  forget(world, world.nodes);
  const before = await owned(world, world.alice);
  world.chain.fund(order.address, { usdc: 2_000_000n });
  for (let look = 0; look < 3; look++) {
    await world.pass(6 * MINUTE);
    await world.settle(2);
  }
  expect(await owned(world, world.alice)).toBeGreaterThan(before);
});

test("M32: the history of one of two nodes is too little to believe that an address has not paid", async () => {
  const world = await open();
  const order = await ordered(world);
  await world.service.stop();
  world.clock.advance(10 * MINUTE);
  world.chain.advance(40);
  forget(world, world.nodes.slice(1));
  await world.service.start();
  await world.pass(31 * MINUTE);
  await world.settle(2);
  expect(await world.service.transaction(world.customer, order.id)).toMatchObject({
    status: "pending",
    attention: "held",
  });
});

test("M32: a copy is reconciled before anything is started on it: an address that no history clears is not explained", async () => {
  const world = await open();
  const order = await served(world);
  world.clock.advance(10 * MINUTE);
  forget(world, world.nodes);
  world.chain.advance(40);
  const storage = await restore(order.copy, "nothing");
  const reconciled = await world.another({ storage }).reconcile();
  expect(reconciled).toMatchObject({
    isExplained: false,
    findings: [{ transactionId: order.id, findings: [{ finding: "missing_history" }] }],
  });
  await storage.close();
});

test("M32: the history of one of two nodes clears no address, and what a reconciliation has cleared needs no history later", async () => {
  const world = await open();
  const order = await ordered(world);
  await world.service.stop();
  world.clock.advance(10 * MINUTE);
  world.chain.advance(40);
  await world.service.start();
  const checkedTo = async () => (await world.storage.deposits([order.address]))[0]?.checkedTo;
  const tellAgain = world.nodes[1].tell(withoutHistoryBefore(world.chain.slot()));
  world.chain.advance(40);
  const reconcile = () => new Turning(world).await(world.service.reconcile());
  expect((await reconcile()).isExplained).toBe(false);
  expect(await checkedTo()).toBeNull();
  tellAgain();
  expect(await reconcile()).toMatchObject({ isExplained: true, findings: [] });
  expect(await checkedTo()).toBeGreaterThan(0);
  forget(world, world.nodes);
  expect(await reconcile()).toMatchObject({ isExplained: true, findings: [] });
});

test("M32: an address is dated by the clock of the storage, as the gaps are that it is checked for", async () => {
  const memory = memoryStorage();
  let behindMs = 0;
  const fixture = await privateFixture({
    storage: { ...memory, time: async (now: number) => now - behindMs },
  });
  onTestFinished(() => fixture.close());
  behindMs = MINUTE / 2;
  const alice = fixture.wallet("alice", { lamports: 1_000_000_000n, usdc: 1n });
  const to = [{ address: alice.address, amount: "3" }];
  const { body } = await fixture.order(await fixture.caller(), { sender: alice, to });
  const [deposit] = await fixture.storage.deposits([body.ephemeralAddress]);
  expect(deposit?.createdAt).toBe(fixture.clock.now() - behindMs);
});

test("R5: an open order is released only where a payment of it recognises each transaction that is not known", async () => {
  const world = await open();
  const order = await ordered(world);
  await world.deposit(order.address, { usdc: order.due });
  await world.settle();
  const { payments = [] } = (await world.storage.transaction(order.id)) ?? {};
  const paid = payments.find(({ kind }) => kind === "payout")?.signature ?? "";
  await world.service.stop();
  world.chain.fund(order.address, { lamports: 2_000_000n });
  world.chain.advance(40);
  const spent = await spendElsewhere(world, order);
  const restored = await startOn(world, { ...order, copy: beforeThePayout(world, order) });
  await restored.pass(MINUTE);
  expect(await restored.heldReason()).toBe("unknown_spending");
  const refused = await restored.service.operator.releaseDeposit(order.id, BY).catch(String);
  expect(refused).toContain(`has signed ${spent}, which this database does not know`);
  expect(refused).not.toContain(paid);
  expect(await restored.heldReason()).toBe("unknown_spending");
  expect(await restored.service.operator.auditLog()).toEqual([]);
});
