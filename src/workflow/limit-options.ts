/** Fields of a limit that modules of the engine bring: a line for each in each list. */
import { rateOption, type RateOption } from "./rate-option.ts";

/** A field of a limit, and what it may be. */
interface LimitOption {
  readonly field: string;
  /** @throws TypeError */
  readonly check: (key: string, value: unknown) => void;
}

// A line for each module, which goes with the module.
// prettier-ignore
export const LIMIT_OPTIONS: readonly LimitOption[] = [
  rateOption,
];

// A line for each module, which goes with the module.
// prettier-ignore
export type LimitOptions =
  & RateOption
  & object;
