/** M3, E12 and what belongs to them as properties: random lives, and everybody's books at the end of them. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { repeatedRun } from "../../kit/seed.ts";
import { byDepth, EXPLORING_MS } from "../../kit/thorough.ts";
import { brokenAccounts } from "./accounts-of-everybody.ts";
import { liveThrough } from "./live-through.ts";
import { anyHonestLife, anyLifeUnderLiars, anyLifeUnderOneLiar, type Life } from "./random-life.ts";
import { withinBudget } from "../../kit/exploration-budget.ts";

async function brokenIn(life: Life): Promise<readonly string[]> {
  const lived = await liveThrough(life);
  try {
    return await brokenAccounts(lived);
  } finally {
    await lived.close();
  }
}

const KINDS = [
  {
    name: "E12: when nobody lies, with crashes, restored copies, strangers and hasty operators, every base unit is where it belongs and every status is true",
    lives: anyHonestLife,
    runs: { quick: 1, ci: 6, long: 1_000 },
  },
  {
    name: "M3: when one of two or three endpoints lies about anything, nobody is paid twice, every status is true, and no order waits for a person because of a stranger",
    lives: anyLifeUnderOneLiar,
    runs: { quick: 1, ci: 16, long: 1_000 },
  },
  {
    name: "M3: when all endpoints lie together, no payee has more than its amount, and the reconciliation says afterwards what is told wrong",
    lives: anyLifeUnderLiars,
    runs: { quick: 1, ci: 6, long: 200 },
  },
] as const;

test.each(KINDS.map((kind) => [kind.name, kind] as const))(
  "%s",
  { timeout: EXPLORING_MS },
  async (_, { lives, runs }) => {
    const unbroken = fc.asyncProperty(lives, async (life) => {
      expect(await brokenIn(life)).toEqual([]);
    });
    await fc.assert(unbroken, {
      numRuns: byDepth(runs),
      endOnFailure: true,
      ...repeatedRun(),
      plugins: [withinBudget()],
    });
  },
);
