/** Rows in the order in which databases have them. */
import { compareTexts } from "../compare-texts.ts";

export type Order<R> = (a: R, b: R) => number;

/** By the values of these functions: the first difference decides. */
export function by<R>(...values: readonly ((row: R) => unknown)[]): Order<R> {
  return (a, b) => {
    for (const value of values) {
      const side = compare(value(a), value(b));
      if (side !== 0) return side;
    }
    return 0;
  };
}

/** Nothing first, false before true, texts by their bytes. */
export function compare(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? -1 : 1;
  if (typeof a === "string" && typeof b === "string") return compareTexts(a, b);
  return Number(a) - Number(b);
}
