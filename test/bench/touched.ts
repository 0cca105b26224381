/** How many pages of a database a call touches: what has to stay the same beside any number of rows. */
import { readFileSync } from "node:fs";
import type Database from "better-sqlite3";
import pg from "pg";

/** Counts the pages that an act touches. */
export type Counting = (act: () => Promise<unknown>) => Promise<number>;

const PAGE_BYTES = 4_096;
/** Of SQLite's page cache, in pages: what is not kept is read again, so that each look at a page is a read of the file. */
const [NOTHING_KEPT, USUAL] = ["1", "-16000"];
const COUNTERS = "/proc/self/io";

/** Bytes that this process has asked files for, whether a disk or the system's cache gave them. */
const bytesRead = (): number => Number(/rchar: (\d+)/.exec(readFileSync(COUNTERS, "utf8"))?.[1]);

/** Pages of a file that its connection reads while nothing is kept of what it has read. SQLite's own counters have no way out of the driver. */
export const pagesOfFile =
  (database: Database.Database): Counting =>
  async (act) => {
    database.pragma(`cache_size = ${NOTHING_KEPT}`);
    try {
      await new Promise((resolve) => setImmediate(resolve));
      const before = bytesRead();
      await act();
      return Math.round((bytesRead() - before) / PAGE_BYTES);
    } finally {
      database.pragma(`cache_size = ${USUAL}`);
    }
  };

/** What a server that counts statements needs to be started with. */
export const COUNTED = { shared_preload_libraries: "pg_stat_statements", "pg_stat_statements.max": "10000" };

const PAGES = `select coalesce(sum(shared_blks_hit + shared_blks_read), 0)::int as pages
  from pg_stat_statements where query not like '%pg_stat_statements%'`;

/** Pages of all statements of a server meanwhile. */
export function pagesOfServer(url: string): Counting {
  const asked = async (text: string): Promise<{ readonly pages: number } | undefined> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query<{ pages: number }>(text)).rows[0];
    } finally {
      await client.end();
    }
  };
  return async (act) => {
    await asked("create extension if not exists pg_stat_statements");
    await asked("select pg_stat_statements_reset()");
    await act();
    return (await asked(PAGES))?.pages ?? NaN;
  };
}
