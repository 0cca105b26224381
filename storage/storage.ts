/**
 * The storage port of the engine, with its own tables and the tables of the caller. README.md has its promises, G1 to G10,
 * which the published contract suite tests on every adapter.
 *
 * Times are milliseconds since the Unix epoch and come from the caller; an adapter may judge leases and due times by
 * its database's clock instead; then it has an option to use the caller's clock, as the suite needs. JSON travels as text, so
 * that a text is read byte for byte as written. Records go in and out as copies.
 */
import type { CompiledQuery, QueryRefusal } from "./compiled-queries.ts";
import type { HistoryRecord, InstanceRecord, StoredTask, TaskKind } from "./engine-tables.ts";
import type { AnyTable, Table } from "./table.ts";

export type { HistoryRecord, InstanceRecord, TaskKind } from "./engine-tables.ts";

/**
 * The queue a task waits in. `steps`: timers and messages, which are short. `free`: effects and invocations without
 * limits, which may take long. `limited`: effects and invocations with limits.
 */
export type QueueName = "steps" | "free" | "limited";

/** A limit on the tasks of one key that are held or claimable at once: over all processes and workflows. */
export interface Limit {
  readonly key: string;
  readonly atMost: number;
}

/** A due time. */
export interface DueTime {
  readonly dueAt: number;
  /** How long after now that is, counted anew where the clock was set back: see `lease`. Absent for an absolute moment. */
  readonly delayMs?: number;
}

/** Work due at a time. */
export interface TaskRecord
  extends DueTime, Pick<StoredTask, "id" | "instance" | "workflow" | "kind" | "name" | "payload"> {
  /**
   * Limits of effects, invocations and messages: none, one, or two, of which the second is counted within the first,
   * like the webhooks of an account. While a key has no room the task is *parked*: no claim sees the task until a task
   * of the key ends. Room and order: inside.md, "A limit".
   */
  readonly limits: readonly Limit[];
  /**
   * A whole number, default 0: among parked tasks of its keys a larger one is admitted sooner. It counts nowhere else: a
   * claim takes admitted tasks as they are due. Messages have none.
   */
  readonly priority?: number;
}

/** The limits that a task waits for. */
export type LimitWait =
  /** A place of this key, with so many of the same keys and kind of waiting before it; counted up to 1,000. */
  | { readonly key: string; readonly before: number }
  /** The rate of this key, until then. */
  | { readonly key: string; readonly until: number };

/** A task of an instance, with its state so far. */
export interface PendingTask
  extends
    TaskRecord,
    Pick<StoredTask, "crashes" | "failures" | "lastError" | "visibleAt" | "failingSince" | "deadAt"> {
  /**
   * In hand at two deaths of a holder or more within an hour, until it ends or fails in the normal way. Where several were in one
   * hand, each is handed out only while no other suspect is held.
   */
  readonly isSuspect: boolean;
  /** True from its claim to its end, also where the lease has run out and the next claim is still to come. */
  readonly isHeld: boolean;
  /** True while a key of its limits has no room for it. */
  readonly isParked: boolean;
  /** For an effect or an invocation that waits for its limits. Lists of all instances tell of rates alone, and count no places. */
  readonly waitsFor?: LimitWait;
}

/** A listing of instances. A list is as of the last commit, and read by an index. */
export type InstanceListQuery = { readonly limit: number } & (
  | {
      /** Instances of one workflow and status, ascending by id, as bytes. */
      readonly order: "id";
      /** Exactly this chart and version, as `name@version`. */
      readonly workflow: string;
      readonly status: InstanceRecord["status"];
      /** Only those whose id is larger; `""` for the first page. */
      readonly after: string;
    }
  | {
      /** All, the newest first; those of one millisecond descending by id. */
      readonly order: "newest";
      /** The last one of the page before; null for the first page. */
      readonly after: Pick<InstanceRecord, "createdAt" | "id"> | null;
    }
  | {
      /** Ended instances, by the time of their last step, oldest first; at the same time, ascending by id. */
      readonly order: "ended";
      /** Only instances whose last step is at least this old. */
      readonly until: number;
      /** The last one of the page before; null for the first page. */
      readonly after: Pick<InstanceRecord, "updatedAt" | "id"> | null;
    }
  | {
      /** Instances by workflow. A limit of 1 gives an instance of the next workflow. */
      readonly order: "workflow";
      /** Only those whose workflow is larger; `""` for the first page. */
      readonly after: string;
    }
);

