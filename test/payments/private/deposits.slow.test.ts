/** What becomes of money at a deposit address: enough, too little, too much, too late, or something else altogether. */
// modules: private
import { expect } from "vitest";
import { associatedTokenAddress } from "../../../src/local/funding.ts";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import { units } from "../../kit/money.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { lamportsAt } from "./photograph.ts";
import { MINUTE, type Ordered, type Scene } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";

interface Setting extends Ordered {
  readonly caller: Caller;
  readonly alice: Wallet;
  readonly bob: Wallet;
}

async function setting(world: Scene, asset: "USDC" | "SOL" = "USDC", amount = "5"): Promise<Setting> {
  const { customer: caller, alice, bob } = world;
  return { caller, alice, bob, ...(await world.sendTo({ asset, amount })) };
}

test("P7: too little waits, and a second deposit completes it", async ({ world }) => {
  const { caller, bob, id, address, due } = await setting(world);
  await world.deposit(address, { usdc: due - 1n });
  expect(await world.service.transaction(caller, id)).toMatchObject({ status: "pending" });
  await world.deposit(address, { usdc: 1n });
  await world.settle();
  expect(await world.service.transaction(caller, id)).toMatchObject({ status: "completed" });
  expect(await world.held(bob.address)).toEqual([1_000_000_000n, 5_000_000n, 0n]);
  await world.judge();
});

test("P7: too little at the end of the window is refunded, and the order has failed", async ({ world }) => {
  const { caller, alice, bob, id, address, due } = await setting(world);
  await world.deposit(address, { usdc: due - 1n });
  await world.pass(31 * MINUTE);
  await world.settle();
  const failed = await world.service.transaction(caller, id);
  expect(failed).toMatchObject({ status: "failed", reason: "INCOMPLETE_DEPOSIT", fee: "0" });
  expect(failed.refunds).toMatchObject([{ asset: "USDC", status: "paid" }]);
  expect(await world.held(address)).toEqual([0n, 0n, 0n]);
  const refunded = units(failed.refunds[0]?.amount ?? "0", 6);
  expect((await world.held(alice.address))[1]).toBe(1n + refunded);
  expect((await world.held(world.treasury.address))[1]).toBe(due - 1n - refunded);
  expect((await world.held(bob.address))[1]).toBe(0n);
  await world.judge();
});

test("L5: an address is stored with its token accounts, so that no later look derives them", async ({
  world,
}) => {
  const { id, address } = await setting(world);
  const order = await world.storage.order(id);
  const { USDC, USDT } = world.mints;
  expect(order?.accounts).toEqual({
    [USDC]: associatedTokenAddress(address, USDC),
    [USDT]: associatedTokenAddress(address, USDT),
  });
});

test("nothing at the end of the window is DEPOSIT_TIMEOUT", async ({ world }) => {
  const { caller, id } = await setting(world);
  await world.pass(31 * MINUTE);
  await world.settle();
  expect(await world.service.transaction(caller, id)).toMatchObject({
    status: "failed",
    reason: "DEPOSIT_TIMEOUT",
    fee: "0",
  });
  await world.judge();
});

