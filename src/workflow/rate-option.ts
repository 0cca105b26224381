/** The field `rate` of a limit. */
// modules: rates

/** A rate: in no span of `perMs` milliseconds (a day at most) begin more than `count` (1,000 at most). */
export interface TaskRate {
  readonly count: number;
  readonly perMs: number;
}

/** The rate of a limit. */
export interface RateOption {
  /** Each run counts as it begins, retries and runs of processes that ended included. */
  readonly rate?: TaskRate;
}

/** The most starts that a rate remembers. */
const MAX_COUNT = 1_000;
const MAX_PER_MS = 86_400_000;

/** @throws TypeError when a rate is wrong. */
export function checkRate(key: string, rate: TaskRate | null): void {
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

export const rateOption = {
  field: "rate",
  check: (key: string, rate: unknown): void => checkRate(key, rate as TaskRate | null),
} as const;
