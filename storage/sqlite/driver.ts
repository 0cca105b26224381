/** Finds better-sqlite3, an optional peer, and says what to do where it cannot be used. */
import { createRequire } from "node:module";
import { StorageUnusable } from "../storage-unusable.ts";

/** What is needed of a prepared statement. */
export interface SqliteStatement {
  readonly reader: boolean;
  run(...parameters: unknown[]): { changes: number; lastInsertRowid: number | bigint };
  get(...parameters: unknown[]): unknown;
  all(...parameters: unknown[]): unknown[];
  iterate(...parameters: unknown[]): IterableIterator<unknown>;
}

/** What is needed of an open database; a `Database` of better-sqlite3 is one. */
export interface SqliteDatabase {
  readonly inTransaction: boolean;
  prepare(sql: string): SqliteStatement;
  pragma(source: string): unknown;
  close(): unknown;
}

/** How a file is opened. */
interface OpenOptions {
  readonly timeout: number;
  readonly readonly?: boolean;
  readonly fileMustExist?: boolean;
}

type SqliteConstructor = new (path: string, options: OpenOptions) => SqliteDatabase;

/** From this version on the driver speaks Node-API 10, which Node 20 lacks: it dies there without an error. */
const FIRST_ON_NODE_API_10 = 13;

/** @throws StorageUnusable `driver_missing` or `driver_unusable`. */
export async function loadDriver(): Promise<SqliteConstructor> {
  assertLoadable(installedVersion(), process.versions["napi"]);
  const driver = (await import("better-sqlite3")) as unknown as { readonly default: SqliteConstructor };
  return driver.default;
}

/** Checked before the import, because a crash of the process cannot be caught. */
export function assertLoadable(driverVersion: string, nodeApi: string | undefined): void {
  if (Number.parseInt(driverVersion, 10) < FIRST_ON_NODE_API_10 || Number(nodeApi) >= 10) return;
  throw new StorageUnusable(
    "driver_unusable",
    `better-sqlite3 ${driverVersion} needs Node 22.14 or newer and this is Node ${process.versions.node}: ` +
      "run a newer Node, or `npm install better-sqlite3@12`",
  );
}

function installedVersion(): string {
  try {
    const require = createRequire(import.meta.url);
    return (require("better-sqlite3/package.json") as { readonly version: string }).version;
  } catch (error) {
    throw new StorageUnusable("driver_missing", "SQLite needs its driver: `npm install better-sqlite3`", {
      cause: error,
    });
  }
}
