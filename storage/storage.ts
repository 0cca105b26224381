/**
 * The storage port: all that the engine needs, over any tables that its caller brings. Every adapter passes the published contract suite whole, which tests these promises:
 *
 * G1 a commit is atomic · G2 one writer wins after each stamp · G3 a task is consumed once · G4 a claim's token is
 * larger than any before it · G5 a resolved commit survives kill -9 (durable adapters) · G6 every due task is claimed
 * in the end: neither poison, nor a full key, nor slow effects, nor an unknown workflow version starves another ·
 * G7 a load sees what was committed before it · G8 a failed item of a batch leaves no trace and disturbs no neighbour ·
 * G10 no key has more tasks than its limit, and what is parked is admitted in order.
 *
 * Times are milliseconds since the Unix epoch and come from the caller; an adapter whose database has a clock may judge
 * leases and due times by that one instead, and then has a way to be judged by the caller's, as the suite needs. JSON travels as text,
 * so that what is read is byte for byte what was written. Records go in and out as copies.
 */
import type { AnyTable, Table } from "./table.ts";

/** A stored run of a machine. */
export interface InstanceRecord {
  readonly id: string;
  /** Which chart and version reads this snapshot, as `name@version`. */
  readonly workflow: string;
  /** Structural hash of that chart, so that an edit without a new version is noticed. */
  readonly hash: string;
  /** Counts the committed steps, for people and for the history; 1 after creation. */
  readonly version: number;
  /** That of its last step: only who names it makes the next one. */
  readonly stamp: string;
  /** The stamp of its start, which tells it from another instance that had this id before, or has it later. */
  readonly life: string;
  /** The instance that has begun this one as its child, which stays for as long as this one is active; null for none. */
  readonly parent: string | null;
  /** `done` once the machine has reached a final state: it takes no more events. */
  readonly status: "active" | "done";
  /** JSON text of `{ value, context, status }`. */
  readonly snapshot: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/**
 * What a task is for: an `effect` runs a handler, a `timer` and a `message` each become one step of their instance. An
 * `invocation` runs a promise for as long as its instance is in a state; like a timer, it is disarmed by name.
 * A message may target an instance that does not exist yet; its payload then says how to start it.
 */
export type TaskKind = "effect" | "timer" | "message" | "invocation";

/**
 * The queue a task waits in. `steps`: timers and messages, each of which is one short step. `free`: effects and invocations
 * without limits, which may take long. `limited`: those with limits.
 */
export type QueueName = "steps" | "free" | "limited";

/** At most so many tasks of one key are in hand, or ready to be claimed, at once: over all processes and workflows. */
export interface Limit {
  readonly key: string;
  readonly atMost: number;
}

/** When something is due. */
export interface Due {
  readonly dueAt: number;
  /**
   * How long after now that is; absent for an absolute moment. A delay is counted anew where the clock was set back, an
   * absolute moment stays: see `lease`.
   */
  readonly delayMs?: number;
}

/** Work due at a time. */
export interface TaskRecord extends Due {
  /** `instance:stamp:index` of the step that armed it. */
  readonly id: string;
  readonly instance: string;
  /** That of its instance, as `name@version`, or `name` for a message whose target is not there yet: whoever knows it claims. */
  readonly workflow: string;
  readonly kind: TaskKind;
  /** An effect's action, a timer's or an invocation's id in the chart, a message's event type. */
  readonly name: string;
  /** JSON text. */
  readonly payload: string;
  /**
   * Of effects, invocations and messages: none, one, or two of which the second is counted within the first, as the webhooks
   * of an account. While a key has no room the task is *parked*: no claim sees it until another of the key ends, in the order
   * of arming. What can be claimed or is in hand has room; a task in its pause, in the line of suspects or set aside has none.
   *
   * A message that is admitted has its room until it is consumed, dropped or set aside, so none of its key passes it.
   */
  readonly limits: readonly Limit[];
}

/** A task of an instance, with what became of it so far. */
export interface PendingTask extends TaskRecord {
  readonly crashes: number;
  /** Its last holder vanished: until it ends, fails in the normal way or is kept by a heartbeat, or for an hour, it is handed out only while no other suspect is held. */
  readonly isSuspect: boolean;
  readonly failures: number;
  /** What its last failure said, without secrets. */
  readonly lastError: string | null;
  /** When it can be claimed: its due time, the end of its lease while `isHeld`, or for a suspect that waits, at the latest. */
  readonly visibleAt: number;
  /** True from its claim to its end, also where the lease has run out and the next claim is still to come. */
  readonly isHeld: boolean;
  /** True while a key of its limits has no room for it. */
  readonly isParked: boolean;
  /** When it was due as it first failed; null while it has not. */
  readonly failingSince: number | null;
  /** When it was set aside as a dead letter, else null. */
  readonly deadAt: number | null;
}

/** What an instance waits for, as far as the storage knows. */
export interface PendingRecords {
  /** By name, tasks of one name as they were armed. */
  readonly tasks: readonly PendingTask[];
  /** By kind, then key. */
  readonly watches: readonly WatchRecord[];
}

/** Which instances are listed, and in which order. Each list is as of the last commit, and read by an index. */
export type InstanceListing = { readonly limit: number } & (
  | {
      /** Those of one workflow and status, ascending by id, as bytes. */
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
      /** Those that have ended, by the time of their last step, the oldest first; those of one millisecond ascending by id. */
      readonly order: "ended";
      /** Only those whose last step is as old as this, or older. */
      readonly until: number;
      /** The last one of the page before; null for the first page. */
      readonly after: Pick<InstanceRecord, "updatedAt" | "id"> | null;
    }
  | {
      /** By workflow. With a limit of 1 it is an instance of the next workflow there is. */
      readonly order: "workflow";
      /** Only those whose workflow is larger; `""` for the first page. */
      readonly after: string;
    }
);

/** Which tasks are listed, and in which order. Each list but the first is without dead letters. */
export type TaskListing =
  /** Dead letters, newest first; those of one moment by their arming, the last first. */
  | { readonly order: "dead"; readonly limit: number }
  /** Those that have failed `least` times or more, those first that fail for longest, then as armed. */
  | { readonly order: "failing"; readonly least: number; readonly limit: number }
  /** Timers and messages of a workflow, those first that can be claimed first, then as armed. */
  | { readonly order: "due"; readonly workflow: string; readonly limit: number }
  /** Messages that are parked in this key, as they were armed: the messages behind the one that has the room. */
  | { readonly order: "parked"; readonly key: string; readonly limit: number }
  /**
   * Parked though their keys have room, which no storage may leave behind. A call looks at the first parked task of 64 keys, and
   * the next one goes on behind them.
   */
  | { readonly order: "forgotten" }
  /** Of each workflow, ascending, the one that can be claimed first, a suspect that waits at the latest. */
  | { readonly order: "workflow" };

/** Which watches are listed: those of some shards of a kind, by key, then instance; or by kind, beginning after one. */
export type WatchListing =
  | { readonly kind: string; readonly shards: readonly number[] }
  | { readonly afterKind: string; readonly limit: number };

/** A task in the hands of one holder until its lease ends. */
export interface ClaimedTask extends TaskRecord {
  /** Grows with every claim of the task; what a former holder brings back is refused by it. */
  readonly token: number;
  /** How often in a row a holder of this task vanished without a word; a normal failure, or an hour, begins a new row. */
  readonly crashes: number;
  /** How often it was released with an error. */
  readonly failures: number;
}

/**
 * A lease taken in the commit that arms the task, with the token 1. Of tasks with limits only a message gets it, where no
 * other of its key is still to be done: see `parked` of the result.
 */
export interface ArmLease {
  readonly holder: string;
  readonly until: number;
  readonly leaseMs: number;
}

/**
 * A task that goes on under another name and payload, as a new version of its chart knows it. What a present holder brings
 * back is refused, and it can be claimed at `dueAt`, unless it is a dead letter.
 */
export interface TaskAmendment extends Due {
  readonly task: string;
  readonly name: string;
  readonly payload: string;
}

/** Something the ledger is polled for on behalf of an instance. */
export interface WatchRecord {
  readonly kind: string;
  /** What is watched, such as a signature. Unique together with kind and instance. */
  readonly key: string;
  readonly instance: string;
  /** The life of the instance for which it is watched: what is found out is told to no other. */
  readonly life: string;
  readonly workflow: string;
  /** 0 … shards − 1 of its kind; those who poll divide the shards among themselves. */
  readonly shard: number;
}

/** One committed step, contiguous per instance from version 1. */
export interface HistoryRecord {
  readonly instance: string;
  readonly version: number;
  /** That of the step. The stamp of the first row is the life of the instance. */
  readonly stamp: string;
  readonly at: number;
  /** JSON text of the event; the first row's is `{ "type": "$started", "input": … }`. */
  readonly event: string;
  /** JSON text of the resulting state value. */
  readonly value: string;
  /** What made the step, as the engine writes it; null where that was a caller, or a migration. */
  readonly cause: string | null;
}

/** The next state of an existing instance. */
export interface StepRecord {
  readonly id: string;
  /** The stamp of the step that this one was computed from. */
  readonly after: string;
  /** How many steps it stands for: the version of the instance grows by so many. Default: one. */
  readonly steps?: number;
  /** Made for this step: an id that begins with the time, and that nobody else makes. */
  readonly stamp: string;
  readonly workflow: string;
  readonly hash: string;
  readonly status: "active" | "done";
  readonly snapshot: string;
  readonly at: number;
}

/**
 * Refuses an inserted row when its group (see `group` of the table) already holds `count` rows, or would add up to more
 * than `total`. Rows that are as old as `since` do not count and are removed. With a `total` of null nothing is refused,
 * and only what is as old as `since` is removed. Looking and inserting are one atomic act, however many race.
 */
export type Capacity =
  | { readonly count: number; readonly since?: number }
  | { readonly total: bigint | null; readonly since?: number };

/** Adds a row. Refused when its id, or another unique field, is taken. */
export type Insert<W> = {
  [T in keyof W & string]: {
    readonly table: T;
    readonly insert: W[T];
    readonly atMost?: Capacity;
  };
}[keyof W & string];

/**
 * What must still be to come when a row is changed: an integer field that is a time. Judged by the database's own clock
 * inside the statement where the adapter has one, else by `now`.
 */
export interface Unexpired<F extends string = string> {
  readonly field: F;
  readonly now: number;
}

/**
 * Changes the named fields of one row. Refused when the row is absent, its `version` is not the expected one, what has to
 * be unexpired is over, or another row has the new value of a unique field. One that names the key or the version is `failed`.
 */
export type Update<W> = {
  [T in keyof W & string]: {
    readonly table: T;
    readonly id: string;
    readonly set: Partial<Omit<W[T], "id" | "version">>;
    /** For tables with a `version`: the one this change was made from. It grows by one with every change. */
    readonly expectedVersion?: number;
    readonly unexpired?: Unexpired<keyof W[T] & string>;
  };
}[keyof W & string];

/**
 * Changes nothing, and refuses the commit unless the row has exactly this version; at version 0, unless there is no such
 * row. What was read before a commit still holds in it. For tables with a `version`.
 */
export type Expectation<W> = {
  [T in keyof W & string]: { readonly table: T; readonly id: string; readonly expectVersion: number };
}[keyof W & string];

/**
 * Removes one row. Refused when the row is absent, or a field that `expected` names has another value: what was read of the
 * row before still holds in the commit that removes it. Of racing removals of one row one is carried out. Its key, and its
 * unique values, are free again. Rows of append-only tables are never removed.
 */
export type Removal<W> = {
  [T in keyof W & string]: {
    readonly table: T;
    readonly remove: string;
    /** Fields of the kinds text, integer and boolean, with the values that they must have; null for none. */
    readonly expected?: Partial<W[T]>;
  };
}[keyof W & string];

/** A write to one of the caller's tables inside a commit: one closed union over the tables of `W`. */
export type Write<W> = Insert<W> | Update<W> | Expectation<W> | Removal<W>;

/** An insert into a table that the compiler does not know: adapters check it by the description. */
export type AnyInsert = Insert<Record<string, unknown>>;

/** An update of any table. */
export type AnyUpdate = Omit<Update<Record<string, unknown>>, "unexpired"> & {
  readonly unexpired?: Unexpired;
};

/** An expectation of a row of any table. */
export type AnyExpectation = Expectation<Record<string, unknown>>;

/** A removal from any table. */
export type AnyRemoval = Removal<Record<string, unknown>>;

/** A write to any table. */
export type AnyWrite = AnyInsert | AnyUpdate | AnyExpectation | AnyRemoval;

/** What a field that rows are found by may be. */
export type Comparable = string | number | boolean;

/** Rows of one table, found by one of its indexes. Null stands before all values, false before true, texts are ordered by their bytes. */
export interface Find<R extends object> {
  readonly table: Table<R>;
  /**
   * The name of an index or of a unique field of the table, or `key`. The fields that `equals` leaves are the order of the rows; rows that are
   * equal in all of them stand as they were inserted. Default: all rows as they were inserted.
   */
  readonly index?: string;
  /** Values of the first fields of the index. */
  readonly equals?: { readonly [F in keyof R]?: R[F] };
  /**
   * A place in the order: values of the first fields that `equals` leaves. Only rows beyond it are found: with `asc` those
   * that stand above it, with `desc` below it. The first field that differs decides; a row without a value there is not found.
   */
  readonly after?: readonly Comparable[];
  /** The key of a row: only rows beyond it are found, and none when it is not among those that are looked through. */
  readonly beyond?: string;
  /** `desc` is exactly the reverse of `asc`, rows that are equal in the index included. Default `asc`. */
  readonly order?: "asc" | "desc";
  /** Default: all there are. */
  readonly limit?: number;
}

/** Rows of one table, counted and summed instead of read. */
export interface Tally<R extends object> extends Pick<Find<R>, "table" | "index" | "equals" | "after"> {
  /** A field of the kind `amount`, to be summed. */
  readonly sum?: keyof R & string;
}

/** What a tally comes to. `total` is 0 where no field is summed. */
export interface Tallied {
  readonly count: number;
  readonly total: bigint;
}

/**
 * Everything that happens together or not at all. All parts are optional; a commit without a step is fine. What goes
 * (consumed, disarmed, unwatched) goes before what comes, so that a step may disarm a timer and arm it again.
 */
export interface Commit<W> extends CommitParts {
  readonly writes?: readonly Write<W>[];
}

/** A commit whose writes the compiler does not know: what adapters are given. */
export interface AnyCommit extends CommitParts {
  readonly writes?: readonly AnyWrite[];
}

/** What a commit does besides its writes. */
export interface CommitParts {
  readonly step?: StepRecord;
  /** New instances, at version 1; their stamp is their life. Refused when the id exists. */
  readonly starts?: readonly Omit<InstanceRecord, "version" | "updatedAt" | "life">[];
  /**
   * The task this commit brings to its end. Refused unless the token is that of its latest claim, and by nothing else: that of
   * a lease which ran out, or of a task which was given back or set aside since, still counts.
   */
  readonly consumes?: { readonly task: string; readonly token: number };
  /** Messages parked in the key of the consumed task, which end with it: those behind it, without a gap. Refused with `token` when one is not there. */
  readonly behind?: readonly string[];
  /**
   * Tasks to be tried at `dueAt`, by an operator's command: dead letters, whose crashes and failures are forgotten, and
   * tasks that wait after a failure. Refused with `token` when one is neither.
   */
  readonly retries?: readonly ({ readonly task: string } & Due)[];
  /** Dead letters, and messages that wait after a failure, to remove by an operator's command. Refused with `token` when one is neither. */
  readonly drops?: readonly string[];
  /**
   * Ended instances to remove with their history; their ids are free again. Refused with `step` when one is absent or of
   * another life, is active or has a child that is, or still has a watch or a task, a dead letter or a message too.
   */
  readonly removes?: readonly Pick<InstanceRecord, "id" | "life">[];
  /** Tasks to arm. A message takes over the workflow of its target, where that is there. */
  readonly arms?: readonly { readonly task: TaskRecord; readonly lease?: ArmLease }[];
  /** Instances all of whose tasks, dead letters too, belong to this workflow from now on. Leases, tokens and counts stay as they are. */
  readonly adopts?: readonly { readonly instance: string; readonly workflow: string }[];
  /** Tasks that go on in another form. An absent one is no error. */
  readonly amends?: readonly TaskAmendment[];
  /** Timers and invocations of an instance to disarm, by their name, also those in hand and dead letters; an absent one is no error. */
  readonly disarms?: readonly { readonly instance: string; readonly timer: string }[];
  /** Instances that have ended: all their timers and invocations are disarmed, dead letters too. */
  readonly ends?: readonly string[];
  readonly watches?: readonly WatchRecord[];
  readonly unwatches?: readonly { readonly kind: string; readonly key: string; readonly instance: string }[];
  readonly history?: readonly HistoryRecord[];
}

/**
 * How one commit of a batch ended: durable, or refused whole. Checked in this order: `token`, a task is gone, has another
 * holder, or cannot be retried or dropped; `step`, the instance is absent or has made another step, or one to remove cannot
 * be; `exists`, `starts[index]` is there already; `write`, `writes[index]` was refused.
 */
export type CommitResult =
  /** `parked`: tasks of `arms` whose lease was not given: see `ArmLease`. */
  | { readonly ok: true; readonly parked?: readonly string[] }
  | { readonly ok: false; readonly conflict: "step" | "token" }
  | { readonly ok: false; readonly conflict: "exists" | "write"; readonly index: number };

/**
 * What became of one commit of a batch. Besides its result: `failed`, known not to have happened, with the reason; or
 * `unknown`, since the answer of the database was lost: the commit has happened, may still happen, or never will.
 */
export type CommitAnswer = CommitResult | CommitFailure;

/** The database did not decide about a commit. */
export interface CommitFailure {
  readonly ok: false;
  readonly conflict: "failed" | "unknown";
  readonly error: unknown;
}

/** What a worker asks for. */
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
  /** A task whose holders vanished this often in a row is set aside as a dead letter. With 1, all that a vanished holder had in hand is. */
  readonly maxCrashes: number;
}

