/** From one chart step to the one commit that makes it, and everything that follows from it, durable. Pure. */
import type { EventObject } from "xstate";
import type {
  CommitParts,
  HistoryRecord,
  InstanceRecord,
  StepRecord,
  TaskAmendment,
  TaskRecord,
  WatchRecord,
  Write,
} from "../../storage/storage.ts";
import { childFailed, MIGRATED, type ChartSnapshot, type ChartStep, type ParentLink } from "./chart.ts";
import type { ChildStart } from "./child-instances.ts";
import { consequencesOf, type Consequences } from "./consequences.ts";
import { messageTask } from "./messages.ts";
import type { KnownInstance } from "./recent-instances.ts";
import type { RegisteredWorkflows } from "./registered-workflows.ts";
import { stepOrFailure } from "./step-or-failure.ts";
import { snapshotToText } from "./snapshot-text.ts";
import { causeOfParent } from "./step-cause.ts";
import type { StepMoment } from "./stamps.ts";
import { taskIdOf, type StepFacts } from "./step-facts.ts";
import type { TakenRuns } from "./taken-ids.ts";
import { eventToText, UnstorableValue, withStep } from "./values.ts";
import type { AnyWorkflow, StartRequest } from "./workflow.ts";

/** The parts of a commit that one step fills. */
export interface StepCommit {
  readonly after: ChartSnapshot;
  readonly life: string;
  /** The first step of an instance is in `start`, every other one in `step`. */
  readonly start: Omit<InstanceRecord, "version" | "updatedAt" | "life"> | null;
  readonly step: StepRecord | null;
  readonly history: HistoryRecord;
  readonly follows: Consequences;
  /** What becomes of tasks that wait for the instance already, when it begins or moves to another version. */
  readonly moves?: Pick<CommitParts, "adopts" | "amends">;
}

/** An instance to be started; `parent` when another one starts it. */
export interface PlannedStart extends StartRequest {
  readonly parent?: ParentLink;
  /** Of a child: the step of its parent. */
  readonly cause?: string;
  readonly taken?: TakenRuns;
}

/** An event at an instance as it stands. */
export interface ArrivedEvent {
  readonly workflow: AnyWorkflow;
  readonly instance: KnownInstance;
  readonly snapshot: ChartSnapshot;
  readonly event: EventObject;
  readonly taken?: TakenRuns;
  readonly lent?: ChartSnapshot["lent"];
}

/** An instance that comes from another version of its chart. */
export interface PlannedArrival {
  readonly workflow: AnyWorkflow;
  readonly instance: KnownInstance;
  readonly before: ChartSnapshot;
  readonly step: ChartStep;
  readonly writes: readonly Write<never>[];
  readonly amends: readonly TaskAmendment[];
  readonly taken: TakenRuns;
  readonly lent: ChartSnapshot["lent"];
  /** Watches of before, which end unless the chart names them again. */
  readonly unwatches: readonly WatchRecord[];
}

/** The first step of a new instance, and those of the children it starts. */
export function planStart(
  start: PlannedStart,
  moment: StepMoment,
  workflows: RegisteredWorkflows,
): StepCommit[] {
  const step = (): string => `${start.workflow.key}, start of ${start.id}`;
  return withStep(step, () => plannedStart(start, moment, workflows));
}

function plannedStart(
  start: PlannedStart,
  { at, stamp }: StepMoment,
  workflows: RegisteredWorkflows,
): StepCommit[] {
  const { workflow, id, input, parent, cause = null, taken } = start;
  const runs = taken?.get(id);
  const step = workflow.chart.start(input, parent, runs);
  const { after } = step;
  const facts: StepFacts = {
    workflow,
    id,
    version: 1,
    life: stamp,
    stamp,
    before: null,
    step,
    event: null,
    at,
    workflows,
  };
  const event = { type: "$started", input, ...(parent && { parent }), ...(runs && { runs }) };
  const first: StepCommit = {
    after,
    life: stamp,
    start: {
      id,
      stamp,
      parent: parent?.instance ?? null,
      workflow: workflow.key,
      hash: workflow.hash,
      status: storedStatus(after),
      snapshot: snapshotToText(after),
      createdAt: at,
    },
    step: null,
    history: { ...historyRow(facts, event), cause },
    follows: consequencesOf(facts),
    moves: { adopts: [{ instance: id, workflow: workflow.key }] },
  };
  return withFirstSteps(first, workflows, taken);
}

/**
 * The step that an event makes of an instance, with those of the children it starts; null when it changes nothing.
 * @throws TypeError when the event has no type.
 */
export function planStep(
  arrived: ArrivedEvent,
  moment: StepMoment,
  workflows: RegisteredWorkflows,
): StepCommit[] | null {
  const { workflow, instance, snapshot } = arrived;
  const standing = (): string => `${workflow.key}, ${instance.id} in state ${JSON.stringify(snapshot.value)}`;
  // A program without types, or an outcome that was read from somewhere, may give anything.
  const event = arrived.event as Partial<EventObject> | null;
  if (typeof event?.type !== "string" || event.type === "") {
    throw new TypeError(`${standing()}: event.type: expected the name of an event`);
  }
  return withStep(standing, () => plannedStep(arrived, moment, workflows));
}

