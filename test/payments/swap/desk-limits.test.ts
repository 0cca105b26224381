/** What a desk gives out within a day: bounded by the commit that reserves, and free again when it was not given. */
import { afterEach, expect, test } from "vitest";
import { SOL_MINT } from "../../../src/address.ts";
import type { Caller } from "../../../src/payments/accounts/caller.ts";
import type { PriceSource } from "../../../src/payments/prices/prices.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { units } from "../../kit/private-fixture.ts";
import { swapFixture } from "../../kit/swap-fixture.ts";
import type { SwapFixture } from "../../kit/swap-fixture.ts";
import { expectRefusal } from "../wallet/wallet-world.ts";

const HOUR_MS = 60 * 60_000;
/** 150 dollars for one SOL. */
const market: PriceSource = {
  rate: async (give, get) => ({
    give: give === SOL_MINT ? 1_000_000_000n : 150_000_000n,
    get: get === SOL_MINT ? 1_000_000_000n : 150_000_000n,
  }),
};

let world: SwapFixture;
let alice: Wallet;
afterEach(() => world.close());

/** A desk that gives at most 1,000 USDC a day, at 100 USDC for one account at a time. */
async function open(settings: Parameters<typeof swapFixture>[0] = {}): Promise<void> {
  const desk = { prices: market, spreadBps: 0, maxGivenPerDay: { USDC: "1000" } };
  world = await swapFixture({ ...settings, desk });
  alice = world.wallet("alice", { lamports: 400_000_000_000n, usdc: 1_000_000_000n });
  world.chain.advance(35);
}

/** 99.9 USDC. */
const AMOUNT = "0.666";
const GIVEN = units("99.9", 6);
const sale = async (caller: Caller) =>
  world.quote(caller, { sender: alice, give: "SOL", get: "USDC", amount: AMOUNT });
const sell = async (caller: Caller) =>
  (await world.swap(caller, { sender: alice, give: "SOL", get: "USDC", amount: AMOUNT })).body;

/** What counts against the limit, by the reservations' own words. */
async function counted(): Promise<bigint> {
  const rows = await world.storage.reservations(`desk ${world.desk} gives ${world.mints.USDC} in a day`);
  return rows.reduce((sum, { amount }) => sum + amount, 0n);
}

test("what was given counts for 24 hours, and then no more", async () => {
  await open();
  const callers = await Promise.all(Array.from({ length: 12 }, () => world.caller()));
  for (const caller of callers.slice(0, 10)) await sell(caller);
  await world.finalize();
  expect(await world.promised("USDC")).toBe(0n);
  expect(await counted()).toBe(GIVEN * 10n);
  const [last] = callers.slice(10);
  if (last === undefined) throw new Error("twelve callers were made");
  await expectRefusal(sale(last), "INSUFFICIENT_LIQUIDITY", { available: "1" });

  await world.pass(24 * HOUR_MS - 60_000);
  await expectRefusal(sale(last), "INSUFFICIENT_LIQUIDITY", { available: "1" });
  await world.pass(60_000);
  await sell(last);
  await world.finalize();
  expect(await counted()).toBe(GIVEN);
});

test("another asset has no limit where none is named", async () => {
  await open();
  const caller = await world.caller();
  const quote = await world.quote(caller, { sender: alice, give: "SOL", get: "USDT", amount: "90" });
  expect(quote.outputAmount).toBe("13500");
});

test("of many quotes at once no more is promised than the limit has room for", async () => {
  await open();
  const callers = await Promise.all(Array.from({ length: 15 }, () => world.caller()));
  const results = await Promise.allSettled(callers.map(sale));
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
  expect(await counted()).toBe(GIVEN * 10n);
});

test("one account cannot take up the limit for the others with open quotes", async () => {
  await open();
  const [greedy, modest] = [await world.caller(), await world.caller()];
  await sale(greedy);
  await expectRefusal(sale(greedy), "INSUFFICIENT_LIQUIDITY", { available: "0.1" });
  await sale(modest);
});

test("a quote that lapses, and a swap that fails, count no more", async () => {
  await open();
  const caller = await world.caller();
  await sale(caller);
  await world.pass(31_000);
  await sale(caller);
  expect(await counted()).toBe(GIVEN);
  await world.pass(31_000);

  world.chain.faults.add(({ method }) => (method === "sendTransaction" ? { kind: "drop" } : undefined));
  const { transactionId } = await sell(caller);
  for (let round = 0; round < 6; round++) {
    world.chain.advance(60);
    await world.pass(1_000);
  }
  expect(await world.service.transaction(caller, transactionId)).toMatchObject({ status: "failed" });
  expect(await counted()).toBe(0n);
});

test("a swap that was cancelled counts no more", async () => {
  await open({ options: { broadcastDelayMs: 5_000 } });
  const caller = await world.caller();
  const { transactionId } = await sell(caller);
  expect(await counted()).toBe(GIVEN);
  await world.service.cancelTransaction(caller, transactionId);
  expect(await counted()).toBe(0n);
});

test("a private swap counts like any other, and at the limit is refunded", async () => {
  await open();
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
  const given = await counted();
  expect(given).toBeGreaterThan(GIVEN / 2n);

  for (const caller of callers.slice(1)) await sell(caller);
  await world.finalize();
  await late.pay();
  for (let minute = 0; minute < 7; minute++) {
    await world.pass(60_000);
    await world.settle(2);
  }
  expect(await world.service.transaction(callers[1] ?? first, late.id)).toMatchObject({
    ...{ status: "failed", reason: "LIQUIDITY_UNAVAILABLE" },
    refunds: [{ status: "paid" }],
  });
});
