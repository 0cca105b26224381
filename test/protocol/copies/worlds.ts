/** The copies, and what happens around them, that are searched. */
import type { Scenario } from "./scenario.ts";

/** One copy that crashes anywhere; the whole deposit comes a second time. */
export const CRASHES: Scenario = {
  deposits: [4, 4],
  copies: 1,
  restores: false,
  bytes: "die",
  about: "payments",
};

/** One copy that is set back to any age, any number of times. */
export const RESTORED: Scenario = { ...CRASHES, restores: true, bytes: "live for ever" };

/** Two live copies, each set back to any age, any number of times; one deposit. */
export const TWO_COPIES: Scenario = { ...RESTORED, copies: 2, deposits: [4] };

/** What is told while nothing stands on the chain: one copy, set back at will, and its journal. */
export const JOURNAL: Scenario = { ...CRASHES, restores: true, deposits: [4], about: "told" };