/** A name that one holder has, until a time. What only one process may do is done under such a name. */
export interface Lease {
  readonly name: string;
  readonly holder: string;
  readonly until: number;
  /** By how much the clock was set back, which was asked for with `highest`; absent where it was not. */
  readonly setBackMs?: number;
}

/** Who wants names, and for how long. */
export interface LeaseRequest {
  readonly names: readonly string[];
  readonly holder: string;
  readonly now: number;
  /** 0 gives them up. */
  readonly leaseMs: number;
  /** The highest time that the caller has seen: tasks are moved where the clock was set back behind it, or behind that of a name. */
  readonly highest?: number;
}

/** All that `paystate/engine` needs. `install` adds tables besides the engine's. */
export interface EngineStorage {
  /**
   * Makes sure that these tables are there as described: creates those that are absent, and carries out the migrations
   * that are missing. All of them or none, and once, however many processes begin at the same time. What is installed
   * already costs one read. Rows of before stand as they were inserted, ahead of those that are inserted after a migration.
   * @throws StorageUnusable `newer_schema` when a table has seen more migrations than its description knows,
   * `other_table` when it is another than described and no migration explains it, or rows are equal in a field that is to be
   * unique from now on.
   */
  install(tables: readonly AnyTable[]): Promise<void>;
  /** The row of an installed table with this key as of the last commit (G7), or null. */
  get<R extends object>(table: Table<R>, key: string): Promise<R | null>;
  /**
   * Rows of an installed table, as of the last commit. Reads that are asked for in one turn of the event loop, one after
   * the other without waiting, see one state of what this process has committed.
   * @throws TypeError when there is no such index, or the values are not those of its fields.
   */
  find<R extends object>(query: Find<R>): Promise<readonly R[]>;
  /** How many rows `find` would find, and the sum of a field of theirs. */
  tally<R extends object>(query: Tally<R>): Promise<Tallied>;
  /**
   * Carries out each commit atomically, in order, each on its own: a refused one leaves no trace and disturbs no
   * neighbour (G1, G8). Resolves once every `ok` is durable (G5), with one answer for each commit, in their order. Every
   * answer is true (G9): no commit is carried out again after its answer may have been lost, and an item that breaks a rule
   * (a task id that is taken, a history version twice, a fraction for a time) is `failed` alone. A batch may be several
   * physical transactions. Rejects only where nothing of the batch has happened.
   */
  commit(items: readonly AnyCommit[]): Promise<readonly CommitAnswer[]>;
  /**
   * Leases due tasks, earliest first within each of the three budgets, then as armed: those never claimed, released, or whose
   * lease has ended. Of racing callers each task goes to one (G4). A task whose lease has ended with its holder has crashed
   * and is a suspect for an hour. Of all suspects in the database one at a time is leased, first in the answer, within the
   * budget of its queue and the room of its keys: those first that have crashed least, then timers and messages, then as armed. So one that
   * ends its process is found, and only it counts further crashes.
   */
  claim(request: ClaimRequest): Promise<readonly ClaimedTask[]>;
  /**
   * Extends the leases still held, all in one act; answers the ids of those that are lost. A lease that has ended is held
   * until a claim comes upon it. A task that such a claim made a suspect, and that was given to no one since, goes back to
   * this holder, also where its keys have no room and beside another held suspect: who sends a heartbeat has not vanished, so
   * the crash is taken back. A dead letter stays one.
   */
  heartbeat(request: {
    readonly holder: string;
    readonly tasks: readonly { readonly id: string; readonly token: number }[];
    readonly now: number;
    readonly leaseMs: number;
  }): Promise<readonly string[]>;
  /**
   * Gives a task back undone, due again at `dueAt`. With `error` it has failed, and is no suspect any longer. False when the
   * token is no longer the latest, or the task was set aside as a dead letter.
   */
  release(
    request: Due & { readonly id: string; readonly token: number; readonly error?: string },
  ): Promise<boolean>;
  /** The instance as of the last commit (G7), or null. */
  load(id: string): Promise<InstanceRecord | null>;
  /**
   * When the earliest task of these workflows, and queues, becomes claimable: a held task at the end of its lease, a suspect
   * not before the end of the lease of another. Parked tasks are left out. Null when there is none.
   */
  nextDue(workflows: readonly string[], queues?: readonly QueueName[]): Promise<number | null>;
  /** Committed steps of an instance, oldest first, from version `after + 1`. */
  history(
    instance: string,
    page: { readonly after: number; readonly limit: number },
  ): Promise<readonly HistoryRecord[]>;
  /**
   * Who holds each of these names and until when, in their order, but for names that nobody holds. Takes those that are free
   * or have ended, and extends the holder's own once no more than half of `leaseMs` is left, all in one act: of racing callers
   * each name goes to one. A lease that would last longer than it was given for has ended: the clock was set back. With
   * `leaseMs` 0 the holder's own are given up.
   *
   * With `highest`, the clock was set back where that is still to come, by the caller's clock, or the time at which a name was
   * given last. Then each task that would wait for longer than its own delay from now on (a timer, a pause, a lease) is moved to
   * that, before names are given. Many tasks take several transactions; where a process ends between them, the time of the name
   * is still to come for whoever asks next.
   */
  lease(request: LeaseRequest): Promise<readonly Lease[]>;
  watches(listing: WatchListing): Promise<readonly WatchRecord[]>;
  list(listing: InstanceListing): Promise<readonly InstanceRecord[]>;
  /**
   * How many bytes the data takes, indexes included: space of removed rows that the database can use again does not count.
   * An estimate where the database has no exact figure, and null where it has none. An empty database may have 0.
   */
  size(): Promise<number | null>;
  /** The tasks and watches of one instance, up to `limit` of each, all of one moment. With `except`, no tasks of this kind. */
  pending(instance: string, limit: number, except?: TaskKind): Promise<PendingRecords>;
  /** Tasks of all instances, known workflows or not. */
  tasks(listing: TaskListing): Promise<readonly PendingTask[]>;
  /** What the database's own clock says when the caller's says `now`, where `unexpired` and leases are judged by that one. */
  time?: (now: number) => Promise<number>;
  /** Indexes that are being built, or wait for it: until then reads by them take longer. Absent where `install` builds all. */
  building?: () => readonly string[];
  /** Calls back when another process may have made work due sooner: a hint, which an adapter need not give. Returns the way to stop listening. */
  onWake(listener: () => void): () => void;
  /**
   * Releases what the adapter opened itself; what it was handed stays open. A commit that is under way is answered truthfully.
   * What is asked for afterwards may be rejected, and closing again does nothing.
   */
  close(): Promise<void>;
}
