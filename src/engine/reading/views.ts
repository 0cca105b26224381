/** Views of instances, of their pending work and of their history. */
import type { AnyStateMachine, EventObject, OutputFrom, StateFrom } from "xstate";
import type { InstanceRecord, PendingTask } from "../../../storage/storage.ts";
import type { AddedWork } from "../../workflow/added-fields.ts";
import type { ChartSnapshot } from "../../workflow/chart.ts";
import { DamagedSnapshot, snapshotFromText } from "../../workflow/snapshot-text.ts";
import type { StepCause } from "../../workflow/step-cause.ts";

/**
 * The names of a chart's states, as paths: `"paid"`, and `"shipping.packed"` for a state within a state or a region. One
 * form for every place: `list`, `waitFor` and the command. Any text for a chart whose states TypeScript does not know,
 * such as one of `createMachine` without `setup`.
 */
export type StateName<
  M,
  Value = M extends AnyStateMachine ? StateFrom<M>["value"] : string,
> = string extends Value
  ? string
  : Value extends string
    ? Value
    : {
        [Key in keyof Value & string]: Key | `${Key}.${StateName<M, Value[Key]>}`;
      }[keyof Value & string];

/**
 * A snapshot with the value, context and output of its chart, `SnapshotOf<typeof order>`; the output is there once the
 * status is `done`. Without a chart, all of these are unknown.
 */
export type SnapshotOf<M = unknown> = M extends AnyStateMachine
  ? Omit<ChartSnapshot, "value" | "context" | "status" | "output"> & {
      readonly value: StateFrom<M>["value"];
      readonly context: StateFrom<M>["context"];
    } & (
        | { readonly status: "done"; readonly output: OutputFrom<M> }
        | { readonly status: "active" | "stopped" | "error"; readonly output?: undefined }
      )
  : ChartSnapshot;

/** An instance as of its last commit, typed by its chart: `InstanceView<typeof order>`. Times are ms since the Unix epoch. */
export type InstanceView<M = unknown> = SnapshotOf<M> & {
  readonly id: string;
  /** The chart and version, as `name@version`. */
  readonly workflow: string;
  /** The stamp of the first step. It tells this instance from earlier and later instances with the same id. */
  readonly life: string;
  /** Steps committed so far, 1 after its start: the number of its last history row. */
  readonly steps: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Only in a list: why its snapshot cannot be read. Then `value` is null and `context` is empty. */
  readonly damaged?: string;
};

/** Filter of `list`. An absent field does not filter. */
export interface InstanceQuery<M = unknown> {
  /** The name of a chart, for all versions, or a version as `name@version`. */
  readonly workflow?: string;
  /** A state it is in, such as `paying` or `paying.card`. Compared instance by instance: see `list`. */
  readonly state?: StateName<M>;
  readonly status?: ChartSnapshot["status"];
  /** True for those alone of which a task fails, or is set aside as a dead letter. */
  readonly failing?: boolean;
  /** True for those alone whose chart or version this engine does not have, and does not migrate. */
  readonly unknown?: true;
  /** The `next` of the page before. */
  readonly after?: string;
  /** 1 … 1,000. Default 100. */
  readonly limit?: number;
}

/** Texts that search fields must all have, by the names that the workflow declares. An absent field does not filter. */
export type SearchFilter<S extends string> = [S] extends [never] ? never : { readonly [F in S]?: string };

/** Filter of `list` by the handle of a workflow. */
export interface WorkflowQuery<M, S extends string = never> extends Omit<
  InstanceQuery<M>,
  "workflow" | "unknown"
> {
  /** Values of its search fields. The instances then come by id. */
  readonly where?: SearchFilter<S>;
}

/** A page of instances. */
export interface InstanceList<M = unknown> {
  readonly instances: readonly InstanceView<M>[];
  /** `after` of the next page; null on the last one. A page may be short, or empty, although another follows. */
  readonly next: string | null;
}

/** The pending work of an instance. Up to 1,000 tasks and 1,000 children are listed. */
export interface PendingWork extends AddedWork {
  /** Earliest first. */
  readonly timers: readonly PendingTask[];
  /** Effects, invocations and messages, earliest first. */
  readonly tasks: readonly PendingTask[];
  /** The child actors that it has not stopped. */
  readonly children: readonly {
    /** The child's id within the parent. */
    readonly id: string;
    /** The name under which its logic is registered. */
    readonly src: string;
    /** The instance of a machine; null for a promise, which is a task of its parent. */
    readonly instance: string | null;
    /** Null for a promise, and for a machine that has no instance yet or no more. */
    readonly status: ChartSnapshot["status"] | null;
  }[];
}

/** A committed step. The first step has the event `{ type: "$started", input }`. */
export interface HistoryEntry {
  /** Counts the steps of an instance from 1. */
  readonly version: number;
  /** Identifies the step, also among instances that share the id; that of the first step is the life of the instance. */
  readonly stamp: string;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly event: EventObject;
  /** The state value after the step. */
  readonly value: unknown;
  /** The cause of the step; null for a caller of an engine, a migration, or `$born`. */
  readonly cause: StepCause | null;
}

/** The record as readers are shown it. @throws DamagedSnapshot */
export function instanceView(
  record: InstanceRecord,
  snapshot: ChartSnapshot = snapshotFromText(record.snapshot),
): InstanceView {
  const { id, workflow, life, version: steps, createdAt, updatedAt } = record;
  return { ...snapshot, id, workflow, life, steps, createdAt, updatedAt };
}

/** A view of an instance in a list; a damaged snapshot does not keep the instance out. */
export function listedView(record: InstanceRecord): InstanceView {
  try {
    return instanceView(record);
  } catch (error) {
    if (!(error instanceof DamagedSnapshot)) throw error;
    const snapshot: ChartSnapshot = { value: null, context: {}, status: record.status };
    return { ...instanceView(record, snapshot), damaged: error.message };
  }
}
