/** M13: a price source is believed within bounds only: impossible, old, jumping and silent ones give no price. */
// modules: private
import fc from "fast-check";
import { describe, expect, test as vitestTest } from "vitest";
import {
  GuardedPriceSource,
  priceBoundsOption,
  type CheckedPriceBounds,
} from "../../../src/payments/frame/prices/guarded-prices.ts";
import { type PriceSource, fixedPrices } from "../../../src/payments/frame/prices/prices.ts";
import { virtualClock } from "../../kit/virtual-clock.ts";

const DEFAULTS: CheckedPriceBounds = priceBoundsOption.parse({});
const HOUR_MS = 60 * 60_000;

/** Prices behind the guard, of a source that says what a test wants it to. */
class Guard {
  readonly clock = virtualClock();
  /** What the source says next. */
  #answer: unknown;
  prices = this.guarded();

  guarded(bounds: Partial<CheckedPriceBounds> = {}): PriceSource {
    const source = { rate: async () => this.#answer } as unknown as PriceSource;
    return new GuardedPriceSource(source, { ...DEFAULTS, ...bounds }, this.clock);
  }

  /** What is given for a price that the source says. */
  ask(said: unknown, give = "SOL", get = "USDC"): ReturnType<PriceSource["rate"]> {
    this.#answer = said;
    return this.prices.rate(give, get);
  }
}

const test = vitestTest.extend("guard", ({}) => new Guard());

const refused = { name: "PriceRefused" };

describe("M13: the shape", () => {
  test.for([
    [{ give: 0n, get: 1n }],
    [{ give: 1n, get: 0n }],
    [{ give: -1n, get: 1n }],
    [{ give: 1n, get: -150n }],
    [{ give: 1, get: 150 }],
    [{ give: NaN, get: NaN }],
    [{ give: 1n, get: NaN }],
    [{ give: "1", get: "150" }],
    [{ give: 1n }],
    [{ give: 2n ** 128n, get: 1n }],
    [{}],
    [null],
    [undefined],
    [150n],
    ["150"],
    [{ give: 1n, get: 1n, at: NaN }],
    [{ give: 1n, get: 1n, at: "now" }],
    [{ give: 1n, get: 1n, at: null }],
  ] as const)("%o is no price", async ([said], { guard }) => {
    await expect(guard.ask(said)).rejects.toMatchObject(refused);
    // Nor is it remembered as one.
    await guard.ask({ give: 1n, get: 150n });
  });

  test("two bigints above zero are a price, and nothing is made of them", async ({ guard }) => {
    const part = fc.bigInt({ min: 1n, max: 2n ** 128n - 1n });
    await fc.assert(
      fc.asyncProperty(part, part, async (give, get) => {
        guard.prices = guard.guarded();
        expect(await guard.ask({ give, get })).toEqual({ give, get });
      }),
    );
  });

  test("what a source throws is passed on", async ({ guard }) => {
    const source: PriceSource = { rate: () => Promise.reject(new Error("the market is closed")) };
    const closed = new GuardedPriceSource(source, DEFAULTS, guard.clock);
    await expect(closed.rate("SOL", "USDC")).rejects.toThrow("the market is closed");
  });

  test("a source that throws before it answers is one that throws", async ({ guard }) => {
    const source = {
      rate() {
        throw new Error("no key is configured");
      },
    };
    const broken = new GuardedPriceSource(source, DEFAULTS, guard.clock);
    await expect(broken.rate("SOL", "USDC")).rejects.toThrow("no key is configured");
  });

  test("a source that does not answer within five seconds has no price", async ({ guard }) => {
    const silent = new GuardedPriceSource({ rate: () => new Promise(() => {}) }, DEFAULTS, guard.clock);
    const asked = silent.rate("SOL", "USDC");
    guard.clock.advance(5_000);
    await expect(asked).rejects.toMatchObject(refused);
  });

  test("prices that never move are known as such through the guard", ({ guard }) => {
    expect(new GuardedPriceSource(fixedPrices({}), DEFAULTS, guard.clock).isFixed).toBe(true);
    expect(guard.guarded().isFixed).toBe(false);
  });
});

describe("M13: the age", () => {
  const at = (guard: Guard, ms: number) => ({ give: 1n, get: 150n, at: guard.clock.now() + ms });

  test("a price of the last minute is used, an older one is not, nor yesterday's", async ({ guard }) => {
    await guard.ask(at(guard, 0));
    await guard.ask(at(guard, -60_000));
    await expect(guard.ask(at(guard, -60_001))).rejects.toThrow("60001 ms old");
    await expect(guard.ask(at(guard, -24 * HOUR_MS))).rejects.toMatchObject(refused);
    await expect(guard.ask({ give: 1n, get: 150n, at: guard.clock.now() / 1_000 })).rejects.toMatchObject(
      refused,
    );
  });

  test("a price of the future is used within the same bound only", async ({ guard }) => {
    await guard.ask(at(guard, 60_000));
    await expect(guard.ask(at(guard, 60_001))).rejects.toMatchObject(refused);
  });

  test("the bound is an option", async ({ guard }) => {
    guard.prices = guard.guarded({ maxAgeMs: 1_000 });
    await guard.ask(at(guard, -1_000));
    await expect(guard.ask(at(guard, -1_001))).rejects.toMatchObject(refused);
  });
});

describe("M13: the deviation", () => {
  const dollars = (many: number) => ({ give: 1_000n, get: BigInt(many) * 10n });

  test("20 % off the last accepted price is refused, up or down, and the first price is taken as it is", async ({
    guard,
  }) => {
    await guard.ask(dollars(150));
    await expect(guard.ask(dollars(180))).rejects.toThrow("more than 1000 bps off");
    await expect(guard.ask(dollars(120))).rejects.toMatchObject(refused);
    await guard.ask(dollars(151));
  });

  test("exactly the bound is accepted, and a hair more is not", async ({ guard }) => {
    await guard.ask({ give: 1_000n, get: 100_000n });
    await expect(guard.ask({ give: 1_000n, get: 110_001n })).rejects.toMatchObject(refused);
    await expect(guard.ask({ give: 1_000n, get: 89_999n })).rejects.toMatchObject(refused);
    await guard.ask({ give: 1_000n, get: 110_000n });
  });

  test("a refused price is no reference: repeating it does not make it true", async ({ guard }) => {
    await guard.ask(dollars(150));
    for (let time = 0; time < 5; time++) {
      await expect(guard.ask(dollars(180))).rejects.toMatchObject(refused);
      guard.clock.advance(60_000);
    }
    await guard.ask(dollars(150));
  });

  test("an accepted price of an hour ago is no reference any more", async ({ guard }) => {
    await guard.ask(dollars(150));
    guard.clock.advance(HOUR_MS - 1);
    await expect(guard.ask(dollars(180))).rejects.toMatchObject(refused);
    guard.clock.advance(1);
    await guard.ask(dollars(180));
    await expect(guard.ask(dollars(150))).rejects.toMatchObject(refused);
  });

  test("a price and its inverse are one, two other assets are another", async ({ guard }) => {
    await guard.ask(dollars(150));
    const inverse = (many: number) => ({ give: BigInt(many) * 10n, get: 1_000n });
    await expect(guard.ask(inverse(180), "USDC", "SOL")).rejects.toMatchObject(refused);
    await guard.ask(inverse(151), "USDC", "SOL");
    await guard.ask(dollars(1), "USDC", "USDT");
  });

  test("the bound is an option", async ({ guard }) => {
    guard.prices = guard.guarded({ maxDeviationBps: 100 });
    await guard.ask(dollars(100));
    await expect(guard.ask(dollars(102))).rejects.toMatchObject(refused);
    await guard.ask(dollars(101));
  });

  test("the same price in other units is the same price", async ({ guard }) => {
    await guard.ask({ give: 1n, get: 150n });
    const fine = { give: 10n ** 18n, get: 150n * 10n ** 18n };
    expect(await guard.ask(fine)).toEqual(fine);
  });
});
