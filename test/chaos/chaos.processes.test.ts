/** E5, E10, E11: the service is killed again and again under load, while chain and database fail, and loses nothing. */
// modules: private, webhooks
import { expect, test } from "vitest";
import { seedOfRun } from "../kit/seed.ts";
import { byDepth, drawn, EXPLORING_MS, THOROUGH } from "../kit/thorough.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";
import { type ChaosSettings, commandOf } from "./plan.ts";
import { runChaos } from "./world.ts";

const KILLS = byDepth({ quick: 4, ci: 25, long: 250 });

type Run = readonly [sentence: string, settings: Omit<ChaosSettings, "seed">];

const ON_SQLITE: readonly Run[] = [
  [
    "E5, E10, E11: 2 processes on SQLite that are killed all the while lose no order, tear none, pay none twice, and leave no address unswept",
    { form: "drawn", database: "sqlite", processes: 2, kills: KILLS },
  ],
];

const ON_POSTGRES: readonly Run[] = [
  [
    "E5, E10, E11: 4 processes that are killed all the while, and their server with them, lose no order, tear none, pay none twice, and leave no address unswept",
    { form: "drawn", database: "postgres", processes: 4, kills: KILLS },
  ],
];

/** In the long tests only. */
const LONG_ON_SQLITE: readonly Run[] = [
  [
    "D35: 2 processes whose clock is put back and on by an hour while they are killed lose no order, pay none twice, and end no window by it",
    { form: "stepped-clocks", database: "sqlite", processes: 2, kills: 20 },
  ],
  [
    "D36: a file that is deleted, replaced by an older copy or cut short under load: a second later nothing is taken, and what was taken is there when it is put back",
    { form: "replaced-file", database: "sqlite", processes: 2, kills: 20 },
  ],
];

const LONG_ON_POSTGRES: readonly Run[] = [
  [
    "D28, D31, D33: a standby that takes over under load, also late, without the last commits or from a host that vanishes: no order is paid twice, and none is lost that the standby had",
    { form: "failover", database: "postgres", processes: 2, kills: 20 },
  ],
  [
    "E5, E10: 4 processes of which one is killed each second for a minute lose no order and pay none twice",
    { form: "each-second", database: "postgres", processes: 4, kills: 60 },
  ],
];

const RUNS: Readonly<Record<"SQLite" | "PostgreSQL", readonly Run[]>> = {
  SQLite: THOROUGH ? [...ON_SQLITE, ...LONG_ON_SQLITE] : ON_SQLITE,
  PostgreSQL: THOROUGH ? [...ON_POSTGRES, ...LONG_ON_POSTGRES] : ON_POSTGRES,
};

const DATABASES = HAS_POSTGRES ? (["SQLite", "PostgreSQL"] as const) : (["SQLite"] as const);

async function expectNothingBroken(run: Omit<ChaosSettings, "seed">): Promise<void> {
  const settings = { ...run, seed: seedOfRun() };
  const { findings, orders, complaints, stored } = await runChaos(settings, () => {});
  expect(findings, `${stored}\n${complaints}\nrepeat with: ${commandOf(settings)}`).toEqual([]);
  expect(orders).toBeGreaterThan(0);
}

test.each(drawn<keyof typeof RUNS>(DATABASES, "chaos").flatMap((name) => RUNS[name]))(
  "%s",
  { timeout: EXPLORING_MS },
  (_, settings) => expectNothingBroken(settings),
);
