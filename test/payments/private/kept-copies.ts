/** A database of which a copy is kept after each of its commits, as a backup might have been made there. */
import Database from "better-sqlite3";
import { sqliteStorage } from "../../kit/storages.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";

/** A storage, and what it was after each commit. */
export interface KeptCopies {
  readonly storage: PaymentStorage;
  readonly copies: readonly Uint8Array[];
}

/** SQLite in memory, from a copy if there is one: a copy is the very bytes that a file would have had. */
export async function keepCopies(from?: Uint8Array): Promise<KeptCopies> {
  const database = new Database(from === undefined ? ":memory:" : Buffer.from(from));
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
  if (forgetting === "attempts") database.prepare("delete from attempts").run();
  return sqliteStorage(database);
}
