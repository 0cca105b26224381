/** The database of a chaos run, opened as one of its processes does. */
import { paymentStorage, type PaymentStorage } from "../../src/payments/payment-storage.ts";
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

/** A storage that others may have while it is away: it is closed, and later opened anew. */
export interface LentStorage {
  readonly storage: PaymentStorage;
  /** Closes it as long as this takes. */
  whileClosed<T>(work: () => Promise<T>): Promise<T>;
}

export async function lentStorage(database: DatabaseSettings): Promise<LentStorage> {
  let open = await openStorage(database);
  const storage = new Proxy({} as PaymentStorage, {
    get: (_, name): unknown => {
      const member: unknown = Reflect.get(open, name, open);
      if (typeof member !== "function") return member;
      return (...given: unknown[]): unknown =>
        Reflect.apply(Reflect.get(open, name) as typeof member, open, given);
    },
  });
  return {
    storage,
    async whileClosed(work) {
      await open.close();
      try {
        return await work();
      } finally {
        open = await openStorage(database);
      }
    },
  };
}
