/** Random charts mean the same durably as under `createActor`, whenever their processes die. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { adapters, type Adapter } from "../kit/adapters.ts";
import type { Death } from "../kit/mortal.ts";
import { repeatedRun } from "../kit/seed.ts";
import { byDepth, EXPLORING_MS } from "../kit/thorough.ts";
import { durableLife } from "./charts/lives.ts";
import { charts, happenings } from "./random-charts/chart-spec.ts";
import { referenceLife } from "./random-charts/reference-life.ts";
import { withinBudget } from "../kit/exploration-budget.ts";

const memory = adapters.find(({ name }) => name === "memory") as Adapter;

const deaths: fc.Arbitrary<readonly Death[]> = fc.array(
  fc.record({
    method: fc.constant("commit"),
    nth: fc.integer({ min: 1, max: 12 }),
    moment: fc.constantFrom("before", "after"),
  }),
  { maxLength: 3 },
);

test(
  "D8 random charts with random deaths see what XState sees: states, contexts, outputs, and the same effects",
  async () => {
    await fc.assert(
      fc.asyncProperty(charts, happenings, deaths, async (spec, happened, died) => {
        const expected = await referenceLife(spec, happened);
        fc.pre(expected !== null);
        const { sights, notes } = await durableLife(expected.chart, memory, ...died);
        expect(sights).toEqual(expected.sights);
        expect(new Set(notes)).toEqual(new Set(expected.notes));
      }),
      {
        numRuns: byDepth({ quick: 100, ci: 300, long: 20_000 }),
        ...repeatedRun(),
        plugins: [withinBudget()],
      },
    );
  },
  EXPLORING_MS,
);
