/** A database of which a copy is kept after each of its commits, as a backup might have been made there. */
// modules: private
import { randomUUID } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { ON_POSTGRES } from "../../kit/new-storage.ts";
import { movedDatabase } from "../../kit/postgres-database.ts";
import { emptySqlite, postgresStorage, sqliteStorage } from "../../kit/storages.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import type { TransferRecord } from "../../../src/payments/private/tables.ts";

/** A storage, and what it was after each commit. */
export interface KeptCopies {
  readonly storage: PaymentStorage;
  readonly copies: readonly Uint8Array[];
}

/** SQLite in memory, from a copy if there is one: a copy is the very bytes that a file would have had. */
export async function keepCopies(from?: Uint8Array): Promise<KeptCopies> {
  const database = from === undefined ? await emptySqlite() : new Database(Buffer.from(from));
  const storage = await sqliteStorage(database);
  const copies: Uint8Array[] = [];
  const commit: PaymentStorage["commit"] = async (items) => {
    const results = await storage.commit(items);
    copies.push(database.serialize());
    return results;
  };
  return { storage: { ...storage, commit }, copies };
}

/** A database restored from a copy. */
export async function restore(copy: Uint8Array): Promise<PaymentStorage> {
  const database = new Database(Buffer.from(copy));
  return ON_POSTGRES ? moved(database) : sqliteStorage(database);
}

/** The database as it goes on in PostgreSQL. */
async function moved(database: Database.Database): Promise<PaymentStorage> {
  const from = join(tmpdir(), `paystate-copy-${randomUUID()}.db`);
  await writeFile(from, database.serialize());
  database.close();
  try {
    return await postgresStorage(await movedDatabase(from));
  } finally {
    await rm(from, { force: true });
  }
}

/** Of a transfer, what tells how far it has come. */
type Progress = Pick<TransferRecord, "kind" | "state">;

/** The first copy in which the order has such a transfer. Its rows are read as they lie there: to open a storage takes longer. */
export function copyWith(copies: readonly Uint8Array[], order: string, wanted: Progress): Uint8Array {
  const found = copies.find((copy) => isIn(copy, order, wanted));
  if (found === undefined) {
    throw new Error(`no copy has a ${wanted.kind} of ${order} that is ${wanted.state}`);
  }
  return found;
}

function isIn(copy: Uint8Array, order: string, { kind, state }: Progress): boolean {
  const database = new Database(Buffer.from(copy));
  try {
    const query = 'select 1 from paystateTransfers where "order" = ? and kind = ? and state = ?';
    return database.prepare(query).get(order, kind, state) !== undefined;
  } finally {
    database.close();
  }
}
