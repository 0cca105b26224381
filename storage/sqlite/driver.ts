/** Finds better-sqlite3, an optional peer, and says what to do where it cannot be used. */
import Module from "node:module";
import { StorageUnusable } from "../storage-unusable.ts";
import { codeOf } from "./explain.ts";

/** The required part of a prepared statement. */
export interface SqliteStatement {
  readonly reader: boolean;
  /** Whether it changes nothing. */
  readonly readonly: boolean;
  run(...parameters: unknown[]): { changes: number; lastInsertRowid: number | bigint };
  get(...parameters: unknown[]): unknown;
  all(...parameters: unknown[]): unknown[];
  iterate(...parameters: unknown[]): IterableIterator<unknown>;
  /** Whether integers are read as bigints. */
  safeIntegers(toggle: boolean): unknown;
}

/** The required part of an open database; a `Database` of better-sqlite3 is one. */
export interface SqliteDatabase {
  readonly inTransaction: boolean;
  prepare(sql: string): SqliteStatement;
  pragma(source: string): unknown;
  close(): unknown;
}

/** A database that was opened here. */
export interface OpenedDatabase extends SqliteDatabase {
  /** Copies page by page; `progress` is called between two turns, and answers how many pages the next one copies. */
  backup(target: string, options: { readonly progress: (pages: BackupPages) => number }): Promise<unknown>;
}

/** How far a copy has come. */
export interface BackupPages {
  readonly totalPages: number;
  readonly remainingPages: number;
}

type SqliteConstructor = new (
  path: string,
  options: { readonly timeout: number; readonly readonly?: boolean; readonly fileMustExist?: boolean },
) => OpenedDatabase;

/** From this version on the driver speaks Node-API 10. Earlier ones speak V8, of Node alone. */
const FIRST_ON_NODE_API_10 = 13;
/** From this Node on a statement of an earlier driver that is collected aborts the process. */
const FIRST_NODE_THAT_ABORTS = [24, 19] as const;

/** The part of `process.versions` that is read. */
interface RuntimeVersions {
  readonly node: string;
  readonly napi?: string | undefined;
  readonly bun?: string | undefined;
  readonly deno?: string | undefined;
}

/** @throws StorageUnusable `driver_missing` or `driver_unusable`. */
export async function loadDriver(): Promise<SqliteConstructor> {
  assertInstalledLoadable();
  try {
    const driver = (await import("better-sqlite3")) as unknown as { readonly default: SqliteConstructor };
    return driver.default;
  } catch (error) {
    // ERR_MODULE_NOT_FOUND, and MODULE_NOT_FOUND where a bundle requires it.
    if (!codeOf(error).endsWith("MODULE_NOT_FOUND")) throw error;
    throw new StorageUnusable("driver_missing", "SQLite needs its driver: `npm install better-sqlite3`", {
      cause: error,
    });
  }
}

/**
 * Looks at the driver beside this file, which a handle from the caller was most likely opened by, too.
 * @throws StorageUnusable `driver_unusable`.
 */
export function assertInstalledLoadable(): void {
  const version = installedVersion();
  // In a bundle the driver may lie where only the import finds it.
  if (version !== null) assertLoadable(version, process.versions);
}

/** Checked before the import: a Node dies of the wrong driver without an error that can be caught. */
export function assertLoadable(driverVersion: string, { node, napi, bun, deno }: RuntimeVersions): void {
  const speaksNodeApi = Number.parseInt(driverVersion, 10) >= FIRST_ON_NODE_API_10;
  const foreign = (bun !== undefined && `Bun ${bun}`) || (deno !== undefined && `Deno ${deno}`);
  const refuse = (why: string): never => {
    throw new StorageUnusable("driver_unusable", `better-sqlite3 ${driverVersion} ${why}`);
  };
  const newer = `\`npm install better-sqlite3@${FIRST_ON_NODE_API_10}\``;
  if (foreign !== false && !speaksNodeApi) refuse(`runs on Node alone and this is ${foreign}: ${newer}`);
  const [major = 0, minor = 0] = node.split(".").map(Number);
  const [abortsMajor, abortsMinor] = FIRST_NODE_THAT_ABORTS;
  const aborts = major > abortsMajor || (major === abortsMajor && minor >= abortsMinor);
  if (foreign === false && !speaksNodeApi && aborts) {
    refuse(
      `ends the process on Node ${abortsMajor}.${abortsMinor} and newer and this is Node ${node}: ${newer}`,
    );
  }
  if (!speaksNodeApi || Number(napi) >= 10) return;
  refuse(
    `needs Node 22.14 or newer and this is Node ${node}: run a newer Node, or \`npm install better-sqlite3@12\``,
  );
}

/** null where the driver cannot be found from this file. */
function installedVersion(): string | null {
  try {
    return (requireBeside()("better-sqlite3/package.json") as { readonly version: string }).version;
  } catch {
    return null;
  }
}

/** Looks beside this file. Bundlers leave this form of the call alone. */
function requireBeside(): NodeJS.Require {
  try {
    // Only a bundle that is a CommonJS file has this name. Its import.meta.url is missing, or that of the build's machine.
    return Module.createRequire(__filename);
  } catch {
    return Module.createRequire(import.meta.url);
  }
}
