/** The desk's prices by themselves: never more out than the pool allows, rounded down, and never a gain by going round. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { isPaymentError } from "../../../src/errors/errors.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { keypairSigner } from "../../../src/ledger/sign-transaction.ts";
import {
  assetsWith,
  MAINNET_GENESIS,
  MAINNET_STABLECOINS,
} from "../../../src/payments/frame/assets/assets.ts";
import { constantProduct, lessSpread, priceImpact } from "../../../src/payments/swap/desk/desk-terms.ts";
import { fixedPrices } from "../../../src/payments/frame/prices/prices.ts";
import { deskProvider, type DeskOptions } from "../../../src/payments/swap/desk/desk-provider.ts";
import type { Swapper, WantedReservation } from "../../../src/payments/frame/exchange/swap-provider.ts";
import { silentLogger } from "../../../src/core/runtime.ts";
import { virtualClock } from "../../kit/virtual-clock.ts";
import { runsOf } from "../../kit/thorough.ts";

const reserve = fc.bigInt({ min: 1n, max: 2n ** 63n });
const amount = fc.bigInt({ min: 1n, max: 2n ** 63n });
const spread = fc.integer({ min: 0, max: 1_000 });

describe("a pool", () => {
  test("never gives so much that the product of what it holds would shrink, and never all of it", () => {
    fc.assert(
      fc.property(reserve, reserve, amount, (give, get, paid) => {
        const out = constantProduct(paid, { give, get });
        expect(out).toBeLessThan(get);
        expect((give + paid) * (get - out) >= give * get).toBe(true);
        // Rounded down, by less than one unit.
        expect((give + paid) * (get - out - 1n) < give * get || get === out + 1n).toBe(true);
      }),
    );
  });

  test("going round never gains, whatever the order and the sizes", () => {
    fc.assert(
      fc.property(
        reserve,
        reserve,
        fc.array(amount, { minLength: 1, maxLength: 8 }),
        spread,
        (x, y, parts, bps) => {
          let pool = { give: x, get: y };
          let got = 0n;
          for (const part of parts) {
            const out = constantProduct(lessSpread(part, bps), pool);
            pool = { give: pool.give + part, get: pool.get - out };
            got += out;
          }
          if (got === 0n) return;
          const back = constantProduct(lessSpread(got, bps), { give: pool.get, get: pool.give });
          expect(back).toBeLessThanOrEqual(parts.reduce((sum, part) => sum + part, 0n));
        },
      ),
    );
  });

  test("the spread is rounded up, so that it is never nothing where there is one", () => {
    fc.assert(
      fc.property(amount, spread, (paid, bps) => {
        const kept = lessSpread(paid, bps);
        expect((paid - kept) * 10_000n >= paid * BigInt(bps)).toBe(true);
        expect(kept).toBeGreaterThanOrEqual(0n);
        expect(kept === paid).toBe(bps === 0);
      }),
    );
  });

  test("an empty pool gives nothing, and the price impact stays between 0 and 100 percent", () => {
    expect(constantProduct(5n, { give: 0n, get: 9n })).toBe(0n);
    expect(constantProduct(5n, { give: 9n, get: -1n })).toBe(0n);
    fc.assert(
      fc.property(reserve, amount, (give, paid) => {
        const impact = priceImpact(paid, { give, get: 1n });
        expect(impact).toBeGreaterThanOrEqual(0);
        expect(impact).toBeLessThanOrEqual(100);
      }),
    );
  });
});

const assets = assetsWith(MAINNET_STABLECOINS);
const SOL = assets.named("SOL");
const USDC = assets.named("USDC");
const desk = keypairSigner(new Uint8Array(32).fill(9));
const surroundings = { tokens: assets.tokens, clock: virtualClock(), log: silentLogger };

/** A desk that holds so many lamports and USDC, and the same number of USDT. */
function deskWith(held: { sol: bigint; usdc: bigint }, options: Partial<DeskOptions> = {}): Swapper {
  const ledger = {
    funds: async (_: readonly Address[], mints: readonly Address[]) => ({
      slot: 1,
      blockTime: 1,
      endpoint: "test",
      funds: [{ lamports: held.sol, tokens: mints.map(() => held.usdc) }],
    }),
    rentMinimum: async () => 0n,
    tokenAccountStates: async () => ["usable", "usable"],
  } as unknown as Ledger;
  return deskProvider({ desk, ...options }).connect({ ...surroundings, ledger });
}

/** Promises kept in a list, as storage keeps them in a table. */
class Book {
  readonly #rows: WantedReservation[] = [];
  readonly promised = async (resource: string): Promise<bigint> => this.#sum(resource);
  keep(wanted: readonly WantedReservation[]): void {
    for (const each of wanted) {
      this.#rows.push(each);
      const isTooMuch = each.most !== null && this.#sum(each.resource) > each.most;
      if (isTooMuch) throw new Error(`${each.resource} is promised more than there is`);
    }
  }
  #sum(resource: string): bigint {
    return this.#rows.filter((row) => row.resource === resource).reduce((sum, row) => sum + row.amount, 0n);
  }
}

