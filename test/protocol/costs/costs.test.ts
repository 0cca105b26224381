/** K16: what quotes and refunds cost, to the lamport, and who loses by many chunks at their longest. */
import { expect, test } from "vitest";
import { playsOf } from "./many-chunks.ts";
import { type Price, QUOTED, RATES, RESERVED, WITHHELD } from "./prices.ts";

test.each([
  ["quoted for the network", QUOTED],
  ["withheld of a rest", WITHHELD],
  ["kept ready by the sponsor", RESERVED],
])("K16: what is %s", (_, prices: readonly Price[]) => {
  for (const [name, cost, lamports] of prices) expect(RATES.map(cost), name).toEqual(lamports);
});

/** Lamports a byte above which no order is taken. */
const MOST_RATE = 20_880;

test.each([
  [6_960, 0.934],
  [5_080, 0.923],
  [MOST_RATE, 0.955],
])(
  "K16: 72 chunks at their longest, at %i lamports a byte: the sponsor loses at most %f of what the others lose",
  (rate, most) => {
    for (const { sponsorLoses, othersLose, refundCost } of playsOf(rate)) {
      expect(sponsorLoses / othersLose).toBeLessThanOrEqual(most);
      // It would not lose anything if the rest were worth its cost.
      expect(sponsorLoses).toBeLessThanOrEqual(refundCost);
    }
  },
);

test("K16: the limit: bought at twice the quoted rate, 72 chunks cost the sponsor 2.84 times what the others lose", () => {
  const [today] = RATES;
  const ratios = playsOf(today, 2 * today).map(({ sponsorLoses, othersLose }) => sponsorLoses / othersLose);
  expect(Math.max(...ratios)).toBeCloseTo(2.835, 3);
});
