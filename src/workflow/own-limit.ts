/** Limits that a host sets on an effect or a promise: by one key, or by two keys, the second within the first. */
import type { Limit, TaskRecord } from "../../storage/storage.ts";
import { thrownText } from "../thrown.ts";
import { NOT_KEPT } from "./values.ts";

/** A rate: in no span of `perMs` milliseconds (a day at most) begin more than `count` (1,000 at most). */
export interface Rate {
  readonly count: number;
  readonly perMs: number;
}

/** A limit on what runs at once, and with `rate` on what begins within a span of time. */
export interface RatedLimit extends Limit {
  /** Each run counts as it begins, retries and runs of processes that ended included. */
  readonly rate?: Rate;
  /**
   * A whole number, default 0: of those that wait for a place a larger one goes first, and those of one number in the order
   * of asking. A smaller one waits as long as larger ones come. Of two limits the first one says it.
   */
  readonly priority?: number;
}

/**
 * Limits the effects and promises of a key to `atMost` running at a time, over all processes; the others wait in the
 * order of asking. A second limit lies within the first, as
 * `[{ key: account, atMost: 8 }, { key: webhook, atMost: 4 }]`. With `rate: { count: 10, perMs: 1_000 }` no more than
 * ten of a key begin within any second. A function is asked at each step and each run, and must be pure.
 * `engine.setLimit` changes the numbers of a key at run time.
 */
export type OwnLimit<Params> =
  RatedLimit | readonly RatedLimit[] | ((params: Params) => RatedLimit | readonly RatedLimit[]);

/** The rate of a key; null where its tasks have none of their own. */
export interface KeyRate {
  readonly key: string;
  readonly rate: Rate | null;
}

/** What a start under a rate remembers, and so the most of them. */
const MAX_COUNT = 1_000;
const MAX_PER_MS = 86_400_000;

/** How a task is limited. @throws TypeError when a rate or a priority is wrong. */
export function limitsFor<Params>(
  limit: OwnLimit<Params> | undefined,
  params: Params,
): Pick<TaskRecord, "limits" | "priority"> {
  const given = givenLimits(limit, params);
  const [first, second] = given;
  if (second?.priority !== undefined) {
    throw new TypeError(`limit ${second.key}: priority: the first limit says it, ${first?.key}`);
  }
  const { priority = 0 } = first ?? {};
  if (!Number.isSafeInteger(priority)) {
    throw new TypeError(`limit ${first?.key}: priority is ${priority}, which is no whole number`);
  }
  const limits = given.map(({ key, atMost }) => ({ key, atMost }));
  return priority === 0 ? { limits } : { limits, priority };
}

/** The keys under whose rates a run begins. @throws TypeError when one is wrong. */
export function ratesFor<Params>(limit: OwnLimit<Params> | undefined, params: Params): readonly KeyRate[] {
  return givenLimits(limit, params).map(({ key, rate = null }) => ({ key, rate }));
}

const FIELDS: readonly string[] = ["key", "atMost", "rate", "priority"] satisfies (keyof RatedLimit)[];

/** What is wrong with a limit as it was declared: one that a function returns is seen when it is asked. */
export function limitProblems(limit: unknown): string[] {
  if (limit === undefined || typeof limit === "function") return [];
  try {
    limitsFor(limit as RatedLimit, undefined);
    return [];
  } catch (error) {
    return [thrownText(error)];
  }
}

function givenLimits<Params>(limit: OwnLimit<Params> | undefined, params: Params): readonly RatedLimit[] {
  const given = typeof limit === "function" ? limit(params) : (limit ?? []);
  const limits: readonly unknown[] = Array.isArray(given) ? given : [given];
  checkLimits(limits);
  return limits;
}

/** Who does not compile may give anything, and a function too: a key that is missing would limit nothing. */
function checkLimits(limits: readonly unknown[]): asserts limits is readonly RatedLimit[] {
  for (const limit of limits) {
    if (typeof limit !== "object" || limit === null) {
      throw new TypeError(
        "limit: expected { key, atMost }, two of them in a list, or a function that returns this",
      );
    }
    const { key, rate } = limit as Partial<RatedLimit>;
    if (typeof key !== "string" || key === "" || NOT_KEPT.test(key)) {
      throw new TypeError(
        "limit: key: expected text that is not empty, without NUL and halves of characters: without a key nothing is limited",
      );
    }
    const unknown = Object.keys(limit).find((field) => !FIELDS.includes(field));
    if (unknown !== undefined) {
      throw new TypeError(`limit ${key}: ${unknown} is not known: expected only ${FIELDS.join(", ")}`);
    }
    if (rate !== undefined) checkRate(key, rate);
  }
  checkKeys(limits as readonly RatedLimit[]);
}

function checkKeys(limits: readonly RatedLimit[]): void {
  // A start commits one row for each key: of two it could never commit both.
  const twice = limits.find(({ key }, at) => limits.findIndex((each) => each.key === key) < at);
  if (twice !== undefined) throw new TypeError(`limit ${twice.key} is there twice`);
}

/** @throws TypeError when a rate is wrong. */
export function checkRate(key: string, rate: Rate | null): void {
  if (typeof rate !== "object" || rate === null) {
    throw new TypeError(`limit ${key}: rate: expected { count, perMs }`);
  }
  const { count, perMs } = rate;
  if (!Number.isSafeInteger(count) || count < 1 || count > MAX_COUNT) {
    throw new TypeError(
      `limit ${key}: rate.count is ${count}, which is no whole number from 1 to ${MAX_COUNT}`,
    );
  }
  if (!Number.isSafeInteger(perMs) || perMs < 1 || perMs > MAX_PER_MS) {
    throw new TypeError(
      `limit ${key}: rate.perMs is ${perMs}, which is no whole number from 1 to ${MAX_PER_MS} (a day)`,
    );
  }
}
