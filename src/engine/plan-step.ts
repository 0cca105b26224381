/** From one chart step to the one commit that makes it, and everything that follows from it, durable. Pure. */
import type { EventObject } from "xstate";
import type { HistoryRecord, InstanceRecord, StepRecord } from "../../storage/storage.ts";
import { childFailed } from "./chart.ts";
import type { ChartSnapshot, ParentLink } from "./chart.ts";
import type { ChildStart } from "./child-instances.ts";
import { consequencesOf } from "./consequences.ts";
import type { Consequences, StepSurroundings } from "./consequences.ts";
import { messageTask } from "./messages.ts";
import { snapshotToText } from "./snapshot-text.ts";
import { eventToText, UnstorableValue } from "./values.ts";
import type { AnyWorkflow } from "./workflow.ts";

/** The parts of a commit that one step fills. */
export interface StepCommit {
  readonly after: ChartSnapshot;
  /** The first step of an instance is in `start`, every other one in `step`. */
  readonly start: Omit<InstanceRecord, "version" | "updatedAt"> | null;
  readonly step: StepRecord | null;
  readonly history: HistoryRecord;
  readonly follows: Consequences;
}

/** An instance to be started; `parent` when another one starts it. */
export interface PlannedStart {
  readonly id: string;
  readonly input: unknown;
  readonly parent?: ParentLink;
}

/** The first step of a new instance, and those of the children it starts. */
export function planStart(
  workflow: AnyWorkflow,
  { id, input, parent }: PlannedStart,
  at: number,
  around: StepSurroundings,
): StepCommit[] {
  const step = workflow.chart.start(input, parent);
  const { after } = step;
  const facts = { workflow, id, version: 1, before: null, step, event: null, at };
  const event = parent === undefined ? { type: "$started", input } : { type: "$started", input, parent };
  const first: StepCommit = {
    after,
    start: {
      id,
      workflow: workflow.key,
      hash: workflow.hash,
      status: storedStatus(after),
      snapshot: snapshotToText(after),
      createdAt: at,
    },
    step: null,
    history: historyRow(facts, event),
    follows: consequencesOf(facts, around),
  };
  return withChildren(first, at, around);
}

/** The step that an event makes of an instance, with those of the children it starts; null when it changes nothing. */
export function planStep(
  workflow: AnyWorkflow,
  instance: { readonly id: string; readonly version: number; readonly snapshot: ChartSnapshot },
  event: EventObject,
  at: number,
  around: StepSurroundings,
): StepCommit[] | null {
  const { id, snapshot: before } = instance;
  const step = workflow.chart.step(before, event);
  if (step === null) return null;
  const { after } = step;
  const facts = { workflow, id, version: instance.version + 1, before, step, event, at };
  const next: StepCommit = {
    after,
    start: null,
    step: {
      id,
      expectedVersion: instance.version,
      workflow: workflow.key,
      hash: workflow.hash,
      status: storedStatus(after),
      snapshot: snapshotToText(after),
      at,
    },
    history: historyRow(facts, event),
    follows: consequencesOf(facts, around),
  };
  return withChildren(next, at, around);
}

function withChildren(parent: StepCommit, at: number, around: StepSurroundings): StepCommit[] {
  const { children } = parent.follows;
  if (children.length === 0) return [parent];
  const born: StepCommit[] = [];
  const arms = [...parent.follows.arms];
  for (const child of children) {
    try {
      born.push(...planStart(child.workflow, child, at, around));
    } catch (error) {
      // What cannot be stored is a fault of the chart that its author has to see.
      if (error instanceof UnstorableValue) throw error;
      arms.push(stillborn(child, error, at, parent.history.version));
    }
  }
  return [{ ...parent, follows: { ...parent.follows, arms } }, ...born];
}

/** The news that a child could not begin: its context or an entry action threw. */
function stillborn({ parent, index }: ChildStart, error: unknown, at: number, version: number) {
  const event = childFailed(parent.id, error, parent.run);
  return messageTask(`${parent.instance}:${version}:${index}`, parent, { event }, at);
}

/** In the store an instance takes events or it does not; the snapshot says how it ended. */
function storedStatus({ status }: ChartSnapshot): InstanceRecord["status"] {
  return status === "active" ? "active" : "done";
}

interface HistoryFacts {
  readonly id: string;
  readonly version: number;
  readonly at: number;
  readonly step: { readonly after: ChartSnapshot };
}

function historyRow({ id, version, at, step }: HistoryFacts, event: EventObject): HistoryRecord {
  return { instance: id, version, at, event: eventToText(event), value: JSON.stringify(step.after.value) };
}
