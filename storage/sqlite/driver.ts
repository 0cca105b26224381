/**
 * The driver of SQLite: better-sqlite3, an optional peer, where it is installed, else the one that Node brings. It says what
 * to do where neither can be used.
 */
import Module from "node:module";
import { StorageUnusable } from "../storage-unusable.ts";
import { codeOf } from "./explain.ts";
import type { OpenedDatabase, OpenOptions, SqliteDatabase } from "./handle.ts";
import { adaptedNodeSqlite, hasNodeSqlite, type NodeSqliteDatabase, openNodeSqlite } from "./node-sqlite.ts";

/** The opener of files. Nothing sleeps while another has the lock. */
export interface SqliteDriver {
  readonly name: "better-sqlite3" | "node:sqlite";
  open(path: string, options: OpenOptions): OpenedDatabase;
}

type SqliteConstructor = new (
  path: string,
  options: OpenOptions & { readonly timeout: number },
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
export async function loadDriver(): Promise<SqliteDriver> {
  assertInstalledLoadable();
  try {
    const { default: Database } = (await import("better-sqlite3")) as unknown as {
      readonly default: SqliteConstructor;
    };
    return {
      name: "better-sqlite3",
      open: (path, options) => new Database(path, { timeout: 0, ...options }),
    };
  } catch (error) {
    // ERR_MODULE_NOT_FOUND, and MODULE_NOT_FOUND where a bundle requires it.
    if (!codeOf(error).endsWith("MODULE_NOT_FOUND")) throw error;
    if (hasNodeSqlite()) return { name: "node:sqlite", open: openNodeSqlite };
    throw new StorageUnusable(
      "driver_missing",
      "SQLite needs a driver: `npm install better-sqlite3`, or run Node 22.13 or newer, which brings one",
      { cause: error },
    );
  }
}

/**
 * The handle as the adapter uses it: that of better-sqlite3 itself.
 * @throws StorageUnusable `driver_unusable` where the driver beside this file, which most likely opened the handle, cannot be used.
 */
export function usableHandle(handle: SqliteDatabase | NodeSqliteDatabase): SqliteDatabase {
  if (!("pragma" in handle)) return adaptedNodeSqlite(handle);
  assertInstalledLoadable();
  return handle;
}

/** @throws StorageUnusable `driver_unusable` for what lies beside this file. */
function assertInstalledLoadable(): void {
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
