/** PostgreSQL 13 and newer: any number of processes, on any number of machines. */
import { commitOne } from "./decided.ts";
import type { AnyCommit, CommitAnswer, EngineStorage } from "./storage.ts";
import { committed } from "./postgres/commits.ts";
import { Database } from "./postgres/database.ts";
import { canKeep } from "./postgres/text.ts";
import { GivenTables } from "./sql/given-tables.ts";
import { instanceReads } from "./sql/instance-statements.ts";
import { namedRead, statement } from "./sql/statement.ts";
import { callersClock, CLOCK, type DatabaseClock, databaseClock } from "./postgres/database-clock.ts";
import type { PostgresPool } from "./postgres/driver.ts";
import { isAway, lost, UnsentError } from "./postgres/explain.ts";
import type { HostPool } from "./postgres/host-pool.ts";
import { IndexBuilds } from "./postgres/index-builds.ts";
import { leased } from "./postgres/leases.ts";
import { StorageUnusable } from "./storage-unusable.ts";
import { type Connections, openConnections } from "./postgres/open.ts";
import { assertSameServer, assertWritten, prepareSchema } from "./postgres/prepare-schema.ts";
import { persistent, SOON } from "./postgres/retries.ts";
import { databaseDialect } from "./postgres/tables.ts";
import { tasksIn } from "./postgres/task-queue.ts";
import { transacted } from "./postgres/transact.ts";
import { WakeFeed } from "./postgres/wake-feed.ts";
import { commitWithin, type Place, placeOf } from "./postgres/within.ts";
import { WriterPool } from "./postgres/writer-pool.ts";

export type { PostgresClient, PostgresPool, PostgresQuery, PostgresResult } from "./postgres/driver.ts";
export { StorageUnusable, type StorageUnusableCode } from "./storage-unusable.ts";

/** Options of a storage on PostgreSQL. All options have a default. */
export interface PostgresOptions {
  /** The schema with all tables, created when absent: `paystate`. Two services in one database need two schemas. */
  readonly schema?: string;
  /** `false` refuses a schema that paystate has not written to yet, which would otherwise be created. Default true. */
  readonly create?: boolean;
  /** How many connections are opened from a URL at most, besides the one that listens, and one while an index is built: 10. */
  readonly connections?: number;
  /**
   * How many further connections handlers of `transact` have at most, in a pool of their own that the first of them opens: 10.
   * A handler that finds none for 5 s is tried again.
   */
  readonly transactConnections?: number;
  /** How long one statement may take, in milliseconds: 10,000. A server that is silent for 12.5 s is given up. */
  readonly statementTimeoutMs?: number;
  /** How long a statement waits for a lock that another session holds, in milliseconds: 5,000. */
  readonly lockTimeoutMs?: number;
  /**
   * The clock that judges leases and due times. `database`, the default: processes with different clocks agree, because
   * the times of each process are shifted by the difference from the database's clock. `caller`: times are taken as
   * given, for tests that turn a clock and for the storage contract.
   */
  readonly clock?: "database" | "caller";
  /**
   * The connection on which hints from other processes are heard, by LISTEN. Default: a further connection to the same
   * place. A URL: a connection to that place, for example past a pooler that hands out connections per transaction.
   * `false`: no hints, only polling.
   */
  readonly listen?: string | false;
}

/** A storage in PostgreSQL. */
export interface PostgresStorage extends EngineStorage {
  /**
   * Whether hints of other processes arrive: sends one to itself and waits two seconds for it. Where it is false, as
   * behind a pooler that swallows LISTEN, work that another process made due is found by polling.
   */
  hintsArrive(): Promise<boolean>;
}

/**
 * Opens a storage in PostgreSQL 13 or newer: by a URL, which may name several hosts of which the one that takes writes is
 * used (`postgres://user@first:5432,second:5432/name`), or with a `Pool` of pg 8, which then stays open on `close`. Its tables
 * are made first, once, however many processes start at the same time. A resolved commit is as durable as the server's
 * `synchronous_commit` says: with `on`, its default, it survives a loss of power.
 *
 * Works behind a pooler that hands out connections per transaction: no state is left in a session. A lock that another
 * session holds is waited for up to `lockTimeoutMs`; after a lost connection reads are asked again for ten seconds; a group
 * of commits is looked up before it is sent again, so it happens once.
 *
 * @throws StorageUnusable when the driver, the server or the schema cannot be used, with a sentence that says what to do.
 *
 * @example
 * ```ts no-run: it needs a server
 * import { createEngine } from "paystate/engine";
 * import { postgresStorage } from "paystate/storage/postgres";
 *
 * const storage = await postgresStorage("postgres://paystate@db.internal/payments");
 * export const engine = createEngine({ storage, workflows: [] });
 * ```
 */
