/** Commits in the transaction of a host, to which they only add rows. */
import { CompiledQuery } from "kysely";
import { failed, takenBack } from "../commit-answers.ts";
import {
  assertQuery,
  type CompiledQuery as GivenQuery,
  parametersOf,
  QueryFailed,
} from "../compiled-queries.ts";
import type { AnyCommit, CommitAnswer, HostClient, HostCommit, HostTransaction } from "../storage.ts";
import { answerOf, type CommitContext } from "./commits.ts";
import type { Database } from "./database.ts";
import { loadDriver } from "./driver.ts";
import { functionNames } from "./functions.ts";
import { GroupWrites } from "./prepare-writes.ts";
import { type CommitRows, runOf } from "./runs.ts";
import { jsonLiteral, literal } from "./text.ts";

interface HostContext extends Omit<CommitContext, "writers"> {
  readonly place: Place;
  /** The channel on which other processes hear of the commit once the host has committed; null for none. */
  readonly channel: string | null;
}

/** Where the storage was opened. */
export interface Place {
  readonly database: string;
  /** Null where the server hides it. */
  readonly server: string | null;
  /** A name that no other process has. */
  readonly self: string;
}

/** The answer of the database function; nothing where the rows were added. */
interface Told {
  readonly ended?: true;
  readonly elsewhere?: true;
  readonly refused?: string;
  readonly code?: string;
  readonly message?: string;
  /** The place of the query that the database did not carry out. */
  readonly query?: number;
  readonly constraint?: string | null;
}

/** Rejects as the host's library does where the transaction has failed before, or its connection. */
export async function commitWithin(
  context: HostContext,
  host: HostTransaction,
  item: HostCommit,
): Promise<CommitAnswer> {
  if ("prepare" in host) throw ofSqlite();
  const { place, tables, clock, channel } = context;
  const { schema } = context.database;
  // In the transaction of the second statement this number is the same, or there is none that both belong to.
  const [found] = await askHost(
    host,
    `select pg_current_xact_id()::text as transaction, current_setting('transaction_isolation') as isolation,
        current_database()::text as database, exists (
          select 1 from pg_proc p join pg_namespace n on n.oid = p.pronamespace
            where n.nspname = ${literal(schema)} and p.proname = ${literal(functionNames.within)}
              and has_schema_privilege(n.oid, 'USAGE'))::text as "isHere"`,
  );
  if (found?.["database"] !== place.database || found["isHere"] !== "true") throw elsewhere(schema);
  assertCounted(item, found["isolation"] ?? "");
  const transaction = found["transaction"] ?? "";
  const writes = new GroupWrites(tables, clock);
  const run = unadmitted(runOf(item, writes));
  const hints = channel !== null && { wakes: channel };
  const request = { run, ...writes.needs(), ...hints, transaction, server: place.server };
  const { queries = [] } = item;
  queries.forEach(assertQuery);
  const call =
    queries.length === 0
      ? `${functionNames.within}(${jsonLiteral(request)})`
      : `${functionNames.withinWith}(${literal(schema)}, ${jsonLiteral(request)}, ${jsonLiteral(await written(queries))})`;
  const [row] = await askHost(host, `select "${schema}".${call}::text as answer`);
  const told = JSON.parse(row?.["answer"] ?? "{}") as Told;
  if (told.ended === true) throw notOpen();
  if (told.elsewhere === true) throw elsewhere(schema);
  if (told.query !== undefined) return takenBack(new QueryFailed(told.query, told));
  if (told.code !== undefined) return failed(Object.assign(new Error(told.message), { code: told.code }));
  return told.refused === undefined ? { ok: true } : answerOf(told.refused);
}

/** Queries with their parameters as PostgreSQL reads them in a text: as pg writes them for the commits of the engine. */
async function written(queries: readonly GivenQuery[]): Promise<readonly object[]> {
  const { prepareValue } = (await loadDriver()).utils;
  const textOf = (value: unknown): string | null => {
    const prepared = prepareValue(value);
    return Buffer.isBuffer(prepared) ? `\\x${prepared.toString("hex")}` : prepared;
  };
  return queries.map((query) => ({ sql: query.sql, values: parametersOf(query).map(textOf) }));
}

type HostRows = readonly Readonly<Record<string, string | null>>[];

/** Asks through whatever library: values stand in the text, so each sends the same. Rejects as the library does. */
async function askHost(host: HostClient, text: string): Promise<HostRows> {
  const answer = await asked(host, text);
  return Array.isArray(answer) ? (answer as HostRows) : (answer as { readonly rows: HostRows }).rows;
}

function asked(host: HostClient, text: string): Promise<unknown> {
  if (has(host, "query")) return host.query(text);
  if (has(host, "executeQuery")) return host.executeQuery(CompiledQuery.raw(text) as never);
  if (has(host, "$queryRawUnsafe")) return host.$queryRawUnsafe(text);
  if (has(host, "execute")) return host.execute(text);
  throw new TypeError("within: expected a client of pg, or what TypeORM, Kysely, Prisma or Drizzle hand out");
}

/** Some have an object of this name, which is no way to ask. */
const has = <Name extends string>(
  host: HostClient,
  name: Name,
): host is Extract<HostClient, Readonly<Record<Name, unknown>>> =>
  typeof (host as Readonly<Record<string, unknown>>)[name] === "function";

/** Asked for when the storage is opened: later a host's transactions may have all connections of a shared pool. */
export async function placeOf(database: Database): Promise<Place> {
  const [[row] = []] = await database.write(
    `select current_database()::text as database, split_part(${functionNames.server}(null), '/', 1) as server,
      gen_random_uuid()::text as self`,
  );
  return row as Place;
}

/** Tasks with limits ask for room in the first claim after the COMMIT: until then nobody waits for their keys. */
function unadmitted({ arms = [], ...run }: CommitRows): CommitRows {
  const paused = arms.map((arm) => {
    const task = arm as Readonly<Record<string, unknown>>;
    return task["firstKey"] === null ? task : { ...task, admission: "paused" };
  });
  return { ...run, ...(paused.length > 0 && { arms: paused }) };
}

/** @throws TypeError where what is counted may have grown since the transaction began. */
function assertCounted({ writes = [] }: Pick<AnyCommit, "writes">, isolation: string): void {
  const isCounting = writes.some((write) => "insert" in write && write.atMost !== undefined);
  if (!isCounting || !/^(repeatable read|serializable)$/.test(isolation)) return;
  throw new TypeError(
    `within: this transaction is ${isolation} and does not see what others have added since it began, so nothing can ` +
      "be counted in it: make it read committed, or leave out atMost",
  );
}

const ofSqlite = (): TypeError =>
  new TypeError("within: this is a database of SQLite and the storage is on PostgreSQL");

const notOpen = (): TypeError =>
  new TypeError(
    "within: no transaction is open on this connection, or it has ended before the call: send BEGIN first, hand over " +
      "the connection itself and no pool, and await the call before COMMIT",
  );

const elsewhere = (schema: string): TypeError =>
  new TypeError(
    `within: this transaction is on another database than the storage, or its role may not use the schema ${schema}: ` +
      "open the storage on the host's own database",
  );