/** A listing of tasks. All lists except the first two exclude dead letters. */
export type TaskListQuery =
  /** Tasks of one instance, none of the kind `except`: by name; with equal names, as armed. */
  | {
      readonly order: "instance";
      readonly instance: string;
      readonly limit: number;
      readonly except?: TaskKind;
    }
  /** Dead letters, newest first; at the same time, the last armed first. */
  | { readonly order: "dead"; readonly limit: number }
  /** Tasks with `least` or more failures: longest failing first, then as armed. */
  | { readonly order: "failing"; readonly least: number; readonly limit: number }
  /** Timers and messages of a workflow: earliest claimable first, then as armed. */
  | { readonly order: "due"; readonly workflow: string; readonly limit: number }
  /** Messages parked under this key, as they were armed: they wait for the message that has the room. */
  | { readonly order: "parked"; readonly key: string; readonly limit: number }
  /**
   * Tasks parked although their keys have room, which no storage may leave behind. A call examines the first parked
   * task of 64 keys; the next call continues behind those keys.
   */
  | { readonly order: "forgotten" }
  /** The first claimable task of each workflow, workflows ascending; a waiting suspect counts with its latest time. */
  | { readonly order: "workflow" };

/** A task in the hands of one holder until its lease ends. */
export interface ClaimedTask extends TaskRecord, Pick<StoredTask, "token" | "crashes" | "failures"> {}

/**
 * A lease taken in the commit that arms the task, with the token 1. A task with limits gets it where no other of its first
 * key is still to be done: see `parked` of the result.
 */
export interface ArmLease {
  readonly holder: string;
  readonly until: number;
  readonly leaseMs: number;
}

/**
 * A task that continues under a new name and payload, for a new version of its chart. The result of a present holder is
 * refused, and the task can be claimed at `dueAt`, unless it is a dead letter.
 */
export interface TaskMigration extends DueTime {
  readonly task: string;
  readonly name: string;
  readonly payload: string;
}

/** The next state of an existing instance; its `stamp` is a unique id of this step, beginning with the time. */
export interface StepRecord extends Pick<
  InstanceRecord,
  "id" | "stamp" | "workflow" | "hash" | "status" | "snapshot"
> {
  /** The stamp of the step before. */
  readonly after: string;
  /** The number of steps in this record, by which the version of the instance grows. Default: one. */
  readonly steps?: number;
  readonly at: number;
  /**
   * The instance ends with this step and is not kept: it goes with its history, and its id is free again. Its timers and
   * promises end by `ends`; messages and effects stay.
   */
  readonly isLast?: true;
}

/**
 * Refuses an inserted row when its group (see `group` of the table) already holds `count` rows, or would add up to more
 * than `total`. Rows that are as old as `since` do not count and are removed. With a `total` of null nothing is refused,
 * and only what is as old as `since` is removed. Looking and inserting are one atomic act, however many race.
 */
export type GroupLimit =
  | { readonly count: number; readonly since?: number }
  | { readonly total: bigint | null; readonly since?: number };

/**
 * The result of a mapped type. Written as a condition, types of few tables are assignable to those of more: a commit of some
 * tables is also a commit of all, and a committer to all also commits to some.
 */
type ValueOf<M> = M extends unknown ? M[keyof M] : never;

/** Adds a row. Refused when its id, or another unique field, is taken. */
export type Insert<W> = ValueOf<{
  [T in keyof W & string]: {
    readonly table: T;
    readonly insert: W[T];
    readonly atMost?: GroupLimit;
  };
}>;

/**
 * Changes the named fields of one row. Refused when the row is absent, its `version` is not the expected one, a deadline is
 * over, or another row has the new value of a unique field.
 */
