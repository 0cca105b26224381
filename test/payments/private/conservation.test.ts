/** E5, E12, E15, E17 together: whatever happens to private orders, every base unit is with somebody it belongs to. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { brokenAccounts } from "./accounts-of-everybody.ts";
import { liveThrough } from "./live-through.ts";
import { anyLife, type Life } from "./random-life.ts";
import { repeatedRun } from "../../kit/seed.ts";
import { byDepth, EXPLORING_MS } from "../../kit/thorough.ts";

const LIVES = byDepth({ quick: 2, ci: 10, long: 1_000 });

async function brokenIn(life: Life): Promise<readonly string[]> {
  const lived = await liveThrough(life);
  try {
    return await brokenAccounts(lived);
  } finally {
    await lived.service.stop();
    await lived.world.close();
  }
}

test(
  "E12: after random deposits, cancels, crashes, restored copies and rents, every base unit is with a recipient, the treasury, the sponsor or the sender, or recorded, and nobody was paid twice",
  { timeout: EXPLORING_MS },
  async () => {
    await fc.assert(
      fc.asyncProperty(anyLife, async (life) => {
        expect(await brokenIn(life)).toEqual([]);
      }),
      { numRuns: LIVES, ...repeatedRun() },
    );
  },
);
