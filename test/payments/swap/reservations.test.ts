/** What open quotes and swaps under way set aside: never more than there is, and never for ever. */
import { afterEach, expect, test } from "vitest";
import { SOL_MINT } from "../../../src/core/address.ts";
import { isPaymentError } from "../../../src/errors/errors.ts";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import { fixedPrices, type PriceSource } from "../../../src/payments/frame/prices/prices.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import type { QuoteBody } from "../../../src/payments/frame/quotes/quote-body.ts";
import { adapters } from "../../kit/adapters.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { units } from "../../kit/money.ts";
import { INVENTORY, swapFixture, type SwapFixture } from "../../kit/swap-fixture.ts";
import { drawn } from "../../kit/thorough.ts";
import { expectRefusal } from "../wallet/wallet-world.ts";

const DESK_USDC = INVENTORY.usdc ?? 0n;

let world: SwapFixture;
let alice: Wallet;
afterEach(() => world.close());

/** A desk that knows no market unless it is given one. */
async function open(prices?: PriceSource, storage?: PaymentStorage): Promise<void> {
  const options = storage === undefined ? {} : { storage };
  world = await swapFixture({ desk: prices === undefined ? {} : { prices }, options });
  alice = world.wallet("alice", { lamports: 400_000_000_000n, usdc: 1n });
}

/** One SOL is 150 dollars, whatever the mints are called on this chain. */
const market: PriceSource = {
  rate: (give, get) =>
    fixedPrices({
      [give]: give === SOL_MINT ? 1_000_000_000n : 150_000_000n,
      [get]: get === SOL_MINT ? 1_000_000_000n : 150_000_000n,
    }).rate(give, get),
};

const sell = (caller: Caller, amount: string): Promise<QuoteBody> =>
  world.quote(caller, { sender: alice, give: "SOL", get: "USDC", amount });

/** The quotes that were made; every other was refused for lack of liquidity. */
async function made(quotes: readonly Promise<QuoteBody>[]): Promise<readonly QuoteBody[]> {
  const results = await Promise.allSettled(quotes);
  for (const each of results) {
    const isOther = each.status === "rejected" && !isPaymentError(each.reason, "INSUFFICIENT_LIQUIDITY");
    if (isOther) throw each.reason;
  }
  return results.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
}

const sumOf = (quotes: readonly QuoteBody[]): bigint =>
  quotes.reduce((sum, { outputAmount }) => sum + units(outputAmount, 6), 0n);

const callers = (count: number): Promise<Caller[]> =>
  Promise.all(Array.from({ length: count }, () => world.caller()));

test("of 20 quotes at once no more is promised than the desk has, to the last unit", async () => {
  await open(market);
  // Each asks for 9.97 % of the inventory: ten fit.
  const quotes = await made((await callers(20)).map((caller) => sell(caller, "100")));
  expect(quotes).toHaveLength(10);
  expect(await world.promised("USDC")).toBe(sumOf(quotes));
  expect(sumOf(quotes)).toBeLessThanOrEqual(DESK_USDC);
});

test("of 20 quotes at once each knows all that were promised before: together they get what one of all would", async () => {
  await open();
  const quotes = await made((await callers(20)).map((caller) => sell(caller, "10")));
  expect(quotes).toHaveLength(20);
  const [sol, given] = [INVENTORY.lamports ?? 0n, units("200", 9)];
  const all = (DESK_USDC * given) / (sol + given);
  expect(sumOf(quotes)).toBeLessThan(all);
  expect(new Set(quotes.map(({ outputAmount }) => outputAmount)).size).toBe(20);
});

test.each(drawn(adapters, "reservations of processes"))(
  "of several processes on one database the same holds, on $name",
  async ({ make }) => {
    const database = await make();
    const handles = [await database.open(), await database.open(), await database.open()];
    await open(undefined, handles[0]);
    const others = handles.slice(1).map((storage) => world.another({ storage }));
    const services = [world.service, ...others];
    const accounts = await callers(12);
    const request = { inputAsset: "SOL", outputAsset: "USDC", amount: "10", sender: alice.address };
    const quotes = await made(
      accounts.map(async (caller, index) => {
        const service = services[index % services.length] ?? world.service;
        return (await service.createQuote(caller, request)).body;
      }),
    );
    expect(quotes).toHaveLength(12);
    const [sol, given] = [INVENTORY.lamports ?? 0n, units("120", 9)];
    expect(sumOf(quotes)).toBeLessThan((DESK_USDC * given) / (sol + given));
    expect(await world.promised("USDC")).toBe(sumOf(quotes));

    // What one of them has quoted another one takes.
    const [caller] = accounts;
    const [quote] = quotes;
    if (caller === undefined || quote === undefined) throw new Error("something was quoted");
    const taken = (others[0] ?? world.service).createTransaction(caller, world.signed(quote, alice));
    const { transactionId } = (await taken).body;
    await world.finalize();
    expect(await world.service.transaction(caller, transactionId)).toMatchObject({ status: "completed" });
    expect(await world.promised("USDC")).toBe(sumOf(quotes) - units(quote.outputAmount, 6));
    await world.service.stop();
    await Promise.all([...new Set(handles)].map((handle) => handle.close()));
    await database.destroy();
  },
);

test("one account has at most a tenth of the inventory set aside, and is told what it may still have", async () => {
  await open(market);
  const [greedy, modest] = await callers(2);
  if (greedy === undefined || modest === undefined) throw new Error("two callers were made");
  await expectRefusal(sell(greedy, "101"), "INSUFFICIENT_LIQUIDITY", { available: "15000" });
  const quotes = await made(Array.from({ length: 5 }, () => sell(greedy, "40")));
  expect(quotes).toHaveLength(2);
  const left = DESK_USDC / 10n - sumOf(quotes);
  await expectRefusal(sell(greedy, "40"), "INSUFFICIENT_LIQUIDITY", {
    available: String(Number(left) / 1e6),
  });
  await sell(modest, "40");
});

