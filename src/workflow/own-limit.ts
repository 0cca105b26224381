/** Limits that a host sets on an effect or a promise: by one key, or by two keys, the second within the first. */
import type { Limit, TaskRecord } from "../../storage/storage.ts";
import { thrownText } from "../core/thrown.ts";
import { LIMIT_OPTIONS, type LimitOptions } from "./limit-options.ts";
import { NOT_KEPT } from "./values.ts";

/** A limit on what runs at once, and with `rate` on what begins within a span of time. */
export interface RatedLimit extends Limit, LimitOptions {
  /**
   * A whole number, default 0: of those that wait for a place a larger one goes first, and those of one number in the order
   * of asking. A smaller one waits as long as larger ones come. With two limits, the first one says it.
   */
  readonly priority?: number;
}

/**
 * Limits the effects and promises of a key to `atMost` running at a time, over all processes; the others wait in the
 * order of asking. A second limit lies within the first, as `[{ key: account, atMost: 8 }, { key: webhook, atMost: 4 }]`, and
 * is counted within it alone: a key that is to hold over all stands first. With `rate: { count: 10, perMs: 1_000 }` no more than
 * ten of a key begin within any second. A function is asked at each step and each run, and must be pure.
 * `engine.setLimit` changes the numbers of a key at run time.
 */
export type OwnLimit<Params> =
  RatedLimit | readonly RatedLimit[] | ((params: Params) => RatedLimit | readonly RatedLimit[]);

const MAX_SHOWN_KEY = 60;

/** PostgreSQL indexes 2,700 bytes, and the two keys of a task stand in one row of an index. */
const MAX_KEY_BYTES = 1_300;
const MAX_BYTES_PER_UNIT = 3;

/** Keys that begin so are the engine's own. */
export const MESSAGE_KEYS = "message to ";

export const isLongKey = (key: string): boolean =>
  key.length * MAX_BYTES_PER_UNIT > MAX_KEY_BYTES && Buffer.byteLength(key) > MAX_KEY_BYTES;

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

const FIELDS = ["key", "atMost", ...LIMIT_OPTIONS.map(({ field }) => field), "priority"];

/** Faults in a declared limit: one that a function returns is seen when it is asked. */
export function limitProblems(limit: unknown): string[] {
  if (limit === undefined || typeof limit === "function") return [];
  try {
    limitsFor(limit as RatedLimit, undefined);
    return [];
  } catch (error) {
    return [thrownText(error)];
  }
}

/** The limits that a run begins under. @throws TypeError when one is wrong. */
export function givenLimits<Params>(
  limit: OwnLimit<Params> | undefined,
  params: Params,
): readonly RatedLimit[] {
  const given = typeof limit === "function" ? limit(params) : (limit ?? []);
  const limits: readonly unknown[] = Array.isArray(given) ? given : [given];
  checkLimits(limits);
  return limits;
}

/** Without a compiler a caller may give anything, also from a function: a key that is missing would limit nothing. */
function checkLimits(limits: readonly unknown[]): asserts limits is readonly RatedLimit[] {
  for (const limit of limits) {
    if (typeof limit !== "object" || limit === null) {
      throw new TypeError(
        "limit: expected { key, atMost }, two of them in a list, or a function that returns this",
      );
    }
    const { key, ...given } = limit as { readonly key?: unknown; readonly [field: string]: unknown };
    checkKey(key);
    const unknown = Object.keys(limit).find((field) => !FIELDS.includes(field));
    if (unknown !== undefined) {
      throw new TypeError(`limit ${key}: ${unknown} is not known: expected only ${FIELDS.join(", ")}`);
    }
    for (const { field, check } of LIMIT_OPTIONS) if (given[field] !== undefined) check(key, given[field]);
  }
  checkKeys(limits as readonly RatedLimit[]);
}

/** @throws TypeError for what is no key of a host's. */
export function checkKey(key: unknown): asserts key is string {
  if (typeof key !== "string" || key === "" || NOT_KEPT.test(key)) {
    throw new TypeError(
      "limit: key: expected text that is not empty, without NUL and halves of characters: without a key nothing is limited",
    );
  }
  if (isLongKey(key)) {
    const shown = key.slice(0, MAX_SHOWN_KEY);
    throw new TypeError(
      `limit ${shown}…: the key has ${Buffer.byteLength(key)} bytes, and ${MAX_KEY_BYTES} are the most`,
    );
  }
  if (key.startsWith(MESSAGE_KEYS)) {
    throw new TypeError(
      `limit ${key}: keys that begin with "${MESSAGE_KEYS}" are the engine's own, which keeps messages in order by them`,
    );
  }
}

function checkKeys(limits: readonly RatedLimit[]): void {
  // A start commits one row for each key: of two it could never commit both.
  const twice = limits.find(({ key }, at) => limits.findIndex((each) => each.key === key) < at);
  if (twice !== undefined) throw new TypeError(`limit ${twice.key} is there twice`);
}