export type Update<W> = ValueOf<{
  [T in keyof W & string]: {
    readonly table: T;
    readonly id: string;
    readonly set: Partial<Omit<W[T], "id" | "version">>;
    /** For tables with a `version`: the one this change was made from. It grows by one with every change. */
    readonly expectedVersion?: number;
    /**
     * A time, an integer field, that must still be in the future. Judged inside the statement by the database's clock if the
     * adapter has one, else by `now`.
     */
    readonly unexpired?: { readonly field: keyof W[T] & string; readonly now: number };
  };
}>;

/**
 * Changes nothing, and refuses the commit unless the row has exactly this version; at version 0, unless there is no such
 * row. A row that was read before a commit still has its values in it. For tables with a `version`.
 */
export type Expectation<W> = ValueOf<{
  [T in keyof W & string]: { readonly table: T; readonly id: string; readonly expectVersion: number };
}>;

/**
 * Removes one row. Refused when the row is absent, or a field that `expected` names has another value: what was read of the
 * row before still holds in the commit that removes it. Among racing removals of one row, one is carried out. Its key, and its
 * unique values, are free again. Rows of append-only tables are never removed.
 */
export type Removal<W> = ValueOf<{
  [T in keyof W & string]: {
    readonly table: T;
    readonly remove: string;
    /** Fields of the kinds text, integer and boolean, with the values that they must have; null for none. */
    readonly expected?: Partial<W[T]>;
  };
}>;

/** Adds a row, or takes the place of the one with its key. Never refused. For tables with no more than a key and indexes. */
export type Put<W> = ValueOf<{
  [T in keyof W & string]: { readonly table: T; readonly put: W[T] };
}>;

/** Removes one row where it is there. Never refused. */
export type Unput<W> = ValueOf<{
  [T in keyof W & string]: { readonly table: T; readonly unput: string };
}>;

/** A write to one of the caller's tables inside a commit: one closed union over the tables of `W`. */
export type Write<W> = Insert<W> | Update<W> | Expectation<W> | Removal<W> | Put<W> | Unput<W>;

/** An insert into a table that the compiler does not know: adapters check it by the description. */
export type AnyInsert = Insert<Record<string, unknown>>;

/** An update of any table. */
export type AnyUpdate = Omit<Update<Record<string, unknown>>, "unexpired"> & {
  readonly unexpired?: { readonly field: string; readonly now: number };
};

/** An expectation of a row of any table. */
export type AnyExpectation = Expectation<Record<string, unknown>>;

/** A removal from any table. */
export type AnyRemoval = Removal<Record<string, unknown>>;

/** A row to be put into any table. */
export type AnyPut = Put<Record<string, unknown>>;

/** A write to any table. */
export type AnyWrite =
  AnyInsert | AnyUpdate | AnyExpectation | AnyRemoval | AnyPut | Unput<Record<string, unknown>>;

/** Rows of one table, found by one of its indexes. Null stands before all values, false before true, texts are ordered by their bytes. */
export interface RowQuery<R extends object> {
  readonly table: Table<R>;
  /** The row with this key, by the cheapest read. No other field is looked at. */
  readonly key?: string;
  /**
   * The name of an index or of a unique field of the table, or `key`. Rows are ordered by the index fields that
   * `equals` does not fix; rows with equal fields are in the order of insertion. Default: all rows in the order of
   * insertion.
   */
  readonly index?: string;
  /** Values of the first fields of the index. */
  readonly equals?: { readonly [F in keyof R]?: R[F] };
  /**
   * A field of the kind `text`, the key or the first field of an index, and values: only rows that have one of the values in
   * that field are found, by one statement, however many values there are.
   */
  readonly anyOf?: readonly [field: keyof R & string, values: readonly string[]];
  /**
   * A place in the order: values of the first index fields that `equals` does not fix. Only rows beyond the place are
   * found: greater rows with `asc`, smaller rows with `desc`. The first differing field decides; a row with null in
   * that field is not found.
   */
  readonly after?: readonly (string | number | boolean)[];
  /** The key of a row: only rows beyond this row are found; no rows when the row itself would not be found. */
  readonly beyond?: string;
  /** `desc` is exactly the reverse of `asc`, also for rows that are equal in the index. Default `asc`. */
  readonly order?: "asc" | "desc";
  /** Default: all rows. */
  readonly limit?: number;
}

