/** Databases of every adapter as several processes hold them: a handle for each. In memory they share one. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";
import type { PaymentDatabase } from "./adapters.ts";
import { postgresDatabase } from "./postgres-database.ts";
import { memoryStorage, postgresStorage, copiedSqlite } from "./storages.ts";

async function memory(): Promise<PaymentDatabase> {
  const storage = memoryStorage();
  return { open: async () => storage, destroy: async () => {} };
}

async function sqlite(): Promise<PaymentDatabase> {
  const folder = await mkdtemp(join(tmpdir(), "paystate-"));
  return { open: () => copiedSqlite(join(folder, "a.db")), destroy: () => rm(folder, { recursive: true }) };
}

async function postgres(): Promise<PaymentDatabase> {
  const { open, destroy } = await postgresDatabase();
  return { open: () => postgresStorage(open), destroy };
}

/** For `describe.each(sharedDatabases)("… on $name", ({ make }) => …)`: few tests, so PostgreSQL is among them. */
export const sharedDatabases: readonly {
  readonly name: string;
  readonly make: () => Promise<PaymentDatabase>;
}[] = [
  { name: "memory", make: memory },
  { name: "SQLite", make: sqlite },
  ...(HAS_POSTGRES ? [{ name: "PostgreSQL", make: postgres }] : []),
];