test("P8: too much pays exactly what was ordered, and the rest goes back", async ({ world }) => {
  const { caller, alice, bob, id, address, due } = await setting(world);
  await world.deposit(address, { usdc: due + 3_000_000n });
  await world.settle(10);
  const done = await world.service.transaction(caller, id);
  expect(done).toMatchObject({ status: "completed", refunds: [{ status: "paid" }] });
  expect((await world.held(bob.address))[1]).toBe(5_000_000n);
  const refunded = units(done.refunds[0]?.amount ?? "0", 6);
  expect(refunded).toBeGreaterThan(2_900_000n);
  expect((await world.held(alice.address))[1]).toBe(1n + refunded);
  expect(await world.held(address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});

test("P10: what comes after the end is refunded and never routed", async ({ world }) => {
  const { caller, alice, bob, id, address, due } = await setting(world);
  await world.pass(31 * MINUTE);
  await world.settle();
  await world.deposit(address, { usdc: due });
  await world.settle(10);
  const late = await world.service.transaction(caller, id);
  expect(late).toMatchObject({ status: "failed", reason: "DEPOSIT_TIMEOUT", refunds: [{ status: "paid" }] });
  expect((await world.held(bob.address))[1]).toBe(0n);
  expect((await world.held(alice.address))[1]).toBeGreaterThan(4_900_000n);
  await world.judge();
});

test("R10: the rest closes an empty token account for the sponsor, and the fee is not kept again from a late deposit", async ({
  world,
}) => {
  const { alice, address, due, id, caller } = await setting(world);
  await world.openAccount({ ...alice, address: address as never }, "USDT");
  await world.deposit(address, { usdc: due });
  await world.settle(10);
  await world.passAndSettle(11 * MINUTE, 4);
  expect(
    await world.ledger.tokenAccountStates([{ owner: address as never, mint: world.mints.USDT }]),
  ).toEqual(["absent"]);
  expect(await world.held(address)).toEqual([0n, 0n, 0n]);
  const [lamports, fee] = await world.held(world.treasury.address);
  expect(lamports).toBe(1_000_000_000n);
  await world.deposit(address, { usdc: 2_000_000n });
  await world.settle(10);
  const { refunds } = await world.service.transaction(caller, id);
  expect(units(refunds[0]?.amount ?? "0", 6) + fee).toBeGreaterThan(2_000_000n);
  await world.judge();
});

test("P6: cancelled, then funded: refunded, and it stays cancelled", async ({ world }) => {
  const { caller, alice, id, address, due } = await setting(world);
  await world.service.cancelTransaction(caller, id);
  await world.deposit(address, { usdc: due });
  await world.settle(10);
  expect(await world.service.transaction(caller, id)).toMatchObject({
    status: "cancelled",
    fee: "0",
    refunds: [{ status: "paid" }],
  });
  expect((await world.held(alice.address))[1]).toBeGreaterThan(4_900_000n);
  await world.judge();
});

test("P3, P4: a deposit that has just landed refuses the cancellation before anybody watched", async ({
  world,
}) => {
  const { caller, id, address, due } = await setting(world);
  world.chain.fund(address, { usdc: due });
  await expect(world.service.cancelTransaction(caller, id)).rejects.toMatchObject({
    code: "ALREADY_PROCESSED",
    details: { reason: "deposit_detected", currentStatus: "pending" },
  });
  await world.settle(10);
  expect(await world.service.transaction(caller, id)).toMatchObject({ status: "completed" });
  await world.judge();
});

test("P12: SOL to a USDC order goes back once the order is over", async ({ world }) => {
  const { caller, alice, id, address, due } = await setting(world);
  await world.deposit(address, { lamports: 5_000_000n });
  await world.deposit(address, { usdc: due });
  await world.settle(10);
  const done = await world.service.transaction(caller, id);
  expect(done).toMatchObject({ status: "completed", refunds: [{ asset: "SOL", status: "paid" }] });
  expect((await world.held(alice.address))[0]).toBe(
    1_000_000_000n + units(done.refunds[0]?.amount ?? "0", 9),
  );
  expect(await world.held(address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});

test("P12: USDT to a USDC order goes back once the order is over, and pays nobody", async ({ world }) => {
  const { caller, alice, bob, id, address, due } = await setting(world);
  await world.deposit(address, { usdt: due });
  expect(await world.service.transaction(caller, id)).toMatchObject({ status: "pending" });
  await world.passAndSettle(31 * MINUTE, 8);
  const ended = await world.service.transaction(caller, id);
  expect(ended).toMatchObject({
    status: "failed",
    reason: "DEPOSIT_TIMEOUT",
    fee: "0",
    refunds: [{ asset: "USDT", status: "paid" }],
  });
  expect(await world.held(bob.address)).toEqual([1_000_000_000n, 0n, 0n]);
  expect((await world.held(alice.address))[2]).toBe(1n + units(ended.refunds[0]?.amount ?? "0", 6));
  expect(await world.held(address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});

test("P26: the owner's lamports and all its associated accounts are looked at in one reading", async ({
  world,
}) => {
  const { caller, id, address, due } = await setting(world);
  await world.deposit(address, { lamports: 20_000_000n, usdt: 2_000_000n, usdc: due + 2_000_000n });
  await world.settle(8);
  for (let round = 0; round < 3; round++) await world.passAndSettle(11 * MINUTE, 6);
  const { refunds } = await world.service.transaction(caller, id);
  expect(refunds.map(({ asset, status }) => `${asset} ${status}`).toSorted()).toEqual([
    ...["SOL paid", "USDC paid", "USDT paid"],
  ]);
  expect(await world.held(address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});

/** The operator's lamports, what the order has on the chain, and what a person is told. */
async function untouched(world: Scene, { id, address }: Ordered): Promise<readonly unknown[]> {
  const [[lamports], marker, view] = await Promise.all([
    world.held(world.sponsor.address),
    lamportsAt(world.chain, world.ledger.markerOf(address as never, "0")),
    world.storage.orderedTransaction(id),
  ]);
  return [lamports, marker, view?.order?.chunks.map(({ length }) => length)];
}

test("C22: a deposit below the cost of saying no stays as dust, and no marker is bought of it; once more is there all of it goes back", async ({
  world,
}) => {
  const order = await setting(world, "SOL", "0.5");
  const [sponsored] = await world.held(world.sponsor.address);
  await world.deposit(order.address, { lamports: 900_000n });
  await world.passAndSettle(31 * MINUTE, 8);
  expect(await world.shown(order)).toMatchObject({
    status: "failed",
    reason: "INCOMPLETE_DEPOSIT",
    fee: "0",
    refunds: [],
    unreturned: [{ asset: "SOL", amount: "0.0009", reason: "dust" }],
  });
  expect(await untouched(world, order)).toEqual([sponsored, 0n, [null]]);
  expect(await world.service.operator.attention()).toEqual([]);
  await world.deposit(order.address, { lamports: 100_000n });
  await world.passAndSettle(11 * MINUTE, 8);
  expect(await world.shown(order)).toMatchObject({ status: "failed", refunds: [{ status: "paid" }] });
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  expect((await world.held(world.sponsor.address))[0]).toBeGreaterThanOrEqual(sponsored);
  await world.judge();
});

test("C35: a part of a SOL deposit that lies as lamports on the address's token account funds nothing, and comes back at the window's end", async ({
  world,
}) => {
  const order = await setting(world, "SOL", "0.5");
  const address = { ...world.alice, address: order.address as never };
  await world.openAccount(address, "USDC");
  await world.pay(world.alice, world.tokenAccountOf(address, "USDC"), 4_000_000n);
  await world.deposit(order.address, { lamports: order.due - 4_000_000n });
  await world.settle(4);
  expect(await world.shown(order)).toMatchObject({ status: "pending" });
  const [before] = await world.held(world.alice.address);
  await world.passAndSettle(31 * MINUTE, 8);
  const ended = await world.shown(order);
  expect(ended).toMatchObject({
    status: "failed",
    reason: "INCOMPLETE_DEPOSIT",
    recipients: [{ status: "unpaid" }],
    refunds: [{ asset: "SOL", status: "paid" }],
    unreturned: [],
  });
  const back = (await world.held(world.alice.address))[0] - before;
  expect(back).toBe(units(ended.refunds[0]?.amount ?? "0", 9));
  expect(back).toBeGreaterThan(order.due - 1_000_000n);
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});