/** Rows of one table, counted and summed instead of read. */
export interface Tally<R extends object> extends Pick<RowQuery<R>, "table" | "index" | "equals" | "after"> {
  /** A field of the kind `amount`, to be summed. */
  readonly sum?: keyof R & string;
  /**
   * True has a storage that keeps the totals of groups count this group's rows one by one, and keep that total from then on. For
   * totals that something else has changed than the storage itself.
   */
  readonly recount?: boolean;
}

/** The result of a tally. `total` is 0 without a summed field. */
export interface TallyResult {
  readonly count: number;
  readonly total: bigint;
}

/**
 * Everything that happens together or not at all. All parts are optional; a commit without a step is fine. Removals
 * (consumed, disarmed) come before additions, so that a step may disarm a timer and arm it again.
 */
export interface Commit<W> extends CommitParts {
  readonly writes?: readonly Write<W>[];
}

/** A commit whose writes the compiler does not know: what adapters are given. */
export interface AnyCommit extends CommitParts {
  readonly writes?: readonly AnyWrite[];
}

/** How many tasks of a key may have room from now on, whatever the limits of the tasks say; null: what they say. */
export interface ChangedLimit extends DueTime {
  readonly key: string;
  /** 0 admits none. */
  readonly atMost: number | null;
}

/** The parts of a commit besides its writes. */
export interface CommitParts {
  readonly step?: StepRecord;
  /**
   * New instances: at version 1, and their stamp is their life. A start that stands for several steps says its version,
   * its life and the time of the last step. Refused when the id exists.
   */
  readonly starts?: readonly (Omit<InstanceRecord, "version" | "updatedAt" | "life"> &
    Partial<InstanceRecord>)[];
  /**
   * The task this commit brings to its end. Refused unless the token is that of its latest claim, and by nothing else: that of
   * a lease which ran out, or of a task which was given back or set aside since, still counts.
   */
  readonly consumes?: { readonly task: string; readonly token: number };
  /** Messages parked right behind the consumed task, which end with it. Refused with `token` when one is missing. */
  readonly behind?: readonly string[];
  /**
   * Tasks to be tried at `dueAt`, by an operator's command: dead letters, whose crashes and failures are forgotten, and
   * tasks that wait after a failure. Refused with `token` when one is neither.
   */
  readonly retries?: readonly ({ readonly task: string } & DueTime)[];
  /**
   * Dead letters, and messages and effects of ended instances that wait after a failure, to remove by an operator's command.
   * Refused with `token` if a task is something else.
   */
  readonly drops?: readonly string[];
  /**
   * Ended instances to remove with their history; their ids are free again. Refused with `step` when one is absent or of
   * another life; is active or has an active child; or still has a task, a dead letter or a message.
   */
  readonly removes?: readonly Pick<InstanceRecord, "id" | "life">[];
  /**
   * Overrides of limits. Messages keep their own limit. Admitted effects and invocations of the key that nobody has in hand
   * ask for room anew; tasks that wait for its rate are due at `dueAt`; what is in hand goes on.
   */
  readonly limits?: readonly ChangedLimit[];
  /** Tasks to arm. A message takes over the workflow of its target, where that is there. */
  readonly arms?: readonly { readonly task: TaskRecord; readonly lease?: ArmLease }[];
  /** Instances whose tasks all belong to this workflow from now on. Leases, tokens and counts stay as they are. */
  readonly adopts?: readonly { readonly instance: string; readonly workflow: string }[];
  /** Tasks that go on in another form. An absent one is no error. */
  readonly amends?: readonly TaskMigration[];
  /** Timers and invocations of an instance to disarm, by their name; an absent one is no error. */
  readonly disarms?: readonly { readonly instance: string; readonly timer: string }[];
  /** Instances that have ended: all their timers and invocations are disarmed. */
  readonly ends?: readonly string[];
  /** Rows to remove from histories: those below the version `before`, of which 20,000 in one commit, the oldest. */
  readonly forgets?: readonly { readonly instance: string; readonly before: number }[];
  readonly history?: readonly HistoryRecord[];
  /**
   * Statements of the host's own, each one that writes rows; where the first is refused, so is the commit. They come last, and
   * deferred constraints are judged before the end. A commit that has some is a physical transaction of its own; a storage
   * without SQL answers `failed`.
   */
  readonly queries?: readonly CompiledQuery[];
}

