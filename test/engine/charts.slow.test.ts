/** What random charts cannot draw means the same durably as under `createActor`, also when the process dies at any commit. */
import { describe, expect, test } from "vitest";
import { adapters, type Adapter } from "../kit/adapters.ts";
import type { Death } from "../kit/mortal.ts";
import { byDepth, EXPLORING_MS, QUICK, drawn, THOROUGH } from "../kit/thorough.ts";
import type { ChartCase } from "./charts/chart-case.ts";
import { events } from "./charts/events.ts";
import { families } from "./charts/families.ts";
import { actorLife, durableLife } from "./charts/lives.ts";
import { charts6 } from "./xstate6/charts.ts";

const corpus: readonly ChartCase[] = [...families, ...events, ...charts6];

/**
 * All deaths at commits, or a sample of them in a short run: SQLite makes lives ten times as long. The few charts of
 * another library die at every commit, in memory at least, where CI runs.
 */
function deaths({ library }: ChartCase, commits: number, { name }: Adapter): Death[] {
  const all = Array.from({ length: commits }, (_, index) => index + 1).flatMap((nth): Death[] => [
    { method: "commit", nth, moment: "before" },
    { method: "commit", nth, moment: "after" },
  ]);
  const oneIn = byDepth({ quick: 24, ci: 1, long: 1 }) * (name === "memory" ? 4 : 9);
  const isAll = THOROUGH || (!QUICK && library !== undefined && name === "memory");
  return isAll ? all : all.filter((_, index) => index % oneIn === 3);
}

describe.each(corpus)("$name", (chart) => {
  test.each(drawn(adapters, chart.name))(
    "the same states, contexts, outputs and order of effects on $name",
    async (adapter) => {
      const expected = await actorLife(chart);
      expect(expected.sights.at(-1)?.value).toEqual(chart.ends);
      const { sights, notes } = await durableLife(chart, adapter);
      expect(sights).toEqual(expected.sights);
      expect(notes).toEqual(expected.notes);
    },
  );

  test.each(drawn(adapters, `deaths of ${chart.name}`))(
    "D8 the same end when the process dies at a commit, on $name",
    async (adapter) => {
      const expected = await actorLife(chart);
      const { commits } = await durableLife(chart, adapter);
      for (const death of deaths(chart, commits, adapter)) {
        const { sights, notes } = await durableLife(chart, adapter, death);
        expect(sights, JSON.stringify(death)).toEqual(expected.sights);
        expect(new Set(notes), JSON.stringify(death)).toEqual(new Set(expected.notes));
      }
    },
    EXPLORING_MS,
  );
});