export async function postgresStorage(
  urlOrPool: string | PostgresPool,
  options: PostgresOptions = {},
): Promise<PostgresStorage> {
  const { schema = "paystate", statementTimeoutMs = 10_000, lockTimeoutMs = 5_000 } = options;
  assertSchemaName(schema);
  const connections = await openConnections(urlOrPool, options);
  const { servers } = connections;
  const database = new Database(servers, { schema, statementTimeoutMs, lockTimeoutMs });
  try {
    const place = await onServer(servers, async () => {
      if (options.create === false) await assertWritten(database);
      await prepareSchema(database);
      return placeOf(database);
    });
    const storage = storageOn(database, connections, { ...options, place });
    // Waits for a standby that is promoted just now, and refuses one that stays a standby.
    if (options.create !== false) await commitOne(storage, {});
    if (servers.areSeveral && database.server === null) throw hidden();
    return storage;
  } catch (error) {
    await connections.close();
    throw lost(error);
  }
}

/** How long a server that may not be the right one, or not yet, is tried again, in milliseconds. */
const OPENING_MS = 10_000;

/** A single server that cannot be reached is refused at once: its name may be wrong. */
const onServer = <A>(servers: HostPool, act: () => Promise<A>): Promise<A> =>
  persistent(
    act,
    { ...SOON, maxRetryTime: OPENING_MS },
    (error) => isAway(error) && (servers.areSeveral || !(error instanceof UnsentError)),
  );

const hidden = (): StorageUnusable =>
  new StorageUnusable(
    "cannot_open",
    "of several hosts only one that tells which server it is can be used, and this one hides " +
      "pg_control_system() or its timeline: name one host, or grant the role EXECUTE on that function",
  );

/** With their indexes and long values. */
const usedBytes = statement<object, { bytes: number }>(
  `select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint as bytes
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = current_schema() and c.relkind = 'r'`,
);

const databaseTime = namedRead<object, { now: number }>(`select ${CLOCK} as now`);

function storageOn(
  database: Database,
  connections: Connections,
  { place, ...options }: PostgresOptions & { readonly place: Place },
): PostgresStorage {
  const builds = options.create === false ? null : new IndexBuilds(database, connections);
  const acts = databaseDialect(database, (given) => builds?.build(given));
  const tables = new GivenTables(acts);
  database.mendBy(async (apart) => {
    await assertSameServer(apart, database.server);
    await prepareSchema(apart);
    await new GivenTables(databaseDialect(apart)).install(tables.all());
  });
  const clock = options.clock === "caller" ? callersClock : databaseClock();
  const wakes = new WakeFeed(database, connections.listener, place.self);
  const channel = options.listen === false ? null : wakes.channel;
  const writers = new WriterPool(database);
  const { transactions: servers } = connections;
  const context = { database, place, tables, clock, wakes, channel, writers, servers };
  const goodbye = async (): Promise<void> => {
    await builds?.close();
    await wakes.close();
    await writers.forget();
  };
  let closing: Promise<void> | null = null;
  return {
    time: (now) => timeOf(database, clock, now),
    install: (wanted) => tables.install(wanted),
    async find(query) {
      if (![query.key, ...Object.values(query.equals ?? {})].every(canKeep)) return [];
      if (query.anyOf === undefined) return tables.find(query);
      const [field, values] = query.anyOf;
      return tables.find({ ...query, anyOf: [field, values.filter(canKeep)] });
    },
    tally: (query) => tables.tally(query),
    async commit(items) {
      const answers = await committed(context, items);
      if (items.some((item, index) => !isFailed(answers[index]) && makesWorkDue(item))) wakes.tell();
      return answers;
    },
    within: (host, item) => commitWithin(context, host, item),
    transact: (act) => transacted(context, act),
    ...tasksIn(context),
    lease: (request) => leased(database, clock, request),
    ...instanceReads(acts.read, usedBytes),
    onWake: (listener) => (channel === null ? () => {} : wakes.listen(listener)),
    hintsArrive: async () => channel !== null && wakes.arrives(),
    close: () => (closing ??= connections.close(goodbye)),
  };
}

async function timeOf(database: Database, clock: DatabaseClock, now: number): Promise<number> {
  const given = clock.now(now);
  if (given !== null) return given;
  const [row] = await database.read(databaseTime, {});
  return row?.now ?? now;
}

const isFailed = (answer: CommitAnswer | undefined): boolean =>
  answer?.ok === false && answer.conflict === "failed";

/** Whether the commit gives work to other processes: a task armed under a lease has its process already. */
const makesWorkDue = ({ arms = [], retries = [], limits = [] }: AnyCommit): boolean =>
  retries.length + limits.length > 0 || arms.some(({ lease }) => lease === undefined);

function assertSchemaName(schema: string): void {
  if (/^(?!pg_)[a-z_][a-z0-9_]{0,47}$/.test(schema)) return;
  throw new TypeError(
    `schema must be a lower-case letter or _, then up to 47 letters, digits and _, and not begin with pg_: not ${JSON.stringify(schema)}`,
  );
}
