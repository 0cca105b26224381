/** What goes through everything: its rate, which has to be the same beside any number of orders. */
import { rmSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { checkDatabase } from "../../src/cli/doctor/check-database.ts";
import { checkPages, checkSamples } from "../../src/cli/doctor/check-samples.ts";
import { moveToPostgres } from "../../storage/postgres.ts";
import { backupSqlite } from "../../storage/sqlite.ts";
import { postgresPrograms, startPostgres } from "../kit/postgres-server.ts";
import { timed, type Report } from "./figures.ts";
import { besideOthers } from "./scale-beside.ts";
import type { Opened } from "./scale-operations.ts";

const DAY_MS = 86_400_000;
const PASS_MS = 600_000;
const BATCH_PAUSE_MS = 20;
/** A hundred thousand would take PostgreSQL a quarter of an hour. */
const MOST_REMOVED = 3_000;
/** A million would take half an hour. */
const MOST_MOVED = 100_000;
const LEAST_BESIDE = 50_000;
/** Between two looks at what is left. */
const TURNS = 64;

export async function passesThroughAll(report: Report, opened: Opened): Promise<void> {
  const { name, orders, file, cpuMs, counting, world } = opened;
  // SQLite would keep nothing of what it reads while that is counted.
  const counted = async (act: () => Promise<unknown>, of: number): Promise<object> => {
    if (file === null) return { "pages an order": (await counting(act)).pages / of };
    await act();
    return {};
  };
  const told = async (what: string, act: () => Promise<unknown>, of = orders): Promise<void> => {
    const before = cpuMs();
    const { seconds, result: pages } = await timed(() => counted(act, of));
    const cpu = (cpuMs() - before) / of;
    report({
      name: `${name}: ${what}`,
      perSecond: of / seconds,
      seconds,
      "CPU ms an order": cpu,
      ...pages,
    });
  };
  if (file !== null) {
    const copy = `${file}.copy`;
    await told("backup", () => backupSqlite(file, copy));
    if (orders <= MOST_MOVED) await toServer((to) => told("move", () => moveToPostgres({ from: copy, to })));
    rmSync(copy);
    await told("doctor --full", () => checkDatabase(file, (handle) => checkPages(handle, () => {})));
    await told("doctor", () => checkDatabase(file, checkSamples));
  }
  await told("reconcile", () => world.fixture.service.reconcile());
  // Of fewer orders nothing is older than a week.
  if (orders >= LEAST_BESIDE) await besideOthers(report, opened);
  const removed = Math.min(orders, MOST_REMOVED);
  await told("retention", () => removeOld(opened, removed), removed);
}

/** With a server of its own, where there can be one. */
async function toServer(act: (url: string) => Promise<unknown>): Promise<void> {
  if (postgresPrograms() === null) return;
  const server = await startPostgres({ fsync: "on", full_page_writes: "on", max_wal_size: "4GB" });
  try {
    await act(server.url);
  } finally {
    await server.stop();
  }
}

/** Another service removes what is older than a week, a year later, until so many orders are gone. */
async function removeOld({ storage, world: { fixture } }: Opened, wanted: number): Promise<void> {
  const { clock, service } = fixture;
  await service.stop();
  // Notices go with their transactions, and no sweep before them goes through all notices.
  const remover = fixture.another({ keep: { transactions: "7d", notices: "36500d" } });
  await remover.start();
  clock.advance(365 * DAY_MS);
  const oldest = async (): Promise<string> => (await storage.transactionsAfter("", 1))[0]?.id ?? "";
  const last = (await storage.transactionsAfter("", wanted)).at(-1)?.id ?? "";
  clock.advance(PASS_MS);
  for (let turn = 0; turn % TURNS > 0 || turn === 0 || isBelow(await oldest(), last); turn++) {
    await nextTurn();
    clock.advance(BATCH_PAUSE_MS);
  }
  await remover.stop();
}

/** Whether the oldest of those that are left is older than the last one to be removed. */
const isBelow = (oldest: string, last: string): boolean => oldest !== "" && oldest <= last;