test("open quotes worsen the price in their own direction, and never improve the other", async () => {
  await open();
  const [one, other] = await callers(2);
  if (one === undefined || other === undefined) throw new Error("two callers were made");
  const bob = world.wallet("bob", { lamports: 1_000_000_000n, usdc: 1_000_000_000n });
  const price = async (give: string, get: string, amount: string) =>
    (await world.service.createQuote(other, { inputAsset: give, outputAsset: get, amount })).body;
  const before = { sell: await price("SOL", "USDC", "1"), buy: await price("USDC", "SOL", "150") };
  await sell(one, "90");
  const after = { sell: await price("SOL", "USDC", "1"), buy: await price("USDC", "SOL", "150") };
  expect(Number(after.sell.outputAmount)).toBeLessThan(Number(before.sell.outputAmount));
  expect(after.buy.outputAmount).toBe(before.buy.outputAmount);
  expect(before.sell.priceImpact).toBeCloseTo(0.0999, 3);
  expect(bob.address).toBeTypeOf("string");
});

test("what is refreshed is set aside once, and for two minutes at most", async () => {
  await open();
  const [caller] = await callers(1);
  if (caller === undefined) throw new Error("a caller was made");
  const quote = await sell(caller, "10");
  for (const minutes of [0.4, 0.8, 1.2, 1.6]) {
    await world.pass(24_000);
    const { body } = await world.service.refreshQuote(caller, quote.quoteId);
    expect([minutes, body.outputAmount]).toEqual([minutes, quote.outputAmount]);
    expect(await world.promised("USDC")).toBe(units(quote.outputAmount, 6));
  }
  await world.pass(24_000);
  const { body: last } = await world.service.refreshQuote(caller, quote.quoteId);
  expect(last.outputAmount).toBe(quote.outputAmount);
  expect(await world.promised("USDC")).toBe(0n);
});

test("a quote without anything set aside is a price that must still be had when it is used", async () => {
  await open();
  const [caller, other] = await callers(2);
  if (caller === undefined || other === undefined) throw new Error("two callers were made");
  const late = async (): Promise<QuoteBody> => {
    const quote = await sell(caller, "10");
    await world.pass(125_000);
    const { body } = await world.service.refreshQuote(caller, quote.quoteId);
    return { ...quote, ...body };
  };
  const quote = await late();
  const { body } = await world.service.createTransaction(caller, world.signed(quote, alice));
  expect(await world.promised("USDC")).toBe(units(quote.outputAmount, 6));
  await world.finalize();
  expect(await world.service.transaction(caller, body.transactionId)).toMatchObject({ status: "completed" });
  expect(await world.promised("USDC")).toBe(0n);

  const second = await late();
  await sell(other, "10");
  const refused = world.service.createTransaction(caller, world.signed(second, alice));
  await expectRefusal(refused, "INVALID_QUOTE", { reason: "price_moved" });
});

test("what is promised is kept: others may take all that is left, the swap goes through", async () => {
  await open(market);
  const [caller, ...others] = await callers(12);
  if (caller === undefined) throw new Error("a caller was made");
  const quote = await sell(caller, "100");
  await made(others.map((other) => sell(other, "100")));
  const { body } = await world.service.createTransaction(caller, world.signed(quote, alice));
  await world.finalize();
  expect(await world.service.transaction(caller, body.transactionId)).toMatchObject({ status: "completed" });
});

test("a quote is kept or released, never both: what lapses as it is used must be had anew", async () => {
  await open();
  const [caller, other] = await callers(2);
  if (caller === undefined || other === undefined) throw new Error("two callers were made");
  const quote = await sell(caller, "10");
  const resource = `desk ${world.desk} gives ${world.mints.USDC}`;
  // Somebody whose clock is ahead of ours.
  const release = async (): Promise<void> => {
    const [row] = await world.storage.reservations(resource);
    if (row === undefined) throw new Error("something is set aside");
    const { id, version: expectedVersion } = row;
    const writes = [{ table: "reservations" as const, id, set: { releasedAt: 1 }, expectedVersion }];
    expect(await world.storage.commit([{ writes }])).toEqual([{ ok: true }]);
  };
  await release();
  const { body } = await world.service.createTransaction(caller, world.signed(quote, alice));
  expect(await world.promised("USDC")).toBe(units(quote.outputAmount, 6));
  await world.finalize();
  expect(await world.service.transaction(caller, body.transactionId)).toMatchObject({ status: "completed" });

  const second = await sell(caller, "10");
  await release();
  await sell(other, "10");
  const used = world.service.createTransaction(caller, world.signed(second, alice));
  await expectRefusal(used, "INVALID_QUOTE", { reason: "price_moved" });
  expect(world.deskSigned()).toBe(1);
});

test("D35: what quotes have set aside does not lapse by a clock that was put on, and lapses as time passes", async () => {
  await open(market);
  const service = world.another({ ledger: { ...world.ledger, time: async () => null } });
  const quote = async (): Promise<unknown> =>
    service.createQuote(await world.caller(), {
      inputAsset: "SOL",
      outputAsset: "USDC",
      amount: "100",
      sender: alice.address,
    });
  for (let quotes = 0; quotes < 10; quotes += 1) await quote();
  world.clock.put(3_600_000);
  await expect(quote()).rejects.toMatchObject({ code: "INSUFFICIENT_LIQUIDITY" });
  world.clock.advance(31_000);
  await quote();
});
