/** The database of a chaos run, opened as one of its processes does. */
import { paymentStorage } from "../../src/payments/reads.ts";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import { postgresStorage } from "../../storage/postgres.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import type { DatabaseSettings } from "./processes/settings.ts";

/** Few enough for four processes and the one who judges. */
const CONNECTIONS = 6;

export async function openStorage(database: DatabaseSettings): Promise<PaymentStorage> {
  const storage = await (database.kind === "sqlite"
    ? sqliteStorage(database.path)
    : postgresStorage(database.url, { connections: CONNECTIONS, clock: database.clock }));
  return paymentStorage(storage);
}
