/** The adapters as the tests of payments hold them: with the tables and the named reads of the payment service. */
import { memoryStorage as memory } from "../../storage/memory.ts";
import { sqliteStorage as sqlite } from "../../storage/sqlite.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import { paymentStorage } from "../../src/payments/reads.ts";

/** A storage in memory. */
export const memoryStorage = (): PaymentStorage => paymentStorage(memory());

/** A storage in an SQLite database. Its tables are there before anything is asked of it. */
export async function sqliteStorage(...given: Parameters<typeof sqlite>): Promise<PaymentStorage> {
  const storage = paymentStorage(await sqlite(...given));
  await storage.fact("");
  return storage;
}

/** A storage in a schema of PostgreSQL. Its tables are there before anything is asked of it. */
export async function postgresStorage(open: PostgresDatabase["open"]): Promise<PaymentStorage> {
  const storage = paymentStorage(await open());
  await storage.fact("");
  return storage;
}
