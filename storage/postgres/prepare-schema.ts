/** Brings the schema of a PostgreSQL database up to this code: two programs that start at once do it once. */
import { Kysely, PostgresDialect, type PostgresPool as KyselyPool } from "kysely";
import { postgresSchema } from "../sql/migrations/dialect.ts";
import { isCurrent, migrate } from "../sql/migrations/index.ts";
import { plainName } from "../sql/statement.ts";
import { StorageUnusable } from "../storage-unusable.ts";
import type { SqlCall, Database } from "./database.ts";
import { isVanished } from "./explain.ts";
import { allFunctions, FUNCTIONS } from "./functions.ts";
import { UNADMITTED_INDEX } from "./functions/within.ts";
import { persistent, raced } from "./retries.ts";
import { literal } from "./text.ts";

/** The oldest server with all functions and clauses used here. */
const OLDEST_SERVER = 130_000;

/** Retries: a program that drops tables one by one may meet several tries. */
const VANISHING = { retries: 10, factor: 1.5, minTimeout: 5, maxTimeout: 200, randomize: true };

/** Locks only when something is missing. @throws StorageUnusable for an old server, a missing right, a schema of others. */
export async function prepareSchema(database: Database): Promise<void> {
  const { schema } = database;
  const isReady = await listing(database, async (ask) => {
    await assertServer(ask);
    return (await isCurrent(over(ask), postgresSchema, schema)) && (await hasAllBeside(ask));
  });
  if (isReady) return;
  await listing(database, async (ask) => {
    await lockSchema(ask, schema);
    await bringUp(ask, schema);
  });
}

/** Kysely lists the tables of every schema, and fails where another program drops one of its own meanwhile. */
function listing<A>(database: Database, act: (ask: SqlCall) => Promise<A>): Promise<A> {
  return persistent(() => raced(() => database.transaction(act)), VANISHING, isVanished);
}

/** Keeps others out who would make, bring up or fill this schema, until the transaction ends. */
export async function lockSchema(ask: SqlCall, schema: string): Promise<void> {
  await ask(`select pg_advisory_xact_lock(hashtextextended(${literal(`paystate/${schema}`)}, 0))`);
}

/** Creates the schema if absent, and everything missing in it; the caller holds the lock. */
export async function bringUp(ask: SqlCall, schema: string): Promise<void> {
  const [found = []] = await ask(`select 1 from pg_namespace where nspname = ${literal(schema)}`);
  if (found.length === 0) await ask(`create schema "${schema}"`);
  const db = over(ask);
  if (!(await isCurrent(db, postgresSchema, schema))) {
    await migrate(db, postgresSchema, { schema, nameOf: plainName });
  }
  await ask(WRITERS, UNADMITTED_INDEX, FUNCTIONS);
}

/** @throws StorageUnusable `not_a_database` when there is nothing of paystate in the schema. */
export async function assertWritten(database: Database): Promise<void> {
  const { schema } = database;
  const [rows = []] = await database.write(
    `select 1 from pg_tables where schemaname = ${literal(schema)} and tablename = 'paystateMigrations'`,
  );
  if (rows.length > 0) return;
  throw new StorageUnusable(
    "not_a_database",
    `there is nothing of paystate in the schema ${schema} of this database: mend the URL, or start a service on it first`,
  );
}

/** Tables made again on another server, reached by mistake, would begin without anyone's payments. @throws StorageUnusable there. */
export async function assertSameServer(database: Database, known: string | null): Promise<void> {
  if (known === null) return;
  const [rows = []] = await database.write("select system_identifier::text as id from pg_control_system()");
  const [row] = rows as readonly { readonly id: string }[];
  if (row?.id === known.split("/")[0]) return;
  throw new StorageUnusable(
    "unavailable",
    "another server answers than before, and what paystate needs is not in it: see where the URL leads; " +
      "to begin anew there, start every process again",
  );
}

/** Results of groups of commits: one short row for each writing connection, changed in place. */
const WRITERS = `
  create table if not exists "paystateWriters" (
    id text collate "C" primary key, number bigint not null, results text, "usedAt" bigint not null
  ) with (fillfactor = 40)`;

/** @throws StorageUnusable `server_too_old`, or `wrong_encoding` when the database cannot keep every text. */
export async function assertServer(ask: SqlCall): Promise<void> {
  const [rows = []] = await ask(
    `select current_setting('server_version_num')::int as number, current_setting('server_version') as name,
      current_setting('server_encoding') as encoding`,
  );
  const { number, name, encoding } = rows[0] as {
    readonly number: number;
    readonly name: string;
    readonly encoding: string;
  };
  if (number < OLDEST_SERVER) {
    throw new StorageUnusable(
      "server_too_old",
      `this server is PostgreSQL ${name} and paystate needs 13 or newer: upgrade the server`,
    );
  }
  if (encoding === "UTF8") return;
  throw new StorageUnusable(
    "wrong_encoding",
    `this database keeps texts in ${encoding} and paystate needs UTF8: create one with encoding 'UTF8' template template0`,
  );
}

async function hasAllBeside(ask: SqlCall): Promise<boolean> {
  const [rows = []] = await ask(
    `select proname from pg_proc where pronamespace = current_schema()::regnamespace
      and proname in (${allFunctions.map(literal).join(", ")})
    union all select relname from pg_class where relnamespace = current_schema()::regnamespace
      and relkind = 'r' and relname = 'paystateWriters'`,
  );
  return rows.length === allFunctions.length + 1;
}

/** Kysely within a transaction that is under way. Its statements have no parameters but the names of its own migrations. */
function over(ask: SqlCall): Kysely<unknown> {
  // A failed transaction refuses all that is asked after, and Kysely's migrator tells the last error: the first has the reason.
  let failed: { readonly error: unknown } | null = null;
  const client = {
    async query(text: string, values: readonly unknown[]) {
      if (failed !== null) throw failed.error;
      const given = text.replace(/\$(\d+)/g, (_, digits: string) => {
        const value = values[Number(digits) - 1];
        return typeof value === "boolean" ? String(value) : literal(value as string | number);
      });
      const [rows = []] = await ask(given).catch((error: unknown) => {
        failed = { error };
        throw error;
      });
      return { command: "SELECT" as const, rowCount: rows.length, rows: [...rows] };
    },
    release: () => {},
  };
  const pool = { connect: async () => client, end: async () => {} } as unknown as KyselyPool;
  return new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
}
