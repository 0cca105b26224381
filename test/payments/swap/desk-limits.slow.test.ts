/** What a desk gives out within a day: bounded by the commit that reserves, and free again when it was not given. */
import { expect } from "vitest";
import { SOL_MINT } from "../../../src/core/address.ts";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import type { PriceSource } from "../../../src/payments/frame/prices/prices.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { units } from "../../kit/money.ts";
import type { SwapFixture, SwapSettings } from "../../kit/swap-fixture.ts";
import { expectRefusal } from "../wallet/wallet-world.ts";
import { swapTest } from "../../kit/swap-test.ts";
import { dropping } from "../../kit/odd-endpoints.ts";

const HOUR_MS = 60 * 60_000;
/** 150 dollars for one SOL. */
const market: PriceSource = {
  rate: async (give, get) => ({
    give: give === SOL_MINT ? 1_000_000_000n : 150_000_000n,
    get: get === SOL_MINT ? 1_000_000_000n : 150_000_000n,
  }),
};

/** Alice, and a desk that gives at most 1,000 USDC a day, at 100 USDC for one account at a time. */
interface Stage extends SwapFixture {
  readonly alice: Wallet;
}

const test = swapTest.extend(
  "openStage",
  ({ open }) =>
    async (settings: SwapSettings = {}): Promise<Stage> => {
      const desk = { prices: market, spreadBps: 0, maxGivenPerDay: { USDC: "1000" } };
      const world = await open({ ...settings, desk });
      const alice = world.wallet("alice", { lamports: 400_000_000_000n, usdc: 1_000_000_000n });
      world.chain.advance(35);
      return { ...world, alice };
    },
);

/** 99.9 USDC. */
const AMOUNT = "0.666";
const GIVEN = units("99.9", 6);
const sale = async (world: Stage, caller: Caller) =>
  world.quote(caller, { sender: world.alice, give: "SOL", get: "USDC", amount: AMOUNT });
const sell = async (world: Stage, caller: Caller) =>
  (await world.swap(caller, { sender: world.alice, give: "SOL", get: "USDC", amount: AMOUNT })).body;

/** What counts against the limit, by the reservations' own words. */
async function counted(world: Stage): Promise<bigint> {
  const rows = await world.storage.reservations(`desk ${world.desk} gives ${world.mints.USDC} in a day`);
  return rows.reduce((sum, { amount }) => sum + amount, 0n);
}

test("what was given counts for 24 hours, and then no more", async ({ openStage }) => {
  const world = await openStage();
  const callers = await Promise.all(Array.from({ length: 12 }, () => world.caller()));
  for (const caller of callers.slice(0, 10)) await sell(world, caller);
  await world.finalize();
  expect(await world.promised("USDC")).toBe(0n);
  expect(await counted(world)).toBe(GIVEN * 10n);
  const [last] = callers.slice(10);
  if (last === undefined) throw new Error("twelve callers were made");
  await expectRefusal(sale(world, last), "INSUFFICIENT_LIQUIDITY", { available: "1" });

  await world.pass(24 * HOUR_MS - 60_000);
  await expectRefusal(sale(world, last), "INSUFFICIENT_LIQUIDITY", { available: "1" });
  await world.pass(60_000);
  await sell(world, last);
  await world.finalize();
  expect(await counted(world)).toBe(GIVEN);
});

test("another asset has no limit where none is named", async ({ openStage }) => {
  const world = await openStage();
  const { alice } = world;
  const caller = await world.caller();
  const quote = await world.quote(caller, { sender: alice, give: "SOL", get: "USDT", amount: "90" });
  expect(quote.outputAmount).toBe("13500");
});

test("of many quotes at once no more is promised than the limit has room for", async ({ openStage }) => {
  const world = await openStage();
  const callers = await Promise.all(Array.from({ length: 15 }, () => world.caller()));
  const results = await Promise.allSettled(callers.map((caller) => sale(world, caller)));
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
  expect(await counted(world)).toBe(GIVEN * 10n);
});

test("one account cannot take up the limit for the others with open quotes", async ({ openStage }) => {
  const world = await openStage();
  const [greedy, modest] = [await world.caller(), await world.caller()];
  await sale(world, greedy);
  await expectRefusal(sale(world, greedy), "INSUFFICIENT_LIQUIDITY", { available: "0.1" });
  await sale(world, modest);
});

test("a quote that lapses, and a swap that fails, count no more", async ({ openStage }) => {
  const world = await openStage();
  const caller = await world.caller();
  await sale(world, caller);
  await world.pass(31_000);
  await sale(world, caller);
  expect(await counted(world)).toBe(GIVEN);
  await world.pass(31_000);

  world.chain.faults.add(dropping);
  const { transactionId } = await sell(world, caller);
  for (let round = 0; round < 6; round++) {
    world.chain.advance(60);
    await world.pass(1_000);
  }
  expect(await world.service.transaction(caller, transactionId)).toMatchObject({ status: "failed" });
  expect(await counted(world)).toBe(0n);
});

test("a swap that was cancelled counts no more", async ({ openStage }) => {
  const world = await openStage({ options: { broadcastDelayMs: 5_000 } });
  const caller = await world.caller();
  const { transactionId } = await sell(world, caller);
  expect(await counted(world)).toBe(GIVEN);
  await world.service.cancelTransaction(caller, transactionId);
  expect(await counted(world)).toBe(0n);
});

// modules: private
test("a private swap counts like any other, and at the limit is refunded", async ({ openStage }) => {
  const world = await openStage();
  const { alice } = world;
  const callers = await Promise.all(Array.from({ length: 10 }, () => world.caller()));
  const [first] = callers;
  if (first === undefined) throw new Error("ten callers were made");
  const order = async (caller: Caller) => {
    const words = { sender: alice, give: "SOL", get: "USDC", amount: AMOUNT };
    const { body } = await world.orderSwap(caller, words);
    const pay = () => world.deposit(body.ephemeralAddress, { lamports: units(body.depositAmount, 9) });
    return { id: body.transactionId, pay };
  };
  const [served, late] = [await order(first), await order(callers[1] ?? first)];
  await served.pay();
  await world.settle();
  expect(await world.service.transaction(first, served.id)).toMatchObject({ status: "completed" });
  const given = await counted(world);
  expect(given).toBeGreaterThan(GIVEN / 2n);

  for (const caller of callers.slice(1)) await sell(world, caller);
  await world.finalize();
  await late.pay();
  for (let minute = 0; minute < 14; minute++) {
    await world.pass(60_000);
    await world.settle(2);
  }
  expect(await world.service.transaction(callers[1] ?? first, late.id)).toMatchObject({
    status: "failed",
    reason: "LIQUIDITY_UNAVAILABLE",
    refunds: [{ status: "paid" }],
  });
});
