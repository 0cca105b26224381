/** E5, E10, E11: the service is killed again and again under load, while chain and database fail, and loses nothing. */
import { describe, expect, test } from "vitest";
import { seedOfRun } from "../kit/seed.ts";
import { byDepth, EXPLORING_MS } from "../kit/thorough.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";
import { type ChaosSettings, commandOf } from "./plan.ts";
import { runChaos } from "./world.ts";

const KILLS = byDepth({ quick: 4, ci: 25, long: 250 });

async function expectNothingBroken(settings: ChaosSettings): Promise<void> {
  const { findings, orders, complaints } = await runChaos(settings, () => {});
  expect(findings, `${complaints}\nrepeat with: ${commandOf(settings)}`).toEqual([]);
  expect(orders).toBeGreaterThan(0);
}

test(
  "E5, E10, E11: 2 processes on SQLite that are killed all the while lose no order, tear none, and pay none twice",
  { timeout: EXPLORING_MS },
  () => expectNothingBroken({ database: "sqlite", processes: 2, kills: KILLS, seed: seedOfRun() }),
);

describe.skipIf(!HAS_POSTGRES)("with PostgreSQL", () => {
  test(
    "E5, E10, E11: 4 processes that are killed all the while, and their server with them, lose no order, tear none, and pay none twice",
    { timeout: EXPLORING_MS },
    () => expectNothingBroken({ database: "postgres", processes: 4, kills: KILLS, seed: seedOfRun() }),
  );
});
