/** The database that a command works on beside the service: a file, opened as it is and never made. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { sqliteStorage } from "../../storage/sqlite.ts";
import type { PaymentStorage } from "../payments/payment-storage.ts";
import { paymentStorage } from "../payments/reads.ts";
import { UsageError } from "./usage-error.ts";

/** Where it is, as the command was told. */
export interface DatabasePlace {
  readonly data?: string | undefined;
  readonly database?: string | undefined;
}

/** Lets `act` use the database, and closes it. Throws a sentence when there is none: a mistyped name must not make one. */
export async function withDatabase(
  { data, database }: DatabasePlace,
  act: (storage: PaymentStorage) => Promise<void>,
): Promise<void> {
  if (data !== undefined && database !== undefined) {
    throw new UsageError("expected --data or --database, not both");
  }
  const file = database ?? join(data ?? ".paystate", "payments.db");
  if (!existsSync(file)) throw new Error(`there is no database ${file}: name one with --database FILE`);
  const storage = await sqliteStorage(file);
  try {
    await act(paymentStorage(storage));
  } finally {
    await storage.close();
  }
}
