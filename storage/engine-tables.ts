/** What the engine's own tables hold, in one place for all adapters: the kind of each field, and what identifies a row. */
import type { CommitParts, HistoryRecord, InstanceRecord, Lease, WatchRecord } from "./storage.ts";
import type { Column } from "./table.ts";

/** A task as it is kept, with its lease. */
export interface StoredTask {
  readonly id: string;
  readonly instance: string;
  readonly workflow: string;
  readonly kind: "effect" | "timer" | "message" | "invocation";
  readonly name: string;
  readonly payload: string;
  readonly dueAt: number;
  /** The first key of its limits and how many tasks may have room in it, and the last key, which is the same where there is one. */
  readonly firstKey: string | null;
  readonly firstRoom: number | null;
  readonly lastKey: string | null;
  readonly lastRoom: number | null;
  /**
   * Of a task with limits. `parked`: it waits for room. `admitted`: it has room in both keys. `paused`: it waits for its time,
   * for its turn among suspects, or for an operator, and has none.
   */
  readonly admission: "parked" | "admitted" | "paused" | null;
  /** When it may next be claimed: its due time, or the end of its lease while it is held. */
  readonly visibleAt: number;
  readonly holder: string | null;
  /** That of the latest claim, 0 before the first. */
  readonly token: number;
  /** How often in a row its holder has vanished. */
  readonly crashes: number;
  /** When its last holder was missed; null unless it is a suspect, or was one when it became a dead letter. */
  readonly crashedAt: number | null;
  readonly failures: number;
  readonly lastError: string | null;
  /** When it was due as it first failed; null while it has not. */
  readonly failingSince: number | null;
  /** When it was set aside as a dead letter. */
  readonly deadAt: number | null;
}

/** The engine's own tables. */
export interface EngineTables {
  instances: InstanceRecord;
  tasks: StoredTask;
  watches: WatchRecord;
  /** `ms`: for how long it was given. What seems to last longer was given before the clock was set back. */
  paystateLeases: Lease & { readonly ms: number };
  history: HistoryRecord;
}

/**
 * What the engine's own records hold. An adapter makes its schema of it, or checks what it keeps.
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
    /** The fields that identify a row; `id` alone unless said otherwise. Unlike a caller's table it may have several. */
    readonly key?: readonly (keyof EngineTables[T] & string)[];
    /** The fields whose values gather rows that are read together. */
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
    columns: {
      id: "text",
      instance: "text",
      workflow: "text",
      kind: "text",
      name: "text",
      payload: "text",
      dueAt: "integer",
      firstKey: "text?",
      firstRoom: "integer?",
      lastKey: "text?",
      lastRoom: "integer?",
      admission: "text?",
      visibleAt: "integer",
      holder: "text?",
      token: "integer",
      crashes: "integer",
      crashedAt: "integer?",
      failures: "integer",
      lastError: "text?",
      failingSince: "integer?",
      deadAt: "integer?",
    },
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
};

/** An instance as its start leaves it. */
export function startedInstance(start: NonNullable<CommitParts["starts"]>[number]): InstanceRecord {
  return { version: 1, life: start.stamp, updatedAt: start.createdAt, ...start };
}

/** A lease as it is kept. */
export type StoredLease = EngineTables["paystateLeases"];
