/** A price source that is asked with a deadline, and whose silence is told. */
import type { AskPart } from "../host-parts.ts";
import type { PriceSource } from "./prices.ts";

/** Callers of the API wait for a price. */
const DEADLINE_MS = 5_000;

/** The price source, asked through `ask`. */
export function askedPrices(source: PriceSource, part: string, ask: AskPart): PriceSource {
  return {
    rate: (giveMint, getMint) => ask(part, (signal) => source.rate(giveMint, getMint, signal), DEADLINE_MS),
    ...(source.isFixed === undefined ? {} : { isFixed: source.isFixed }),
  };
}
