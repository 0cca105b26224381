/** K2, K6, K7, K17: copies of a database that crash and are set back, and what they tell. */
import { describe, expect, test } from "vitest";
import { EXPLORING_MS, THOROUGH } from "../../kit/thorough.ts";
import { expectBroken, expectHolds } from "../expectations.ts";
import { explore } from "../explore.ts";
import { BREAKS } from "./breaks.ts";
import { CopiesModel } from "./model.ts";
import { CRASHES, JOURNAL, RESTORED, TWO_COPIES } from "./worlds.ts";

test.each([
  ["K2, K6, K7: one copy crashes anywhere, and late money comes", { ...CRASHES, deposits: [4, 2] }],
  ["K2, K6, K7: one copy crashes anywhere, and the whole deposit comes again", CRASHES],
  ["K17: one copy with its journal is set back at will, and what it tells stays true", JOURNAL],
])("%s", (_, scenario) => {
  expectHolds(new CopiesModel(scenario));
});

test.each(BREAKS.map((each) => [each.without, each] as const))(
  "without %s",
  (without, { in: scenario, ...broken }) => {
    expectBroken(new CopiesModel({ ...scenario, without }), broken);
  },
);

/** The search ends here: nobody knows how many states there are. */
const MOST_STATES = 7_000_000;

describe.runIf(THOROUGH)(
  "npm run test:long alone: copies that are set back to any age any number of times",
  () => {
    test("K1 to K9: one copy", { timeout: EXPLORING_MS }, () => {
      expectHolds(new CopiesModel(RESTORED));
    });

    test("K1 to K9: two live copies, the first seven million states", { timeout: EXPLORING_MS }, () => {
      expect(explore(new CopiesModel(TWO_COPIES), MOST_STATES).broken).toBeNull();
    });
  },
);