function plannedStep(
  arrived: ArrivedEvent,
  moment: StepMoment,
  workflows: RegisteredWorkflows,
): StepCommit[] | null {
  const { workflow, instance, snapshot: before, taken } = arrived;
  const runs = taken?.get(instance.id);
  // The history tells them, too, so that the same step comes of it.
  const sent = runs === undefined ? arrived.event : { ...arrived.event, $runs: runs };
  const { event, step } = stepOrFailure(workflow, before, { event: sent, workflows });
  if (step === null) return null;
  const after = lending(step.after, arrived.lent);
  const facts: StepFacts = {
    workflow,
    ...following(instance, moment),
    before,
    step,
    event,
    workflows,
  };
  const next: StepCommit = {
    after,
    life: instance.life,
    start: null,
    step: stepRecord(facts, after, instance.stamp),
    history: historyRow(facts, event),
    follows: consequencesOf(facts),
  };
  return withFirstSteps(next, workflows, taken);
}

/** The step with which an instance arrives in another version of its chart, with those of the children it starts. */
export function planArrival(
  moved: PlannedArrival,
  moment: StepMoment,
  workflows: RegisteredWorkflows,
): StepCommit[] {
  const { workflow, instance, before, step, writes, amends } = moved;
  const { key } = workflow;
  const after = lending(step.after, moved.lent);
  const event = { type: MIGRATED, from: instance.workflow, to: key, snapshot: after };
  // The rows of this commit are those of the migration: `project` has not seen the step that led here.
  const project = (): typeof writes => writes;
  const facts: StepFacts = {
    workflow: { ...workflow, project },
    ...following(instance, moment),
    before,
    step,
    event,
    workflows,
  };
  const follows = consequencesOf(facts);
  const isWatched = ({ kind, key: of }: WatchRecord): boolean =>
    follows.watches.some((watch) => watch.kind === kind && watch.key === of);
  const next: StepCommit = {
    after,
    life: instance.life,
    start: null,
    step: stepRecord(facts, after, instance.stamp),
    history: historyRow(facts, event),
    follows: { ...follows, unwatches: moved.unwatches.filter((watch) => !isWatched(watch)) },
    moves: { adopts: [{ instance: instance.id, workflow: key }], amends },
  };
  return withFirstSteps(next, workflows, moved.taken);
}

/** What a later step of an instance is known by. */
function following(
  { id, version, life }: KnownInstance,
  moment: StepMoment,
): Pick<StepFacts, "id" | "version" | "life" | "stamp" | "at"> {
  return { id, version: version + 1, life, ...moment };
}

function stepRecord(
  { id, stamp, at, workflow }: StepFacts,
  after: ChartSnapshot,
  before: string,
): StepRecord {
  return {
    id,
    after: before,
    stamp,
    workflow: workflow.key,
    hash: workflow.hash,
    status: storedStatus(after),
    snapshot: snapshotToText(after),
    at,
  };
}

/** The step of a parent, followed by the first steps of the children it starts. */
function withFirstSteps(parent: StepCommit, workflows: RegisteredWorkflows, taken?: TakenRuns): StepCommit[] {
  const { children } = parent.follows;
  if (children.length === 0) return [parent];
  const { instance, stamp, at } = parent.history;
  const cause = causeOfParent({ instance, stamp });
  const born: StepCommit[] = [];
  const arms = [...parent.follows.arms];
  for (const child of children) {
    try {
      born.push(...planStart({ ...child, cause, ...(taken && { taken }) }, { at, stamp }, workflows));
    } catch (error) {
      // What cannot be stored is a fault of the chart that its author has to see.
      if (error instanceof UnstorableValue) throw error;
      arms.push(notBegun(child, error, parent.history));
    }
  }
  return [{ ...parent, follows: { ...parent.follows, arms } }, ...born];
}

/** Tells the parent that a child could not begin: its context or an entry action threw. */
function notBegun({ parent, index }: ChildStart, error: unknown, { stamp, at }: HistoryRecord): TaskRecord {
  const event = childFailed(parent.id, error, parent.run);
  const id = taskIdOf({ id: parent.instance, stamp }, index);
  return messageTask({ id, dueAt: at }, parent, { event });
}

function lending(after: ChartSnapshot, lent: ChartSnapshot["lent"]): ChartSnapshot {
  return lent === undefined ? after : { ...after, lent };
}

/** In the store an instance takes events or it does not; the snapshot says how it ended. */
function storedStatus({ status }: ChartSnapshot): InstanceRecord["status"] {
  return status === "active" ? "active" : "done";
}

/** Its cause is known to the commit alone. */
function historyRow({ id, version, stamp, at, step }: StepFacts, event: EventObject): HistoryRecord {
  const value = JSON.stringify(step.after.value);
  return { instance: id, version, stamp, at, event: eventToText(event), value, cause: null };
}
