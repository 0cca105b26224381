/** The database that tests of payments are given which do not ask for one: `PAYSTATE_TEST_DATABASE=postgres` makes it PostgreSQL. */
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import { postgresDatabase } from "./postgres-database.ts";
import { memoryStorage, postgresStorage } from "./storages.ts";

/** Whether databases that are copied, too, go on in PostgreSQL. */
export const ON_POSTGRES = process.env["PAYSTATE_TEST_DATABASE"] === "postgres";

/** An empty database. */
export async function newStorage(): Promise<PaymentStorage> {
  return ON_POSTGRES ? postgresStorage((await postgresDatabase()).open) : await memoryStorage();
}
