/** Orders that ended long ago: what comes then goes back on a person's word, and again after all their rows are gone. */
// modules: private
import { expect } from "vitest";
import { createEngine } from "../../../src/engine/index.ts";
import { assetsWith } from "../../../src/payments/frame/assets/assets.ts";
import { lookAtOrder } from "../../../src/payments/private/look.ts";
import { noticeRemovals } from "../../../src/payments/frame/retention/old-notices.ts";
import { oldOrders } from "../../../src/payments/private/old-orders.ts";
import type { PaymentTables } from "../../../src/payments/payment-storage.ts";
import { silentLogger } from "../../../src/core/runtime.ts";
import { BY } from "../../kit/by.ts";
import type { privateFixture, PrivateFixture } from "../../kit/private-fixture.ts";
import { solAt150, units } from "../../kit/money.ts";
import { privateTest as test } from "../../kit/private-test.ts";
import { oldRows, type OldRows } from "../../../src/payments/frame/retention/old-rows.ts";
import { goneOf } from "../retention/passing.ts";

const DAY = 86_400_000;
const EMPTY = [0n, 0n, 0n] as const;

/** What the charts of a service watch; the engine that only ends a chart looks at nothing. */
const WATCHED = [
  ...["landing", "strayLanding", "unprovable", "expired", "attempts"],
  ...["orders", "activeOrders", "lateOrders", "slowOrders"],
];
const DEAF = { intervalMs: 1_000, batchSize: 1, poll: async () => [] };

function oldOrdersOf(world: PrivateFixture): OldRows {
  const { storage, service, clock, ledger, mints } = world;
  const engine = createEngine<PaymentTables>({
    storage,
    workflows: service.workflows,
    watchers: Object.fromEntries(WATCHED.map((kind) => [kind, DEAF])),
    clock,
    logger: silentLogger,
  });
  const parts = {
    storage,
    clock,
    archive: null,
    archiveDeadlineMs: 1_000,
    noticeRemovals: noticeRemovals({ storage, goesWith: [] }),
    stopInstance: (each: string) => engine.stopInstance(each),
    look: (each: string) =>
      lookAtOrder({ storage, ledger, assets: assetsWith(mints), prices: solAt150(world) }, each),
    wake: (each: string) => service.operator.recover([each], BY),
  };
  return oldRows(parts, oldOrders(parts, 0));
}

/** An order of alice's to bob. */
async function ordered(open: typeof privateFixture) {
  const world = await open();
  const caller = await world.caller("enterprise");
  const alice = world.wallet("alice", { lamports: 1_000_000_000n, usdc: 1n });
  const bob = world.wallet("bob", { lamports: 1_000_000_000n, usdc: 1n });
  const { body } = await world.order(caller, { sender: alice, to: [{ address: bob.address, amount: "5" }] });
  return { world, caller, alice, body };
}

/** It is two months later, and nobody looks at its address any more. */
async function becomeOld(world: PrivateFixture): Promise<void> {
  await world.pass(62 * DAY);
  await world.settle();
}

test("an address that is looked at no more is looked at on a person's word, and its money goes back", async ({
  open,
}) => {
  const { world, alice, body } = await ordered(open);
  await world.deposit(body.ephemeralAddress, { usdc: units(body.depositAmount, 6) });
  await world.settle();
  await becomeOld(world);
  world.chain.fund(body.ephemeralAddress, { usdc: 4_000_000n });
  world.chain.advance(35);
  await world.pass(DAY);
  await world.settle();
  expect((await world.held(body.ephemeralAddress))[1]).toBe(4_000_000n);

  expect(await world.service.operator.recover([body.transactionId], BY)).toMatchObject([{ state: "known" }]);
  await world.settle(8);
  expect(await world.held(body.ephemeralAddress)).toEqual(EMPTY);
  expect((await world.held(alice.address))[1]).toBe(4_000_001n);
});

