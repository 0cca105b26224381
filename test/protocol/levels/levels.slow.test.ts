/** K15: levels, booking and what is told missing, whoever lags, lies or steals. */
import { test } from "vitest";
import { THOROUGH } from "../../kit/thorough.ts";
import { expectBroken, expectHolds } from "../expectations.ts";
import { BREAKS } from "./breaks.ts";
import { LevelsModel } from "./model.ts";
import type { Endpoints, Scenario } from "./scenario.ts";

const THIEVES = [
  ["", {}],
  [", all stolen once", { thief: "steals" }],
] as const;

/** Three deposits take minutes: only `npm run test:long` has them. */
const DEPOSITS = [[8], [8, 3], ...(THOROUGH ? [[8, 8, 1]] : [])];

const RESTS = (["asserted", "bare"] as const).flatMap((rests) =>
  DEPOSITS.flatMap((deposits) =>
    THIEVES.map(
      ([suffix, thief]) =>
        [
          `${rests} rests, deposits of ${deposits.join(" and ")}${suffix}`,
          { rests, deposits, ...thief },
        ] as const,
    ),
  ),
);

const ANY = [0, 5, 13];

const ENDPOINTS: readonly (readonly [string, Endpoints])[] = [
  ["one of two witnesses lies at will", { kind: "one of two lies" }],
  [
    "two answers: the honest one now or behind, the other lies at will",
    { kind: "own slots", asked: 2, lies: ANY },
  ],
  ["two of three answers count: one is behind, one lies at will", { kind: "own slots", asked: 3, lies: ANY }],
  [
    "two of three answers count: one is behind, one says 0 for ever",
    { kind: "own slots", asked: 3, lies: [0] },
  ],
  [
    "two of three answers count: one is behind, one says 13 for ever",
    { kind: "own slots", asked: 3, lies: [13] },
  ],
];

const LIARS = ENDPOINTS.flatMap(([name, endpoints]) =>
  THIEVES.map(([suffix, thief]) => [`${name}${suffix}`, { deposits: [8], endpoints, ...thief }] as const),
);

test.each<readonly [string, Scenario]>([
  ...RESTS,
  ...LIARS,
  [
    "two of three answers count: one is behind, one says 0 for ever, and nobody has the history",
    { deposits: [8], history: "none", endpoints: { kind: "own slots", asked: 3, lies: [0] } },
  ],
])("K15: %s", (_, scenario) => {
  expectHolds(new LevelsModel(scenario));
});

test.each(["asserted", "bare"] as const)(
  "K10: a hint of any sum for %s rests is refused or harmless",
  (rests) => {
    for (const [, endpoints] of ENDPOINTS) {
      for (const [, thief] of THOROUGH ? THIEVES : THIEVES.slice(0, 1)) {
        expectHolds(new LevelsModel({ rests, deposits: [8], hints: [5, 13], endpoints, ...thief }));
      }
    }
  },
);

test.each(BREAKS.map((each) => [each.without, each] as const))(
  "without %s",
  (without, { in: scenario, ...broken }) => {
    expectBroken(new LevelsModel({ ...scenario, without }), broken);
  },
);
