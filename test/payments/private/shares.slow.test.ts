/** What one account can take up of private mode with orders that nobody has paid for. */
// modules: private
import { expect } from "vitest";
import { SPONSOR_SHARE_PERCENT } from "../../../src/payments/frame/purses/sponsor-limit.ts";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import { holdsOf, MINUTE, orderedAs, SOL, type Ordered, type Scene } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";
import { BY } from "../../kit/by.ts";
import { dropping } from "../../kit/odd-endpoints.ts";

/** A hundred orders, each with a quote. */
const LONG = 60_000;

const FULL = { code: "ROUTING_UNAVAILABLE", details: { reason: "capacity", retryAfter: 30 } };

/** A payroll to two, which reserves more than a send. */
async function payroll(world: Scene, caller: Caller): Promise<Ordered> {
  const { body } = await world.order(caller, {
    sender: world.alice,
    to: [
      { address: world.bob.address, amount: "2" },
      { address: world.alice.address, amount: "3" },
    ],
  });
  return orderedAs(body);
}

/** Posts payrolls until one is refused. */
async function fill(world: Scene, caller: Caller): Promise<Ordered[]> {
  const taken: Ordered[] = [];
  let refused: unknown = null;
  while (refused === null) {
    await payroll(world, caller).then(
      (order) => taken.push(order),
      (error: unknown) => (refused = error),
    );
  }
  expect(refused).toMatchObject(FULL);
  return taken;
}

/** Lamports reserved of the sponsor, and within this account's share of it. */
async function reserved(world: Scene, caller: Caller): Promise<readonly [all: bigint, share: bigint]> {
  const resource = `sponsor ${world.sponsor.address}`;
  const sums = await Promise.all(
    [resource, `${resource} of ${caller.accountId}`].map(async (each) =>
      (await world.storage.reservations(each)).reduce((sum, { amount }) => sum + amount, 0n),
    ),
  );
  return [sums[0] ?? 0n, sums[1] ?? 0n];
}

/** Leaves the sponsor this much. */
async function leaveSponsor(world: Scene, lamports: bigint): Promise<void> {
  const [held] = await world.held(world.sponsor.address);
  await world.pay(world.sponsor, world.treasury.address, held - lamports);
}

test(
  "M9: a hundred deposit-less payrolls of one free account: another account's order is taken",
  { timeout: LONG },
  async ({ open }) => {
    const world = await open();
    await payroll(world, await world.caller());
    const [each] = await reserved(world, world.customer);
    // Without shares sixty of them would use it up.
    await leaveSponsor(world, each * 60n);
    let taken = 0;
    for (let index = 0; index < 100; index++) {
      await payroll(world, world.customer).then(
        () => (taken += 1),
        (error: unknown) => expect(error).toMatchObject(FULL),
      );
    }
    expect(taken).toBe(1);
    expect(await reserved(world, world.customer)).toEqual([each * 2n, each]);
    const other = await world.caller("free");
    await expect(payroll(world, other)).resolves.toMatchObject({ due: expect.any(BigInt) as bigint });
  },
);

test.for(["free", "pro", "enterprise"] as const)(
  "M9: an account (%s) takes up its share and not one lamport more, whatever others have reserved",
  async (tier, { open }) => {
    const world = await open();
    await payroll(world, world.customer);
    const [each] = await reserved(world, world.customer);
    await leaveSponsor(world, each * 100n);
    const caller = await world.caller(tier);
    const taken = await fill(world, caller);
    expect(BigInt(taken.length)).toBe(SPONSOR_SHARE_PERCENT[tier]);
    expect(await reserved(world, caller)).toEqual([
      each * BigInt(taken.length + 1),
      each * BigInt(taken.length),
    ]);
  },
);