/**
 * The result of one commit of a batch: durable, or refused as a whole. Checked in this order: `token`, a task is gone,
 * has a different holder, or cannot be retried or dropped; `step`, the instance is absent or has made a different step,
 * or an instance cannot be removed; `exists`, `starts[index]` exists already; `write`, `writes[index]` was refused; `query`,
 * the database refused one of `queries` for what it holds.
 */
export type CommitResult =
  /**
   * `parked`: tasks of `arms` whose lease was not given: see `ArmLease`. `admits`: what was parked has room since this
   * commit, or one beside it, and can be claimed.
   */
  | { readonly ok: true; readonly parked?: readonly string[]; readonly admits?: true }
  | { readonly ok: false; readonly conflict: "step" | "token" }
  | { readonly ok: false; readonly conflict: "exists" | "write"; readonly index: number }
  | { readonly ok: false; readonly conflict: "query"; readonly refusal: QueryRefusal };

/**
 * The answer to one commit of a batch. Besides a result: `failed`, certainly not applied, with the reason; or
 * `unknown`, since the answer of the database was lost: the commit was applied, may still be, or never will be.
 */
export type CommitAnswer = CommitResult | CommitFailure;

/** The database did not decide about a commit. */
export interface CommitFailure {
  readonly ok: false;
  readonly conflict: "failed" | "unknown";
  readonly error: unknown;
}

/** The parts of a commit that only add rows; `queries` find tables as the host does. */
export type HostCommit = Pick<AnyCommit, "starts" | "arms" | "history" | "queries"> & {
  readonly writes?: readonly (AnyInsert | AnyPut)[];
};

/**
 * A database of SQLite whose transaction the host has opened: the `Database` of better-sqlite3, or the `DatabaseSync` of
 * `node:sqlite`.
 */
export interface HostDatabase {
  prepare(sql: string): object;
}

/**
 * A connection to PostgreSQL on which the host has opened a transaction: a client of pg, or what is handed out for one by
 * TypeORM (`query`), Kysely (`executeQuery`), Prisma (`$queryRawUnsafe`) or Drizzle (`execute`).
 */
export type HostClient =
  | { query(text: string): Promise<unknown> }
  | { executeQuery(compiled: never): Promise<unknown> }
  | { $queryRawUnsafe(text: string): Promise<unknown> }
  | { execute(text: string): Promise<unknown> };

/**
 * The connection of a transaction that the storage has opened: a `PoolClient` of pg, which needs no `release`. It rejects what
 * begins or ends a transaction, and each query that comes once the handler has settled. Settings that a handler makes for the session end with its transaction.
 */
export interface TransactionClient {
  query(
    text: string,
    values?: readonly unknown[],
  ): Promise<{ readonly rows: Record<string, unknown>[]; readonly rowCount: number | null }>;
}

/** The transaction of a host. */
export type HostTransaction = HostDatabase | HostClient;

/** The ids that a heartbeat has not extended: leases that are lost, and those whose rows somebody has locked. */
export interface Heartbeat {
  readonly lost: readonly string[];
  readonly unseen: readonly string[];
}

/** A worker's request for tasks. */
export interface ClaimRequest {
  readonly holder: string;
  readonly now: number;
  readonly leaseMs: number;
  /** The workflows this holder knows, as `name@version`. Tasks of others are left alone. */
  readonly workflows: readonly string[];
  /** How many tasks of each queue it has hands for. Tasks of one queue never take the place of another's. */
  readonly steps: number;
  readonly free: number;
  readonly limited: number;
  /** The number of counted deaths, one at least, before a task is set aside as a dead letter (inside.md, "A death"). */
  readonly maxCrashes: number;
}

