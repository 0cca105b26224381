/** A database of which a copy is kept after each of its commits, as a backup might have been made there. */
import { randomUUID } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { ON_POSTGRES } from "../../kit/new-storage.ts";
import { movedDatabase } from "../../kit/postgres-database.ts";
import { emptySqlite, postgresStorage, sqliteStorage } from "../../kit/storages.ts";
import type { PaymentRecord } from "../../../src/payments/tables/payments.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";

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

/** A database restored from a copy; `forgetting` its attempts, it has lost what this service ever signed. */
export async function restore(copy: Uint8Array, forgetting: "attempts" | "nothing"): Promise<PaymentStorage> {
  const database = new Database(Buffer.from(copy));
  if (forgetting === "attempts") database.prepare("delete from paystateAttempts").run();
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

/** Of a payment, what tells how far it has come. */
export type Progress = Pick<PaymentRecord, "kind" | "signature">;

/** The first copy in which the order has such a payment. Its rows are read as they lie there: to open a storage takes longer. */
export function copyWith(
  copies: readonly Uint8Array[],
  transactionId: string,
  isMeant: (payment: Progress) => boolean,
): Uint8Array {
  const wanted = copies.find((copy) => progressIn(copy, transactionId).some(isMeant));
  if (wanted === undefined) throw new Error(`no copy has such a payment of ${transactionId}`);
  return wanted;
}

function progressIn(copy: Uint8Array, transactionId: string): readonly Progress[] {
  const database = new Database(Buffer.from(copy));
  try {
    return database
      .prepare<[string], Progress>("select kind, signature from paystatePayments where transactionId = ?")
      .all(transactionId);
  } finally {
    database.close();
  }
}

/** A payment that is planned and not signed yet. */
export function isPlanned(kind: PaymentRecord["kind"]): (payment: Progress) => boolean {
  return (payment) => payment.kind === kind && payment.signature === null;
}
