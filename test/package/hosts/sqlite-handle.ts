/** A host's own connection to an SQLite file: of better-sqlite3 where it is installed, else of `node:sqlite`. */

import type { HostDatabase } from "paystate/storage";
import type { sqliteStorage } from "paystate/storage/sqlite";

/** What both drivers have alike. */
interface Alike extends HostDatabase {
  prepare(sql: string): { all(...values: unknown[]): unknown[] };
  exec(sql: string): unknown;
  close(): void;
}

type Handle = new (path: string) => Alike & Exclude<Parameters<typeof sqliteStorage>[0], string>;

export async function handleClass(): Promise<Handle> {
  const own = await import("better-sqlite3").catch(() => null);
  if (own !== null) return own.default;
  return (process.getBuiltinModule("node:sqlite") as unknown as { readonly DatabaseSync: Handle })
    .DatabaseSync;
}