test("C57: an order does not go as old while money lies there that nobody has looked at: it goes back", async ({
  open,
}) => {
  const { world, alice, body } = await ordered(open);
  await world.deposit(body.ephemeralAddress, { usdc: units(body.depositAmount, 6) });
  await world.settle();
  await becomeOld(world);
  world.chain.fund(body.ephemeralAddress, { usdc: 4_000_000n });
  world.chain.advance(35);
  const old = oldOrdersOf(world);
  const passed = (): Promise<number> => goneOf(old, world.clock.now() + DAY);
  expect(await passed()).toBe(0);
  await world.settle(8);
  expect((await world.held(alice.address))[1]).toBe(4_000_001n);
  await becomeOld(world);
  expect(await passed()).toBe(1);
});

test("C24: of an order that was removed as old the refund of late money is on its books, though its former refunds are on the chain", async ({
  open,
}) => {
  const { world, alice, body } = await ordered(open);
  const { service, clock, storage, chain } = world;
  const { transactionId: id, ephemeralAddress: address } = body;
  await world.deposit(address, { usdc: units(body.depositAmount, 6) + 3_000_000n });
  await world.settle(10);
  expect((await world.held(alice.address))[1]).toBe(3_000_001n);
  await becomeOld(world);
  const old = oldOrdersOf(world);
  expect(await goneOf(old, clock.now() + DAY)).toBe(1);
  expect(await storage.orderStub(id)).toMatchObject({ status: "completed" });

  chain.fund(address, { usdc: 4_000_000n });
  chain.advance(35);
  expect(await service.operator.recover([id], BY)).toMatchObject([{ state: "restored" }]);
  for (let look = 0; look < 4; look++) {
    await world.pass(3 * 60_000);
    await world.settle(8);
  }
  expect(await world.held(address)).toEqual(EMPTY);
  expect((await world.held(alice.address))[1]).toBe(7_000_001n);
  const view = await storage.orderedTransaction(id);
  const rest = view?.order?.transfers.find(({ kind }) => kind === "rest");
  const attempts = await storage.attemptsOf(rest?.id ?? "");
  expect(rest).toMatchObject({ state: "done", signature: attempts.at(-1)?.id });
  expect(view?.order?.levels.find(({ mint }) => mint === world.mints.USDC)).toMatchObject({
    out: 4_000_000n,
  });
});

test("C58: nobody is paid at the address of an order that has gone as old, where nobody looks for it", async ({
  open,
}) => {
  const { world, caller, alice, body } = await ordered(open);
  await world.service.cancelTransaction(caller, body.transactionId);
  await becomeOld(world);
  const old = oldOrdersOf(world);
  expect(await goneOf(old, world.clock.now() + DAY)).toBe(1);
  const to = [{ address: body.ephemeralAddress, amount: "1" }];
  await expect(world.order(caller, { sender: alice, to })).rejects.toMatchObject({
    code: "INVALID_RECIPIENT",
    details: { reason: "own_address" },
  });
});

test("K16: an order whose no-go is not worth its cost any more goes as old, like every other", async ({
  open,
}) => {
  const source: { isDown: boolean; world: PrivateFixture | null } = { isDown: false, world: null };
  const rate: ReturnType<typeof solAt150>["rate"] = async (give, get) => {
    if (source.isDown || source.world === null) throw new Error("no price");
    return solAt150(source.world).rate(give, get);
  };
  const world = await open({}, { prices: { rate } });
  source.world = world;
  const { service, clock, chain } = world;
  const caller = await world.caller("enterprise");
  const sender = world.wallet("newcomer", { lamports: 1_000_000_000n });
  const bob = world.wallet("bob", { lamports: 1_000_000_000n, usdc: 1n });
  const { body } = await world.order(caller, { sender, to: [{ address: bob.address, amount: "5" }] });
  await world.deposit(body.ephemeralAddress, { usdc: 50_000n });
  const passing = async (minutes: number): Promise<void> => {
    chain.advance(300);
    await world.pass(minutes * 60_000);
    await world.settle(8);
  };
  source.isDown = true;
  await passing(31);
  source.isDown = false;
  for (let look = 0; look < 4; look++) await passing(2);
  expect(await service.transaction(caller, body.transactionId)).toMatchObject({ status: "failed" });
  await becomeOld(world);
  const old = oldOrdersOf(world);
  expect(await goneOf(old, clock.now() + DAY)).toBe(1);
});
