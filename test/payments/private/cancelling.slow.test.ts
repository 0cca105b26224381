/** Cancelling a private order: money that is on its way decides, and never is an order both routed and refunded. */
// modules: private
import { expect } from "vitest";
import { MINUTE, type Ordered, type Scene } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";

/** Turns the clock until it has ended: the tries of a call that fails are pauses of the clock. */
async function turning<T>(world: Scene, ending: Promise<T>): Promise<T> {
  let isOver = false;
  const ended = ending.finally(() => (isOver = true));
  while (!isOver) {
    world.clock.advance(100);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return ended;
}

const cancel = (world: Scene, order: Ordered): Promise<unknown> =>
  world.service.cancelTransaction(world.customer, order.id);

test("P3: a deposit at processed already refuses the cancellation, and routing waits until it is finalized", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  world.chain.fund(order.address, { usdc: order.due });
  await world.service.settled();
  await expect(cancel(world, order)).rejects.toMatchObject({
    code: "ALREADY_PROCESSED",
    details: { transactionId: order.id, currentStatus: "pending", reason: "deposit_detected" },
  });
  world.chain.advance(31);
  await world.service.settled();
  expect(await world.shown(order)).toMatchObject({ status: "pending" });
  expect((await world.shown(order)).signatures).toEqual([]);
  world.chain.advance(2);
  await world.service.settled();
  expect(await world.shown(order)).toMatchObject({ status: "processing" });
  await world.settle(10);
  await world.judge();
});

test("P3: what was seen on its way and vanished with its fork is no deposit: the window closes on nothing", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  const fork = world.chain.slot();
  world.chain.advance(1);
  world.chain.fund(order.address, { usdc: order.due });
  await expect(cancel(world, order)).rejects.toMatchObject({ code: "ALREADY_PROCESSED" });
  world.chain.rollback(fork);
  await world.passAndSettle(31 * MINUTE);
  expect(await world.shown(order)).toMatchObject({ status: "failed", reason: "DEPOSIT_TIMEOUT", fee: "0" });
  await world.judge();
});

test("P4: DELETE reads the chain itself and finds a deposit that no watch has seen", async ({ open }) => {
  const world = await open();
  const order = await world.sendTo();
  world.chain.fund(order.address, { usdc: order.due });
  // Nobody has polled since.
  await expect(cancel(world, order)).rejects.toMatchObject({
    code: "ALREADY_PROCESSED",
    details: { reason: "deposit_detected" },
  });
  await world.settle(10);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  await expect(cancel(world, order)).rejects.toMatchObject({
    code: "CANNOT_CANCEL",
    details: { transactionId: order.id, currentStatus: "completed", allowedStatuses: ["pending"] },
  });
  await world.judge();
});

test("P5: while the chain cannot be read DELETE is an upstream failure and changes nothing", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  const lift = world.chain.faults.add(() => ({ kind: "refuse", status: 503 }));
  const refused = turning(
    world,
    cancel(world, order).catch((error: unknown) => error),
  );
  expect(await refused).toMatchObject({ name: "LedgerUnavailable" });
  lift();
  expect(await world.shown(order)).toMatchObject({ status: "pending", cancelledAt: null });
  // A look that began during the outage still pauses before its next try.
  await turning(world, world.service.settled());
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(10);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  await world.judge();
});

test("P6: a deposit after a granted cancellation is refunded, and the order stays cancelled", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await cancel(world, order);
  await world.pass(MINUTE);
  await world.deposit(order.address, { usdc: order.due });
  await world.passAndSettle(MINUTE, 10);
  expect(await world.shown(order)).toMatchObject({
    status: "cancelled",
    fee: "0",
    refunds: [{ asset: "USDC", status: "paid" }],
  });
  expect((await world.held(world.bob.address))[1]).toBe(0n);
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});

test("P15: dust does not keep an order from being cancelled", async ({ open }) => {
  const world = await open();
  const order = await world.sendTo();
  await world.deposit(order.address, { usdc: 999n });
  expect(await cancel(world, order)).toMatchObject({ status: "cancelled" });
  await world.settle(3);
  await world.judge();
});

test("P28: a cancellation and the deposit that race end in exactly one of routed and refunded", async ({
  open,
}) => {
  const world = await open();
  const ends = [];
  for (const turns of [0, 1, 2, 3, 5, 8, 12, 20]) {
    const order = await world.sendTo();
    world.chain.fund(order.address, { usdc: order.due });
    world.chain.advance(35);
    // The poll that finds the deposit runs against DELETE, each time a little later.
    const seen = world.service.settled();
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    const cancelled = await cancel(world, order).then(
      () => true,
      () => false,
    );
    await seen;
    await world.settle(8);
    const { status, refunds } = await world.shown(order);
    expect([status, refunds.length]).toEqual(cancelled ? ["cancelled", 1] : ["completed", 0]);
    ends.push(cancelled);
  }
  expect((await world.held(world.bob.address))[1]).toBe(
    5_000_000n * BigInt(ends.filter((each) => !each).length),
  );
  await world.judge();
});

test("P28: cancelled at the very moment the deposit is committed: refunded and never routed", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  // DELETE's own look finds nothing; the money lands right after it.
  let look: (() => void) | null = () => world.chain.fund(order.address, { usdc: order.due });
  world.chain.faults.add(({ method, params }) => {
    const [, options] = params as [unknown, { commitment?: string }?];
    if (method !== "getMultipleAccounts" || options?.commitment !== "processed") return undefined;
    const land = look;
    look = null;
    if (land !== null) setImmediate(land);
    return undefined;
  });
  expect(await cancel(world, order)).toMatchObject({ status: "cancelled" });
  await world.passAndSettle(MINUTE, 10);
  expect(await world.shown(order)).toMatchObject({ status: "cancelled", refunds: [{ status: "paid" }] });
  expect((await world.held(world.bob.address))[1]).toBe(0n);
  await world.judge();
});
