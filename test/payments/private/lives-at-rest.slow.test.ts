/** Lives that were found at random, as plain as they can be told: what may still stand when one is at rest. */
// modules: private
import { expect, test } from "vitest";
import { brokenAccounts } from "./accounts-of-everybody.ts";
import { liveThrough, type LivedLife } from "./live-through.ts";
import type { Happening, Life, OrderWords } from "./random-life.ts";

const order = (...payees: OrderWords["payees"]): OrderWords => ({ asset: "USDC", payees, sender: "open" });
const OPEN = { amount: 6_000_000, kind: "open" } as const;
const BAD = { amount: 2_000_000, kind: "bad" } as const;
const eight = (last: OrderWords["payees"][number]): OrderWords =>
  order(...Array.from({ length: 7 }, () => OPEN), last);

type Deposit = Extract<Happening, { does: "deposit" }>;
const pays = (each: number, given: Partial<Deposit> = {}): Deposit => {
  return { does: "deposit", order: each, howMuch: "exact", asset: 0, by: 1, ...given };
};
const pass = (minutes: 0.3 | 3 | 11): Happening => ({ does: "pass", minutes });
const SEND = { asset: "USDC", amount: 1_000_000, isSignedAgain: false, isVersion1: false } as const;

/** A copy goes on beside the first process, as the database was so many commits ago. */
const twice = (commitsAgo: number): readonly Happening[] => [
  pays(0, { howMuch: "over" }),
  pass(0.3),
  { does: "copy", commitsAgo },
  pass(0.3),
  pass(3),
  pays(0),
  pass(11),
  { does: "end copies" },
  pass(11),
];

type Told = readonly [
  name: string,
  orders: Life["orders"],
  happenings: readonly Happening[],
  expectMore?: (lived: LivedLife) => void,
];

const LIVES: readonly Told[] = [
  [
    "K6: a go that a thief has forged at an address without an account of its token holds the order for a person",
    [order(...Array.from({ length: 9 }, () => ({ amount: 2_407, kind: "open" as const })))],
    [
      { does: "theft", act: { order: 0, does: "forge", chunk: 0, length: 3 } },
      { does: "pass", minutes: 11 },
    ],
    ({ past }) => expect(past.told.map(({ kind }) => kind)).toContain("held"),
  ],
  [
    "E12: after sends, a payroll with a bad payee, a swap, refunds, a refused depositor and a late deposit everybody's books close to the base unit",
    [order(OPEN), order(OPEN, OPEN, BAD), "swap", order(OPEN), order(OPEN)],
    [
      { does: "send", words: SEND },
      pays(0, { howMuch: "over" }),
      pays(1, { by: 2 }),
      pays(2),
      { does: "cancel", order: 3 },
      pays(3, { howMuch: "under" }),
      pays(4, { by: "refused" }),
      pass(11),
      pays(0),
      { does: "operator", act: { does: "hold", order: 2 } },
      pass(11),
    ],
  ],
  ...[1, 4, 12].flatMap((ago): readonly Told[] => [
    [
      `M7, E17: two live copies of one database, ${ago} commits apart, pay each payee of a send once`,
      [order(OPEN)],
      twice(ago),
    ],
    [
      `M7, E17: two live copies of one database, ${ago} commits apart, pay each payee of two chunks once, and leave out the same`,
      [eight(BAD)],
      twice(ago),
    ],
    [`M7, E17: two live copies of one database, ${ago} commits apart, swap once`, ["swap"], twice(ago)],
  ]),
];

test.for(LIVES)("%s", async ([, orders, happenings, expectMore = () => {}]) => {
  const lived = await liveThrough({
    endpoints: 2,
    liars: "nobody",
    screens: happenings.some((each) => each.does === "deposit" && each.by === "refused"),
    approvals: 1,
    orders,
    happenings,
  });
  try {
    expectMore(lived);
    expect(await brokenAccounts(lived)).toEqual([]);
  } finally {
    await lived.close();
  }
});