/** A name that one holder owns until a time. Work for a single process is done under such a name. */
export interface Lease {
  readonly name: string;
  readonly holder: string;
  readonly until: number;
  /** How far the clock was set back, asked for with `highest`; absent when it was not set back. */
  readonly setBackMs?: number;
}

/** A request for named leases: holder and duration. */
export interface LeaseRequest {
  readonly names: readonly string[];
  readonly holder: string;
  /**
   * Reads the caller's clock, behind the rows that are judged: a time below theirs then proves that it was set back. A time told
   * with the call would be one of before where the caller was frozen on the way.
   */
  readonly now: () => number;
  /** 0 gives them up. */
  readonly leaseMs: number;
  /** The highest time that the caller has seen: tasks are moved where the clock was set back behind it, or behind that of a name. */
  readonly highest?: number;
}

/** The storage port of `paystate/engine`. `install` adds tables to the engine's tables. */
export interface EngineStorage {
  /**
   * Installs these tables as described: creates absent tables, and runs missing migrations. Atomic, and only once,
   * however many processes begin at the same time. Installed tables cost one read. Each process installs what it reads and
   * writes, so an adapter has the descriptions of tables that a commit names. @throws StorageUnusable
   * `newer_schema` when a table has seen more migrations than its description knows; `other_table` when the stored table
   * differs from the description and no migration explains the difference.
   */
  install(tables: readonly AnyTable[]): Promise<void>;
  /**
   * Rows of an installed table, as of the last commit (G7). Reads by key, by a unique field or with `anyOf`, `load` and tasks of one instance see
   * one state of the process's own commits where they are asked for without awaiting. If one of them fails, the others are read again.
   * @throws TypeError when the index does not exist, or a value does not fit its field.
   */
  find<R extends object>(query: RowQuery<R>): Promise<readonly R[]>;
  /** The number of rows that `find` would find, and the sum of a field. */
  tally<R extends object>(query: Tally<R>): Promise<TallyResult>;
  /**
   * Carries out separate, atomic commits in order: a refused commit leaves no trace and disturbs no neighbour (G1, G8).
   * Resolves once every `ok` is durable (G5), with an answer for each commit, in order. Every answer is true (G9): a
   * commit whose answer may have been lost is never carried out again; a commit that breaks a rule (a taken task id, a
   * history version twice, a fractional time) is `failed` alone. A batch may be several physical transactions. Rejects only
   * when no commit of the batch was applied.
   */
  commit(items: readonly AnyCommit[]): Promise<readonly CommitAnswer[]>;
  /**
   * Carries out one commit in a transaction that the host has opened in the same database: durable where the host commits,
   * gone where it rolls back. The commit only adds rows, and takes no lock of an instance or a key: tasks with limits are
   * admitted by the first claim after the COMMIT. A refused or failed commit leaves the transaction as it was. In a
   * database of SQLite all is done, or thrown, before the call returns. Absent where a host can have no transaction.
   * @throws TypeError when no transaction is open, it is on another database, or `atMost` cannot be judged in it.
   */
  within?: (host: HostTransaction, item: HostCommit) => CommitAnswer | Promise<CommitAnswer>;
  /**
   * Opens a transaction, lets `act` work in it, and carries out the commit that `act` answers as its last statement: all of it
   * is durable, or nothing. Locks of the engine are taken by that statement alone. `act` runs again where the transaction met
   * others (40001, 40P01), or, three times at most, its COMMIT was lost and has not happened. Absent where the database has no such transactions.
   * Rejects as `act` does, and where the connection went away before COMMIT. @throws TypeError when `act` has ended the transaction, or has set another isolation than read committed.
   */
  transact?: (act: (client: TransactionClient) => Promise<AnyCommit>) => Promise<CommitAnswer>;
  /**
   * Leases due tasks, earliest first within each of the three budgets, then as armed: tasks that were never claimed,
   * were released, or whose lease has ended. Among racing callers, a task goes to exactly one (G4). Suspects whose
   * turn it is (inside.md, "A death") come first in the answer, within their queues' budget and their keys' room. A claim
   * outlasts a restart as a commit does; a loss of power that ends all holders, too, may take it back.
   */
  claim(request: ClaimRequest): Promise<readonly ClaimedTask[]>;
  /**
   * Extends the held leases atomically; what is neither extended nor lost is asked for again soon. A lease that has
   * ended is still held until a claim finds it. A task that a claim has taken from this holder, and that is still untouched,
   * goes back to it, even without room in its keys or beside a held suspect: a holder that sends heartbeats has not vanished,
   * so the crash is taken back. A dead letter stays a dead letter.
   */
  heartbeat(request: {
    readonly holder: string;
    readonly tasks: readonly { readonly id: string; readonly token: number }[];
    readonly now: number;
    readonly leaseMs: number;
  }): Promise<Heartbeat>;
  /**
   * Gives a task back undone, due again at `dueAt`. With `error` it has failed, and is no suspect any longer; with `isFinal`
   * besides, it becomes a dead letter without crashes. With `keepsRoom` the task keeps its room while it waits, so no other
   * task of its keys passes; a suspect keeps none. `rateKey` says for the rate of which key it waits, until then or until
   * that key is overridden. False when the token is no longer the latest, or the task was set aside as a dead letter.
   */
  release(
    request: DueTime & {
      readonly id: string;
      readonly token: number;
      readonly error?: string;
      readonly isFinal?: true;
      readonly keepsRoom?: true;
      readonly rateKey?: string;
    },
  ): Promise<boolean>;
  /** The instance as of the last commit (G7), or null. */
  load(id: string): Promise<InstanceRecord | null>;
  /**
   * When the earliest task of these workflows, and queues, becomes claimable: a held task at the end of its lease; a suspect
   * not before the end of another suspect's lease. Parked tasks are left out. Null when there is none.
   */
  nextDue(workflows: readonly string[], queues?: readonly QueueName[]): Promise<number | null>;
  /** Committed steps of an instance, oldest first, from version `after + 1`. */
  history(
    instance: string,
    page: { readonly after: number; readonly limit: number },
  ): Promise<readonly HistoryRecord[]>;
  /**
   * The holders of these names and the ends of their leases, in order, without names that nobody holds. Takes free and
   * ended names, and extends the holder's own leases once at most half of `leaseMs` is left, all atomically: among
   * racing callers, a name goes to exactly one. A lease that would last longer than its `leaseMs` has ended: the clock
   * was set back, since `now` is read behind it. `leaseMs` 0 gives up the holder's own leases.
   *
   * With `highest`, the clock was set back where that is still to come, by the caller's clock, or the time at which a name was
   * given last. Then each task that would wait for longer than its own delay from now on (a timer, a pause, a lease) is moved
   * there, before names are given. Many tasks take several transactions; where a process ends between them, the time of the
   * name is still to come for whoever asks next.
   */
  lease(request: LeaseRequest): Promise<readonly Lease[]>;
  list(listing: InstanceListQuery): Promise<readonly InstanceRecord[]>;
  /**
   * How many bytes the data takes, indexes included: space of removed rows that the database can use again does not count.
   * An estimate where the database has no exact figure, and null where it has none. An empty database may have 0.
   */
  size(): Promise<number | null>;
  /** Tasks of one instance, or of all, known workflows or not. */
  tasks(listing: TaskListQuery): Promise<readonly PendingTask[]>;
  /** The database's clock when the caller's says `now`, where `unexpired` and leases are judged by the database's. */
  time?: (now: number) => Promise<number>;
  /** Calls back when another process may have made work due sooner: a hint, which an adapter need not give. Returns the way to stop listening. */
  onWake(listener: () => void): () => void;
  /** Releases what the adapter opened itself. A handle of the host stays open. */
  close(): Promise<void>;
}