test("M9, M24, R17: the share of an order ends once it is signed for the whole deposit, and what it reserved of the sponsor when it rests: another account's order is taken", async ({
  open,
}) => {
  const world = await open();
  await payroll(world, world.customer);
  const [each] = await reserved(world, world.customer);
  await leaveSponsor(world, each * 100n);
  const [order] = await fill(world, world.customer);
  if (order === undefined) throw new Error("no order was taken");
  const before = await reserved(world, world.customer);
  // A part of the deposit costs next to nothing, and would free as much as the whole.
  await world.deposit(order.address, { usdc: order.due - 1n });
  expect(await reserved(world, world.customer)).toEqual(before);
  await expect(payroll(world, world.customer)).rejects.toMatchObject(FULL);
  const lift = world.chain.faults.add(dropping);
  await world.deposit(order.address, { usdc: 1n });
  expect(await reserved(world, world.customer)).toEqual([before[0], before[1] - each]);
  await payroll(world, world.customer);
  await expect(payroll(world, world.customer)).rejects.toMatchObject(FULL);
  lift();
  await world.passAndSettle(2 * MINUTE, 14);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  // The other two wait, and the new one.
  expect(await reserved(world, world.customer)).toEqual([before[0], before[1]]);
  await payroll(world, await world.caller("free"));
  await world.passAndSettle(31 * MINUTE);
  expect(await reserved(world, world.customer)).toEqual([0n, 0n]);
});

test("C71: orders that are paid out of a refused wallet, and held, take up no more than their account's share: another account's order is taken", async ({
  open,
}) => {
  const refused = new Set<string>();
  const world = await open({}, { screen: async (address) => (refused.has(address) ? "refused" : "ok") });
  const mallory = world.wallet("mallory", { lamports: SOL, usdc: 900_000_000n });
  refused.add(mallory.address);
  await payroll(world, await world.caller());
  const [each] = await reserved(world, world.customer);
  await leaveSponsor(world, each * 6n);
  const caller = await world.caller("enterprise");
  const order = await payroll(world, caller);
  await world.openAccount({ ...mallory, address: order.address as never }, "USDC");
  await world.payTokens(mallory, order.address, "USDC", order.due);
  await world.settle(2);
  expect(await holdsOf(world, order)).toEqual(["screening"]);
  expect(await reserved(world, caller)).toEqual([each * 2n, each]);
  await expect(payroll(world, caller)).rejects.toMatchObject(FULL);
  await payroll(world, await world.caller("enterprise"));
  await world.service.operator.resolve(order.id, { action: "decline" }, BY);
  await world.passAndSettle(2 * MINUTE, 6);
  expect((await reserved(world, caller))[1]).toBe(0n);
  await payroll(world, caller);
});

test.for(["cancelled", "timed out"] as const)(
  "M9: the share of an order that is %s is free again, and so is what it reserved",
  async (way, { open }) => {
    const world = await open();
    const order = await payroll(world, world.customer);
    const [each] = await reserved(world, world.customer);
    expect(await reserved(world, world.customer)).toEqual([each, each]);
    if (way === "cancelled") await world.service.cancelTransaction(world.customer, order.id);
    else await world.passAndSettle(31 * MINUTE);
    await world.settle(2);
    expect(await reserved(world, world.customer)).toEqual([0n, 0n]);
    await world.judge();
  },
);

test(
  "a free account has at most a hundred orders without a deposit; one that ends makes room for another",
  { timeout: LONG },
  async ({ open }) => {
    const world = await open();
    world.chain.fund(world.sponsor.address, { lamports: 1_000n * SOL });
    world.chain.advance(35);
    const first = await world.sendTo();
    for (let index = 1; index < 100; index++) await world.sendTo();
    await expect(world.sendTo()).rejects.toMatchObject(FULL);
    const other = await world.caller("free");
    await payroll(world, other);
    await world.service.cancelTransaction(world.customer, first.id);
    await world.settle(1);
    await world.sendTo();
    await expect(world.sendTo()).rejects.toMatchObject(FULL);
  },
);
