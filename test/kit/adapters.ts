/** Every storage adapter there is, each as a fresh database: what is promised of one is tested on all. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";
import { databasesOfProject } from "../programs/project-of-run.ts";
import { postgresDatabase } from "./postgres-database.ts";
import { THOROUGH } from "./thorough.ts";
import { memoryStorage, postgresStorage, copiedSqlite } from "./storages.ts";

/** An empty database, with the tables of the payment service. */
export interface PaymentDatabase {
  /** Another handle on the same data, as another process would have. */
  open(): Promise<PaymentStorage>;
  /** Removes the database. Every handle is closed by then. */
  destroy(): Promise<void>;
}

/** An adapter by its name, and the way to an empty database of it. */
export interface Adapter {
  readonly name: string;
  readonly make: () => Promise<PaymentDatabase>;
}

const postgres: Adapter = {
  name: "PostgreSQL",
  async make() {
    const { open, destroy } = await postgresDatabase();
    return { open: () => postgresStorage(open), destroy };
  },
};

/** In memory, where every handle is the one storage. */
export const inMemory: Adapter = {
  name: "memory",
  async make() {
    const storage = await memoryStorage();
    return { open: async () => storage, destroy: async () => {} };
  },
};

/** A file of SQLite. */
export const onSqlite: Adapter = {
  name: "SQLite",
  async make() {
    const folder = await mkdtemp(join(tmpdir(), "paystate-"));
    return {
      open: () => copiedSqlite(join(folder, "test.db")),
      destroy: () => rm(folder, { recursive: true }),
    };
  },
};

const withoutServer: readonly Adapter[] = [inMemory, onSqlite];

/** All that this project tests, for suites that make few calls. */
export const everyAdapter: readonly Adapter[] = databasesOfProject(
  withoutServer,
  HAS_POSTGRES ? [postgres] : [],
);

/** For `describe.each(adapters)("… on $name", ({ make }) => …)`. */
export const adapters: readonly Adapter[] = [
  ...withoutServer,
  // Every call takes a round trip, and these suites make hundreds of thousands.
  ...(HAS_POSTGRES && THOROUGH ? [postgres] : []),
];