describe("a desk", () => {
  test("all open quotes together are promised no more than one pool would give for all of it", async () => {
    const side = fc.bigInt({ min: 1_000_000n, max: 10n ** 15n });
    const sells = fc.array(fc.bigInt({ min: 1n, max: 10n ** 13n }), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(side, side, sells, spread, async (sol, usdc, parts, spreadBps) => {
        const swapper = deskWith({ sol, usdc }, { spreadBps });
        const book = new Book();
        let [given, got] = [0n, 0n];
        for (const [index, part] of parts.entries()) {
          const wanted = { give: SOL, get: USDC, amount: part, accountId: `account ${index}` };
          try {
            const offer = await swapper.offer(wanted, book.promised);
            book.keep(offer.reservations);
            given += part;
            got += offer.outputAmount;
          } catch (error) {
            const isExpected = isPaymentError(error, "INSUFFICIENT_LIQUIDITY");
            if (!isExpected) throw error;
          }
        }
        expect(got).toBeLessThanOrEqual(constantProduct(given, { give: sol, get: usdc }));
        expect((sol + given) * (usdc - got) >= sol * usdc).toBe(true);
      }),
      { numRuns: runsOf(60) },
    );
  });

  test("what is promised one way never makes the other way better, nor its own", async () => {
    const swapper = deskWith({ sol: 10n ** 12n, usdc: 15n * 10n ** 10n });
    const book = new Book();
    const buy = { give: USDC, get: SOL, amount: 150_000_000n, accountId: "buyer" };
    const sell = { give: SOL, get: USDC, amount: 10n ** 9n, accountId: "seller" };
    const before = [await swapper.offer(buy, book.promised), await swapper.offer(sell, book.promised)];
    book.keep((await swapper.offer({ ...sell, amount: 5n * 10n ** 10n }, book.promised)).reservations);
    const after = [await swapper.offer(buy, book.promised), await swapper.offer(sell, book.promised)];
    expect(after[0]?.outputAmount).toBe(before[0]?.outputAmount);
    expect(after[1]?.outputAmount).toBeLessThan(before[1]?.outputAmount ?? 0n);
  });

  test("with prices of its own it offers them less the spread, rounded down, whatever it holds", async () => {
    const prices = { rate: async () => ({ give: 3n, get: 1n }) };
    const swapper = deskWith({ sol: 10n ** 12n, usdc: 10n ** 12n }, { prices, spreadBps: 100 });
    await fc.assert(
      fc.asyncProperty(fc.bigInt({ min: 100n, max: 10n ** 10n }), async (paid) => {
        const book = new Book();
        const wanted = { give: SOL, get: USDC, amount: paid, accountId: "a" };
        const { outputAmount, priceImpact: impact } = await swapper.offer(wanted, book.promised);
        expect(outputAmount).toBe(lessSpread(paid, 100) / 3n);
        expect(impact).toBe(0);
      }),
    );
  });

  test("its inventory's price is refused on mainnet; a price source is not", async () => {
    const held = { sol: 10n ** 12n, usdc: 10n ** 12n };
    await expect(deskWith(held).check(MAINNET_GENESIS)).rejects.toMatchObject({ name: "StartRefused" });
    await deskWith(held).check("another chain");
    await deskWith(held, { prices: { rate: async () => ({ give: 1n, get: 1n }) } }).check(MAINNET_GENESIS);
  });

  test("prices that never move are refused on mainnet, and nowhere else", async () => {
    const prices = fixedPrices({ [SOL.mint]: 1n, [USDC.mint]: 1n });
    const swapper = deskWith({ sol: 10n ** 12n, usdc: 10n ** 12n }, { prices });
    await expect(swapper.check(MAINNET_GENESIS)).rejects.toThrow(
      "deskProvider: prices: these prices never move",
    );
    await swapper.check("another chain");
  });

  test("what it lacks to be of any use is said at the start, with the amount missing", async () => {
    const said: object[] = [];
    const ledger = {
      funds: async () => ({
        slot: 1,
        blockTime: 1,
        endpoint: "x",
        funds: [{ lamports: 1_000n, tokens: [0n, 10_000n] }],
      }),
      rentMinimum: async () => 900n,
      tokenAccountStates: async () => ["usable", "frozen"],
    } as unknown as Ledger;
    const log = { ...silentLogger, warn: (fields: object) => void said.push(fields) };
    await deskProvider({ desk })
      .connect({ ...surroundings, ledger, log })
      .warn?.();
    expect(said).toEqual([
      { desk: desk.address, asset: "SOL", missing: "0.0099999" },
      { desk: desk.address, asset: "USDC", missing: "0.01" },
      { purse: "desk", owner: desk.address, asset: assets.tokens[2]?.symbol, found: "frozen" },
    ]);
  });

  test("wrong options are all named", () => {
    const make = () =>
      deskProvider({
        desk: {},
        spreadBps: 1_001,
        prices: 5,
        maxDriftBps: -1,
        priceBounds: { maxAgeMs: 1, maxDeviationBps: 5_001 },
      } as unknown as DeskOptions);
    expect(make).toThrow(
      /desk: expected a signer[^]*prices: expected a price source[^]*priceBounds.maxAgeMs[^]*priceBounds.maxDeviationBps[^]*spreadBps[^]*maxDriftBps/,
    );
    expect(() => deskProvider({ desk, priceBounds: {} })).toThrow("priceBounds: give `prices` too");
  });

  test("a limit per day of an asset that is none, or of no amount, is named when the service is made", () => {
    const make = () =>
      deskWith(
        { sol: 1n, usdc: 1n },
        { maxGivenPerDay: { EUR: "1", SOL: "0", USDC: "0.0000001", USDT: "1e3" } },
      );
    expect(make).toThrow(
      /maxGivenPerDay.EUR: expected one of SOL, USDC, USDT[^]*SOL: expected an amount above zero[^]*USDC: USDC has 6 decimals[^]*USDT: expected a decimal string/,
    );
  });
});
