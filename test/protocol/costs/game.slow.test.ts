/** K11, K13, K16: nobody can cost the sponsor more than he loses himself, whatever he does to the address and its accounts. */
import { expect, test } from "vitest";
import { THOROUGH } from "../../kit/thorough.ts";
import type { CostRule } from "./beginnings.ts";
import { worstOf } from "./plays.ts";
import { RATES } from "./prices.ts";

const [TODAY] = RATES;

const FAILURES = ["nothing", "a fee"] as const;

test.each(FAILURES)("K13, K16: each attempt that fails costs %s: nobody wins", (failures) => {
  const play = { ratio: 1, rounds: 2, failures, without: null };
  expect(worstOf(play, THOROUGH ? RATES : [TODAY])).toBeNull();
});

/** A rule, the rounds that its break takes, what the sponsor and the others gain, and the play. */
type Won = readonly [without: CostRule, rounds: number, sponsor: number, others: number, acts: string];

test.each<Won>([
  ["K11: a SOL recipient gets at least rent(0)", 0, -1280629, -915891, "[] rest; end"],
  [
    "K13: a bare leg bears its cost",
    2,
    -5894240,
    4048560,
    "[] [closes] asserted [] [] bare [late money + closes] rest; end",
  ],
  [
    "K13: a bare leg is credited with no rent",
    3,
    -2049280,
    1091440,
    "[] [closes] asserted [] [] bare [] [late money] asserted [closes] rest; rest; end",
  ],
  [
    "K13: a bare leg takes all above the loan",
    2,
    -1815680,
    -20000,
    "[] [a rent of lamports] asserted [] rest; rest; end",
  ],
  ["K16: one asset that covers the cost bears all of it", 1, -1781760, -25000, "[] rest; end"],
  [
    "K16: the sponsor pays for no account that was read as there",
    1,
    -3854960,
    2029280,
    "[] [closes] asserted [] end",
  ],
  [
    "K16: what the sender cannot be given goes to the sponsor",
    1,
    -1771760,
    -920881,
    "[] [dust of lamports] asserted [] end",
  ],
  [
    "K16: a closing account is credited with what it gives",
    1,
    -4078560,
    2237880,
    "[] [] asserted [late money + closes] rest; end",
  ],
])("without %s", (without, rounds, sponsor, others, acts) => {
  const worst = worstOf({ ratio: 1, rounds, failures: "nothing", without }, [TODAY]);
  expect(worst).toMatchObject({ sponsor, others, acts });
});
