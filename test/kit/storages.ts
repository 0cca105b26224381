/** The adapters as the tests of payments hold them: with the tables and the named reads of the payment service. */
import { randomUUID } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { copyFile, link, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { sqliteStorage as sqlite } from "../../storage/sqlite.ts";
import { NAMESAKES, PAYMENT_NAMESAKES } from "./namesakes.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import { type PaymentStorage, paymentStorage } from "../../src/payments/payment-storage.ts";

/**
 * A storage in memory, which goes on when it is closed: it stands for a database that others use. Without a clock a batch is one
 * transaction, however busy the machine is.
 */
export const memoryStorage = async (): Promise<PaymentStorage> =>
  paymentStorage(await sqlite(await emptySqlite(), { elapsed: () => 0 }));

/** A storage in an SQLite database. Its tables are there before anything is asked of it. */
export async function sqliteStorage(...given: Parameters<typeof sqlite>): Promise<PaymentStorage> {
  const storage = paymentStorage(await sqlite(...given));
  await storage.fact("");
  return storage;
}

/** The same, where it does not matter how the tables came there: a new file begins as the copy of one that has them. */
export async function copiedSqlite(path: string): Promise<PaymentStorage> {
  if (!existsSync(path)) await copyTo(path);
  return sqliteStorage(path);
}

/** Whole at once: of several who open one path at the same time none finds half a file, or has it replaced in its hands. */
async function copyTo(path: string): Promise<void> {
  const copy = `${path}.${randomUUID()}`;
  await copyFile(await emptyFile(), copy);
  await link(copy, path).catch((error: unknown) => {
    if (!existsSync(path)) throw error;
  });
  await rm(copy);
}

let empty: Promise<string> | null = null;

/** A file of a host with every table and no row: to copy it takes far less time than to make the tables. */
function emptyFile(): Promise<string> {
  return (empty ??= makeEmptyFile());
}

async function makeEmptyFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "paystate-empty-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "empty.db");
  new Database(path).exec(`${NAMESAKES}${PAYMENT_NAMESAKES}`).close();
  await (await sqliteStorage(path)).close();
  return path;
}

let emptyBytes: Promise<Uint8Array> | null = null;

/** A database in memory with every table and no row, for tests that make many: to copy it, too, takes far less time. */
export async function emptySqlite(): Promise<Database.Database> {
  return new Database(Buffer.from(await (emptyBytes ??= makeEmptyBytes())));
}

async function makeEmptyBytes(): Promise<Uint8Array> {
  const database = new Database(":memory:");
  const storage = await sqliteStorage(database);
  const bytes = database.serialize();
  await storage.close();
  database.close();
  return bytes;
}

/** A storage in a schema of PostgreSQL. Its tables are there before anything is asked of it. */
export async function postgresStorage(open: PostgresDatabase["open"]): Promise<PaymentStorage> {
  const storage = paymentStorage(await open());
  await storage.fact("");
  return storage;
}
