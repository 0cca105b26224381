/** Brings the schema of a PostgreSQL database up to this code: two programs that start at once do it once. */
import { postgresSchema } from "../sql/dialect.ts";
import {
  assertUsable,
  type FoundSchema,
  isWritten,
  READ_VERSION,
  SCHEMA,
  schemaStatements,
  UNRELEASED,
} from "../sql/schema.ts";
import { StorageUnusable } from "../storage-unusable.ts";
import type { SqlCall, Database } from "./database.ts";
import { allFunctions, FUNCTIONS } from "./functions.ts";
import { UNADMITTED_INDEX } from "./functions/within.ts";
import { persistent, raced } from "./retries.ts";
import { literal } from "./text.ts";

/** The oldest server with all functions and clauses used here. */
const OLDEST_SERVER = 130_000;

/** The makers of a schema are awaited as long as an outage: to end it would be to begin anew. */
const TAKEN = { retries: 240, factor: 1, minTimeout: 250 };

/**
 * Locks only when something is missing. @throws StorageUnusable for an old server, a missing right, a schema of others; and
 * `busy` where another process makes or fills this schema for longer than a minute.
 */
export async function prepareSchema(database: Database): Promise<void> {
  const { schema } = database;
  const isReady = await inOne(database, async (ask) => {
    await assertServer(ask);
    return (await hasSchema(ask, schema)) && (await hasAllBeside(ask));
  });
  if (isReady) return;
  const bring = (): Promise<void> =>
    inOne(database, async (ask) => {
      if (!(await isFree(ask, schema))) throw new SchemaTaken(schema);
      // However long it takes: who ends it would have to begin again.
      await ask("set local statement_timeout to 0");
      await bringUp(ask, schema);
    });
  await persistent(bring, TAKEN, (error) => error instanceof SchemaTaken);
}

class SchemaTaken extends StorageUnusable {
  constructor(schema: string) {
    const is = "another process of paystate makes or fills the schema";
    super("busy", `${is} ${schema}: open it again once that has ended`);
  }
}

const inOne = <A>(database: Database, act: (ask: SqlCall) => Promise<A>): Promise<A> =>
  raced(() => database.transaction(act));

const lockOf = (schema: string): string => `hashtextextended(${literal(`paystate/${schema}`)}, 0)`;

/** Keeps others out who would make, bring up or fill this schema, until the transaction ends. */
export async function lockSchema(ask: SqlCall, schema: string): Promise<void> {
  await ask(`select pg_advisory_xact_lock(${lockOf(schema)})`);
}

/** The same at once; false where another has it. */
async function isFree(ask: SqlCall, schema: string): Promise<boolean> {
  const [rows = []] = await ask(`select pg_try_advisory_xact_lock(${lockOf(schema)}) as free`);
  return (rows as readonly { readonly free: boolean }[])[0]?.free === true;
}

/** Creates the schema if absent, and everything missing in it; the caller holds the lock. */
export async function bringUp(ask: SqlCall, schema: string): Promise<void> {
  const [found = []] = await ask(`select 1 from pg_namespace where nspname = ${literal(schema)}`);
  if (found.length === 0) await ask(`create schema "${schema}"`);
  const made = (await hasSchema(ask, schema)) ? [] : schemaStatements(postgresSchema);
  await ask(writersIn(schema), ...made, UNADMITTED_INDEX, FUNCTIONS);
}

/**
 * False for a schema that is absent, empty, or closed to the role. Only the catalogue's rows of this one are read: other programs
 * may make and drop others meanwhile.
 * @throws StorageUnusable `newer_schema` or `old_schema` when this program cannot work with it, `foreign_database` when it has
 * tables but none of ours.
 */
async function hasSchema(ask: SqlCall, schema: string): Promise<boolean> {
  const from = `from pg_namespace n join pg_class c on c.relnamespace = n.oid and c.relkind in ('r', 'p', 'v')`;
  const isOurs = `where n.nspname = ${literal(schema)} and has_schema_privilege(n.oid, 'USAGE')`;
  const [found = []] = await ask(`select c.relname as name ${from} ${isOurs}`);
  const tables = (found as readonly { readonly name: string }[]).map(({ name }) => name);
  if (!isWritten(tables)) {
    if (tables.length === 0) return false;
    throw new StorageUnusable(
      "foreign_database",
      `the schema ${schema} holds tables that are not paystate's: give paystate a schema of its own`,
    );
  }
  const [versions, columns, uniques] = await ask(
    READ_VERSION,
    `select c.relname as "table", a.attname as "column" ${from} join pg_attribute a on a.attrelid = c.oid
      ${isOurs} and a.attnum > 0 and not a.attisdropped`,
    `select c.relname as "table", string_agg(a.attname, ' ') as "columns" ${from}
      join pg_index i on i.indrelid = c.oid join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
      ${isOurs} and i.indisunique and i.indisvalid and i.indpred is null group by c.relname, i.indexrelid`,
  );
  assertUsable({ versions, columns, uniques } as FoundSchema);
  return true;
}

/** @throws StorageUnusable `not_a_database` when there is nothing of paystate in the schema. */
export async function assertWritten(database: Database): Promise<void> {
  const { schema } = database;
  const [rows = []] = await database.write(
    `select 1 from pg_tables where schemaname = ${literal(schema)} and tablename in ('${SCHEMA}', '${UNRELEASED}')`,
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

/**
 * Results of groups of commits: one short row for each writing connection, changed in place. Made first, by the schema's name: where
 * the role may make nothing there, PostgreSQL would make what has none among the session's temporary tables.
 */
const writersIn = (schema: string): string => `
  create table if not exists "${schema}"."paystateWriters" (
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
