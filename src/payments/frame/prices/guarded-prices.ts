/** A price source that is not believed blindly: impossible, old and jumping prices are refused before money depends on them. */
import { z } from "zod";
import type { Clock } from "../../../core/runtime.ts";
import { optionsWith } from "../../../core/options.ts";
import type { PriceSource, Rate } from "./prices.ts";

const priceBounds = optionsWith({
  /**
   * Oldest price that is used, in milliseconds, 1,000 to 3,600,000, for a source that tells when the market had its price
   * (`Rate.at`). As far in the future a price is refused too: its clock, or ours, is wrong. Default 60,000.
   */
  maxAgeMs: z.number().int().min(1_000).max(3_600_000).default(60_000),
  /**
   * How far a price may be off the last accepted one of the same two assets, in hundredths of a percent, 10 to 5,000.
   * A price further off is refused until the source is back within the bound, or until the last accepted price is an hour
   * old. The memory is each process's own: a restart accepts the next price as it is. Default 1,000 (10 %).
   */
  maxDeviationBps: z.number().int().min(10).max(5_000).default(1_000),
});

/** Bounds on believable prices of a source. */
export interface PriceBounds extends z.input<typeof priceBounds> {}

/** The bounds with their defaults filled in. */
export type CheckedPriceBounds = Readonly<z.output<typeof priceBounds>>;

/** Checks `PriceBounds`. */
export const priceBoundsOption: z.ZodType<CheckedPriceBounds, PriceBounds> = priceBounds;

/** Thrown instead of a price that must not be used. The message names the price and the bound. */
class PriceRefused extends Error {
  override readonly name = "PriceRefused";
}

/** The time for which the next prices are compared with an accepted price. */
const REFERENCE_MS = 60 * 60_000;
/** A source that has not answered by then has no price. A caller of the API is waiting. */
const PATIENCE_MS = 5_000;
/** The most that either side of a rate may be: far above 2^64 - 1 base units, and small enough to multiply. */
const MOST = 2n ** 128n - 1n;
const BPS = 10_000n;

interface Accepted {
  readonly rate: Rate;
  /** The time when the price was accepted, on our clock. */
  readonly at: number;
}

/**
 * A source whose prices are checked: two bigints of 1 to 2^128 − 1, not older than `maxAgeMs`, and not further than
 * `maxDeviationBps` off the last accepted price. Anything else, an error of the source, and five seconds without an
 * answer reject; nothing is ever made up in place of a price.
 */
export class GuardedPriceSource implements PriceSource {
  readonly #source: PriceSource;
  readonly #bounds: CheckedPriceBounds;
  readonly #clock: Clock;
  /** Accepted prices by the two mints in alphabetical order: a price and its inverse are one entry. */
  readonly #accepted = new Map<string, Accepted>();

  constructor(source: PriceSource, bounds: CheckedPriceBounds, clock: Clock) {
    this.#source = source;
    this.#bounds = bounds;
    this.#clock = clock;
  }

  get isFixed(): boolean {
    return this.#source.isFixed === true;
  }

  async rate(giveMint: string, getMint: string): Promise<Rate> {
    const pair = `${giveMint} in ${getMint}`;
    const { give, get, at } = shapeOf(await this.#ask(giveMint, getMint), pair);
    this.#refuseOld(at, pair);
    this.#refuseJump({ give, get }, giveMint, getMint);
    return { give, get };
  }

  async #ask(giveMint: string, getMint: string): Promise<unknown> {
    const answered = new AbortController();
    const silence = this.#clock.sleep(PATIENCE_MS, answered.signal).then((): never => {
      throw new PriceRefused(`the price source has not answered within ${PATIENCE_MS} ms`);
    });
    // Once there is an answer, or an error, the silence is not waited for any more.
    silence.catch(() => undefined);
    try {
      return await Promise.race([this.#source.rate(giveMint, getMint), silence]);
    } finally {
      answered.abort();
    }
  }

  #refuseOld(at: number | undefined, pair: string): void {
    if (at === undefined) return;
    const { maxAgeMs } = this.#bounds;
    const age = this.#clock.now() - at;
    if (Math.abs(age) <= maxAgeMs) return;
    const words = age > 0 ? `is ${age} ms old` : `is of a time ${-age} ms from now`;
    throw new PriceRefused(`the price of ${pair} ${words}; at most ${maxAgeMs} are allowed`);
  }

  /** Compares with the last accepted price, and becomes it. */
  #refuseJump(rate: Rate, giveMint: string, getMint: string): void {
    const isInOrder = giveMint < getMint;
    const key = isInOrder ? `${giveMint} ${getMint}` : `${getMint} ${giveMint}`;
    const ordered = isInOrder ? rate : { give: rate.get, get: rate.give };
    const last = this.#accepted.get(key);
    const now = this.#clock.now();
    const { maxDeviationBps } = this.#bounds;
    const isReference = last !== undefined && now - last.at < REFERENCE_MS;
    if (isReference && isFurtherOff(ordered, last.rate, BigInt(maxDeviationBps))) {
      throw new PriceRefused(
        `the price of ${giveMint} in ${getMint} is more than ${maxDeviationBps} bps off the last accepted one`,
      );
    }
    this.#accepted.set(key, { rate: ordered, at: now });
  }
}

/** The answer as a rate. A source is the host's own code, so that nothing about its answer is certain. */
function shapeOf(answer: unknown, pair: string): Rate {
  const { give, get, at } = (typeof answer === "object" && answer !== null ? answer : {}) as Record<
    keyof Rate,
    unknown
  >;
  if (!isPart(give) || !isPart(get)) {
    throw new PriceRefused(
      `the price of ${pair} is not usable: expected { give, get } with two bigints above 0 and below 2^128`,
    );
  }
  if (at === undefined) return { give, get };
  if (typeof at === "number" && Number.isFinite(at)) return { give, get, at };
  throw new PriceRefused(`the price of ${pair} is not usable: expected \`at\` in milliseconds since 1970`);
}

function isPart(value: unknown): value is bigint {
  return typeof value === "bigint" && value > 0n && value <= MOST;
}

/** Whether one price is more than so many hundredths of a percent above or below another. Exact: no division. */
function isFurtherOff(rate: Rate, reference: Rate, bps: bigint): boolean {
  const now = rate.get * reference.give;
  const then = reference.get * rate.give;
  const difference = now > then ? now - then : then - now;
  return difference * BPS > then * bps;
}
