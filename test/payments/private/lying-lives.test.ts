/** M3 as a property: whatever all nodes say about anything, for however long, no payee gets more than its amount. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { repeatedRun } from "../../kit/seed.ts";
import { byDepth, EXPLORING_MS, THOROUGH } from "../../kit/thorough.ts";
import { brokenUnderLies } from "./accounts-under-lies.ts";
import { liveUnderLies } from "./live-under-lies.ts";
import { anyLyingLife, type LyingLife } from "./lying-life.ts";

async function brokenIn(life: LyingLife): Promise<readonly string[]> {
  const lived = await liveUnderLies(life);
  try {
    return await brokenUnderLies(lived);
  } finally {
    await lived.close();
  }
}

/** Lives that were judged broken once, by seed and path of the property: the same as long as lives are drawn alike. */
const BROKEN_ONCE = [
  // A collection that every node dropped was over without having landed.
  { seed: 41_670_556, path: "132" },
];

async function expectUnbroken(life: LyingLife): Promise<void> {
  expect(await brokenIn(life)).toEqual([]);
}

test(
  "M3: after random sends, payrolls and swaps with crashes, under nodes that lie about everything, no payee has more than its amount, and every base unit is where it belongs or the reconciliation says where it is",
  { timeout: EXPLORING_MS },
  async () => {
    const anyLife = fc.asyncProperty(anyLyingLife, expectUnbroken);
    for (const again of THOROUGH ? BROKEN_ONCE : []) {
      await fc.assert(anyLife, { ...again, numRuns: 1, endOnFailure: true });
    }
    await fc.assert(anyLife, {
      numRuns: byDepth({ quick: 1, ci: 3, long: 200 }),
      endOnFailure: true,
      ...repeatedRun(),
    });
  },
);
