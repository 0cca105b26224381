/** The engine's own tables, in one place for all adapters: the kind of each field, and the keys. */
import { type Column, column, type RowOf } from "./table.ts";

/**
 * The kind of a task. An `effect` runs a handler; a `timer` or a `message` becomes one step of its instance. An
 * `invocation` runs a promise as long as its instance is in a state; like a timer, an invocation is disarmed by name. A
 * message may target an instance that does not exist yet; the payload then says how to start the instance.
 */
export type TaskKind = "effect" | "timer" | "message" | "invocation";

/** The fields of records, by their tables. */
const recordColumns = {
  instances: {
    id: "text",
    /** The chart and version of this snapshot, as `name@version`. */
    workflow: "text",
    /** Structural hash of that chart, so that an edit without a new version is noticed. */
    hash: "text",
    /** Counts the committed steps, for people and for the history; 1 after creation. */
    version: "integer",
    /** The stamp of the last step: a commit must name the stamp to make the next step. */
    stamp: "text",
    /** The stamp of the first step. It tells this instance from earlier and later instances with the same id. */
    life: "text",
    /** The parent instance, which is not removed while this child is active; null without a parent. */
    parent: "text?",
    /** `done` once the machine has reached a final state and takes no more events. */
    status: column<"active" | "done">("text"),
    /** JSON text of `{ value, context, status }`. */
    snapshot: "text",
    createdAt: "integer",
    updatedAt: "integer",
  },
  tasks: {
    /** `instance:stamp:index` of the step that armed it. */
    id: "text",
    instance: "text",
    /**
     * The workflow of the instance, as `name@version`, or `name` for a message whose target does not exist yet: any
     * process that knows the workflow may claim the task.
     */
    workflow: "text",
    kind: column<TaskKind>("text"),
    /** An effect's action, a timer's or an invocation's id in the chart, a message's event type. */
    name: "text",
    /** JSON text. */
    payload: "text",
    dueAt: "integer",
    /** The first key of its limits and how many tasks may have room in it; and the last key, which may be the same. */
    firstKey: "text?",
    firstRoom: "integer?",
    lastKey: "text?",
    lastRoom: "integer?",
    /**
     * The admission of a task with limits. `parked`: waits for room. `admitted`: has room in both keys. `paused`: waits
     * for its time, for its turn among suspects, or for an operator, without room.
     */
    admission: column<"parked" | "admitted" | "paused" | null>("text?"),
    /** Among parked tasks of its keys a larger one is admitted sooner. */
    priority: "integer",
    /** The key whose rate it waits for, until it is due; null while it does not. */
    rateKey: "text?",
    /** When it can be claimed: its due time, the end of its lease while it is held, or for a suspect that waits, at the latest. */
    visibleAt: "integer",
    /** How long after it was set that is; null for an absolute moment. */
    delayMs: "integer?",
    holder: "text?",
    /** The token of the latest claim, 0 before the first. Grows with every claim, so that results of former holders are refused. */
    token: "integer",
    /** At how many deaths of a holder in a row it was in hand; a normal failure, or an hour in hand, ends the row. */
    crashes: "integer",
    /** When the last of them was noticed, or when it began again as a suspect; null without one, and after a normal failure. */
    crashedAt: "integer?",
    /** How many of them are counted against it: it was the only suspect in that hand. */
    counted: "integer",
    /** Since when it is tried alone, as one of several suspects that were in one hand; null for all others. */
    aloneSince: "integer?",
    /** How many deaths were counted as it was judged with its holder; null once it is leased again, or given back. */
    missed: "integer?",
    /** How often it was released with an error. */
    failures: "integer",
    /** The message of the last failure, without secrets. */
    lastError: "text?",
    /** When it was due as it first failed; null while it has not. */
    failingSince: "integer?",
    /** When it was set aside as a dead letter. */
    deadAt: "integer?",
  },
  history: {
    instance: "text",
    version: "integer",
    /** The stamp of the step. The stamp of the first row is the life of the instance. */
    stamp: "text",
    at: "integer",
    /** JSON text of the event; the first row's is `{ "type": "$started", "input": … }`. */
    event: "text",
    /** JSON text of the resulting state value. */
    value: "text",
    /** The cause of the step, as the engine writes it; null for a caller or a migration. */
    cause: "text?",
  },
} as const;

/** A stored run of a machine. */
export interface InstanceRecord extends RowOf<typeof recordColumns.instances> {}

/** A stored task, with its lease. */
export interface StoredTask extends RowOf<typeof recordColumns.tasks> {}

/** A task as it is read, with its place in the order in which tasks were armed. */
export type TaskRow = StoredTask & { readonly seq: number };

/** A committed step, contiguous per instance from version 1. */
export interface HistoryRecord extends RowOf<typeof recordColumns.history> {}

/** The rows of the engine's own tables. */
export interface EngineTables {
  paystateInstances: InstanceRecord;
  paystateTasks: StoredTask;
  /** `ms`: for how long it was given. A longer lease was given before the clock was set back. */
  paystateLeases: {
    readonly name: string;
    readonly holder: string;
    readonly until: number;
    readonly ms: number;
  };
  paystateHistory: HistoryRecord;
  /** Overrides of limits: how many tasks of a key may have room, whatever their own limits say. */
  paystateLimits: { readonly key: string; readonly atMost: number };
}

/** A lease as it is kept. */
export type StoredLease = EngineTables["paystateLeases"];

/**
 * The engine's own tables. An adapter derives its schema from this list, or checks its existing schema.
 *
 * @example
 * ```ts
 * import { engineTables } from "paystate/storage";
 *
 * console.log(engineTables.paystateHistory.key); // [ 'instance', 'version' ]
 * ```
 */
export const engineTables: {
  readonly [T in keyof EngineTables]: {
    readonly columns: Readonly<Record<keyof EngineTables[T] & string, Column>>;
    /** The fields that identify a row, of which a caller's table has one. Default `id`. */
    readonly key?: readonly (keyof EngineTables[T] & string)[];
    /** Fields by which rows are read together. */
    readonly lookups?: readonly (keyof EngineTables[T] & string)[];
  };
} = {
  paystateInstances: { columns: recordColumns.instances, lookups: ["workflow", "parent"] },
  paystateTasks: { columns: recordColumns.tasks, lookups: ["instance", "workflow", "firstKey"] },
  paystateLeases: {
    columns: { name: "text", holder: "text", until: "integer", ms: "integer" },
    key: ["name"],
  },
  paystateHistory: { columns: recordColumns.history, key: ["instance", "version"], lookups: ["instance"] },
  paystateLimits: { columns: { key: "text", atMost: "integer" }, key: ["key"] },
};
