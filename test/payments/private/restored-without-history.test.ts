/** M32: a copy from before the payout, the markers swept, and nodes whose history begins after all of it. */
import { expect, test } from "vitest";
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

const MINUTE = 60_000;
/** Each lives through two orders' worth of time. */
const LONG = { timeout: 120_000 };

test(
  "M32: without new money a restored order is told nothing, and is held as unexplained",
  LONG,
  async () => {
    const world = await open();
    const order = await served(world);
    forget(world, world.nodes);
    const restored = await startOn(world, order);
    await restored.pass(31 * MINUTE);
    await restored.pass(31 * MINUTE);
    expect(await shown(restored, world, order)).toMatchObject({ status: "pending", attention: "held" });
    expect(await mattersOf(restored)).toContain("unexplained");
    expect((await restored.service.health()).attention).toBeGreaterThan(0);
  },
);

test(
  "M32: new money at a restored address pays no recipient again, and is held as unexplained",
  LONG,
  async () => {
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
  },
);

test("M32: a copy in which the deposit had come pays no recipient with new money, either", LONG, async () => {
  const world = await open();
  const order = await served(world);
  const paid = await owned(world, world.bob);
  forget(world, world.nodes);
  const restored = await startOn(world, { ...order, copy: await beforeThePayout(world, order) });
  world.chain.fund(order.address, { usdc: order.due });
  await restored.pass(MINUTE);
  expect(await owned(world, world.bob)).toBe(paid);
  expect(await shown(restored, world, order)).toMatchObject({ status: "processing", attention: "held" });
});

test(
  "M32: a restored order cannot be cancelled, since nothing shows that it was not paid",
  LONG,
  async () => {
    const world = await open();
    const order = await served(world);
    forget(world, world.nodes);
    const { service } = await startOn(world, order);
    await expect(service.cancelTransaction(world.customer, order.id)).rejects.toMatchObject({
      code: "ALREADY_PROCESSED",
    });
  },
);

test(
  "M32: an operator who releases a restored address vouches for it: the order ends, and what comes later goes back",
  LONG,
  async () => {
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
  },
);

test(
  "M32: new money at a restored address whose order is over is held before it goes back, and dust holds nothing",
  LONG,
  async () => {
    const world = await open();
    const order = await ordered(world);
    await world.service.cancelTransaction(world.customer, order.id);
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
  },
);

test(
  "M32: a late deposit at nodes that keep little history goes back, as the database has missed nothing",
  LONG,
  async () => {
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
  },
);

test(
  "M32: an address that was checked after a gap is not checked for it again, so that its history may go",
  LONG,
  async () => {
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
  },
);

test(
  "M32: the history of one of two nodes is too little to believe that an address has not paid",
  LONG,
  async () => {
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
  },
);
