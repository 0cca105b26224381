/** The engine's own tables, in one place for all adapters: the kind of each field, and the keys. */
import type { HistoryRecord, InstanceRecord, CommitParts, Lease, TaskKind, WatchRecord } from "./storage.ts";
import type { Column, RowOf } from "./table.ts";

const taskColumns = {
  id: "text",
  instance: "text",
  workflow: "text",
  kind: "text",
  name: "text",
  payload: "text",
  dueAt: "integer",
  /** The first key of its limits and how many tasks may have room in it, and the last key, which is the same where there is one. */
  firstKey: "text?",
  firstRoom: "integer?",
  lastKey: "text?",
  lastRoom: "integer?",
  admission: "text?",
  /** Among parked tasks of its keys a larger one is admitted sooner. */
  priority: "integer",
  /** The key whose rate it waits for, until it is due; null while it does not. */
  rateKey: "text?",
  /** The time of the next claim: the due time, or the end of the lease while it is held. */
  visibleAt: "integer",
  /** How long after it was set that is; null for an absolute moment. */
  delayMs: "integer?",
  holder: "text?",
  /** The token of the latest claim, 0 before the first. */
  token: "integer",
  /** How often in a row its holder has vanished. */
  crashes: "integer",
  /** When its last holder was missed; null unless it is a suspect, or was one when it became a dead letter. */
  crashedAt: "integer?",
  failures: "integer",
  lastError: "text?",
  /** When it was due as it first failed; null while it has not. */
  failingSince: "integer?",
  /** When it was set aside as a dead letter. */
  deadAt: "integer?",
} as const;

/** A stored task, with its lease. */
export interface StoredTask extends Omit<RowOf<typeof taskColumns>, "kind" | "admission"> {
  readonly kind: TaskKind;
  /**
   * The admission of a task with limits. `parked`: waits for room. `admitted`: has room in both keys. `paused`: waits
   * for its time, for its turn among suspects, or for an operator, without room.
   */
  readonly admission: "parked" | "admitted" | "paused" | null;
}

/** The engine's own tables. */
export interface EngineTables {
  instances: InstanceRecord;
  tasks: StoredTask;
  watches: WatchRecord;
  /** `ms`: for how long it was given. What seems to last longer was given before the clock was set back. */
  paystateLeases: Omit<Lease, "setBackMs"> & { readonly ms: number };
  history: HistoryRecord;
  /** Overrides of limits: how many tasks of a key may have room, whatever their own limits say. */
  paystateLimits: { readonly key: string; readonly atMost: number };
}

/**
 * The engine's own tables. An adapter derives its schema from this list, or checks its existing schema.
 *
 * @example
 * ```ts
 * import { engineTables } from "paystate/storage";
 *
 * console.log(engineTables.watches.key); // [ 'kind', 'key', 'instance' ]
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
  instances: {
    columns: {
      id: "text",
      workflow: "text",
      hash: "text",
      version: "integer",
      stamp: "text",
      life: "text",
      parent: "text?",
      status: "text",
      snapshot: "text",
      createdAt: "integer",
      updatedAt: "integer",
    },
    lookups: ["workflow", "parent"],
  },
  tasks: {
    columns: taskColumns,
    lookups: ["instance", "workflow", "firstKey"],
  },
  watches: {
    columns: {
      kind: "text",
      key: "text",
      instance: "text",
      life: "text",
      workflow: "text",
      shard: "integer",
    },
    key: ["kind", "key", "instance"],
    lookups: ["kind", "instance"],
  },
  paystateLeases: {
    columns: { name: "text", holder: "text", until: "integer", ms: "integer" },
    key: ["name"],
  },
  history: {
    columns: {
      instance: "text",
      version: "integer",
      stamp: "text",
      at: "integer",
      event: "text",
      value: "text",
      cause: "text?",
    },
    key: ["instance", "version"],
    lookups: ["instance"],
  },
  paystateLimits: {
    columns: { key: "text", atMost: "integer" },
    key: ["key"],
  },
};

export function startedInstance(start: NonNullable<CommitParts["starts"]>[number]): InstanceRecord {
  return { version: 1, life: start.stamp, updatedAt: start.createdAt, ...start };
}

/** A lease as it is kept. */
export type StoredLease = EngineTables["paystateLeases"];
