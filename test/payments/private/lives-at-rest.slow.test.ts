/** Lives that were found at random, as plain as they can be told: what may still stand when one is at rest. */
// modules: private
import { expect, onTestFinished, test } from "vitest";
import { brokenAccounts } from "./accounts-of-everybody.ts";
import { liveThrough } from "./live-through.ts";
import type { Life } from "./random-life.ts";

const HALF_THE_RENT: Life["happenings"][number] = {
  does: "lie",
  lies: [
    {
      lie: {
        about: "fields",
        mutation: { method: "getMinimumBalanceForRentExemption", of: "numbers", says: "less" },
      },
      by: "all",
      oneIn: 1,
      grain: 0,
    },
  ],
};

test("M34: a lie about the rent that only the purses have met is disputed until they are read again, and no longer", async () => {
  const lived = await liveThrough({
    endpoints: 2,
    liars: 1,
    screens: false,
    approvals: 1,
    orders: [{ asset: "SOL", payees: [{ amount: 2_991, kind: "open" }], sender: "open" }],
    happenings: [
      { does: "deposit", order: 0, howMuch: "exact", asset: 0, by: 1 },
      HALF_THE_RENT,
      { does: "pass", minutes: 1_500 },
    ],
  });
  onTestFinished(lived.close);
  expect(await brokenAccounts(lived)).toEqual([]);
});

test("K6: a go that a thief has forged at an address without an account of its token holds the order for a person", async () => {
  const payees = Array.from({ length: 9 }, () => ({ amount: 2_407, kind: "open" as const }));
  const lived = await liveThrough({
    endpoints: 2,
    liars: "nobody",
    screens: false,
    approvals: 1,
    orders: [{ asset: "USDC", payees, sender: "open" }],
    happenings: [
      { does: "theft", act: { order: 0, does: "forge", chunk: 0, length: 3 } },
      { does: "pass", minutes: 11 },
    ],
  });
  onTestFinished(lived.close);
  expect(lived.past.told.map(({ kind }) => kind)).toContain("held");
  expect(await brokenAccounts(lived)).toEqual([]);
});
