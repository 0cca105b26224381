/** From one chart step to the one commit that makes it, and everything that follows from it, durable. Pure. */
import type { EventObject } from "xstate";
import type {
  Commit,
  HistoryRecord,
  InstanceRecord,
  StepRecord,
  TaskRecord,
  WatchRecord,
  Write,
} from "../../storage/storage.ts";
import type { ChartSnapshot, ChartStep, PlannedEffect, StateMeta } from "./chart.ts";
import type { AnyWorkflow, ProjectedStep } from "./workflow.ts";

/**
 * What a message says: start its target when it is absent, then hand it an event. When the target has already ended,
 * `otherwise` goes back to the sender instead, so that nobody waits for an answer from the dead.
 */
export interface Message {
  readonly start?: { readonly workflow: string; readonly input: unknown };
  readonly event?: EventObject;
  readonly otherwise?: { readonly instance: string; readonly workflow: string; readonly event: EventObject };
}

/** The params of the engine's own action `start`: `machine` is the name of a registered workflow. */
export interface StartParams {
  readonly machine: string;
  readonly id: string;
  readonly input: unknown;
}

/** The params of the engine's own action `tell`; `otherwise` comes back when the target has ended. */
export interface TellParams {
  readonly machine: string;
  readonly id: string;
  readonly event: EventObject;
  readonly otherwise?: EventObject;
}

/** What follows from a step, whether it is the first of its instance or a later one. */
type Consequences = Required<Pick<Commit<never>, "disarms" | "watches" | "unwatches">> & {
  readonly arms: readonly TaskRecord[];
  readonly writes: readonly Write<never>[];
};

/** The parts of a commit that one step fills. */
export interface StepCommit {
  readonly after: ChartSnapshot;
  /** The first step of an instance is in `start`, every other one in `step`. */
  readonly start: Omit<InstanceRecord, "version" | "updatedAt"> | null;
  readonly step: StepRecord | null;
  readonly history: HistoryRecord;
  readonly follows: Consequences;
}

/** What planning needs to know of the engine around it. */
export interface StepSurroundings {
  workflowNamed(name: string): AnyWorkflow;
  shardOf(key: string): number;
}

/** The first step of a new instance. */
export function planStart(
  workflow: AnyWorkflow,
  { id, input }: { readonly id: string; readonly input: unknown },
  at: number,
  around: StepSurroundings,
): StepCommit {
  const step = workflow.chart.start(input);
  const { after } = step;
  return {
    after,
    start: {
      id,
      workflow: workflow.key,
      hash: workflow.hash,
      status: after.status,
      snapshot: JSON.stringify(after),
      createdAt: at,
    },
    step: null,
    history: historyRow(id, 1, at, { type: "$started", input }, after.value),
    follows: consequences(workflow, { id, version: 1, before: null, step, event: null }, at, around),
  };
}

/** The step that an event makes of an instance, or null when it changes nothing. */
export function planStep(
  workflow: AnyWorkflow,
  instance: { readonly id: string; readonly version: number; readonly snapshot: ChartSnapshot },
  event: EventObject,
  at: number,
  around: StepSurroundings,
): StepCommit | null {
  const { snapshot: before } = instance;
  const step = workflow.chart.step(before, event);
  if (step === null) return null;
  const { after } = step;
  const { id } = instance;
  const version = instance.version + 1;
  return {
    after,
    start: null,
    step: {
      id,
      expectedVersion: instance.version,
      workflow: workflow.key,
      hash: workflow.hash,
      status: after.status,
      snapshot: JSON.stringify(after),
      at,
    },
    history: historyRow(id, version, at, event, after.value),
    follows: consequences(workflow, { id, version, before, step, event }, at, around),
  };
}

interface Facts {
  readonly id: string;
  readonly version: number;
  readonly before: ChartSnapshot | null;
  readonly step: ChartStep;
  readonly event: EventObject | null;
}

function consequences(
  workflow: AnyWorkflow,
  { id, version, before, step, event }: Facts,
  at: number,
  around: StepSurroundings,
): Consequences {
  const { metaBefore, metaAfter } = step;
  const timers = new Map<string, TaskRecord>();
  const disarms: { instance: string; timer: string }[] = [];
  const others: TaskRecord[] = [];
  const effects: PlannedEffect[] = [];

  step.actions.forEach((action, index) => {
    const taskId = `${id}:${version}:${index}`;
    switch (action.kind) {
      case "arm":
        timers.set(action.timer, {
          id: taskId,
          instance: id,
          workflow: workflow.key,
          kind: "timer",
          name: action.timer,
          payload: JSON.stringify(action.event),
          dueAt: at + action.delayMs,
          lane: null,
        });
        break;
      case "disarm":
        // A state entered and left within one step armed a timer that never gets a row.
        if (!timers.delete(action.timer)) disarms.push({ instance: id, timer: action.timer });
        break;
      case "effect":
        effects.push(action.effect);
        others.push(effectTask(workflow, { id, taskId, at }, action.effect, around));
        break;
    }
  });

  const watchedBefore = before === null ? [] : watchRows(workflow, id, before, metaBefore, around);
  // A final state needs nothing of the ledger any more, whatever its meta says.
  const watchedAfter =
    step.after.status === "done" ? [] : watchRows(workflow, id, step.after, metaAfter, around);
  const projected: ProjectedStep<never, never> = {
    id,
    before:
      before === null || metaBefore === null
        ? null
        : { value: before.value, context: before.context as never, meta: metaBefore },
    after: { value: step.after.value, context: step.after.context as never, meta: metaAfter },
    event: event as never,
    effects,
  };
  return {
    arms: [...timers.values(), ...others],
    disarms,
    watches: missingFrom(watchedBefore, watchedAfter),
    unwatches: missingFrom(watchedAfter, watchedBefore),
    writes: workflow.project(projected, at),
  };
}

function effectTask(
  workflow: AnyWorkflow,
  { id, taskId, at }: { readonly id: string; readonly taskId: string; readonly at: number },
  { name, params }: PlannedEffect,
  around: StepSurroundings,
): TaskRecord {
  if (name === "start") {
    const { machine, id: target, input } = params as StartParams;
    const { key } = around.workflowNamed(machine);
    return messageTask(taskId, target, key, { start: { workflow: key, input } }, at);
  }
  if (name === "tell") {
    const { machine, id: target, event, otherwise } = params as TellParams;
    const bounce =
      otherwise === undefined
        ? {}
        : { otherwise: { instance: id, workflow: workflow.key, event: otherwise } };
    return messageTask(taskId, target, around.workflowNamed(machine).key, { event, ...bounce }, at);
  }
  const handler = workflow.effects.get(name);
  return {
    id: taskId,
    instance: id,
    workflow: workflow.key,
    kind: "effect",
    name,
    payload: JSON.stringify(params ?? null),
    dueAt: at,
    lane: typeof handler === "object" ? handler.lane(params) : null,
  };
}

/** A message as a task of its target. */
export function messageTask(
  id: string,
  target: string,
  workflow: string,
  message: Message,
  at: number,
): TaskRecord {
  const name = message.event?.type ?? "$start";
  return {
    id,
    instance: target,
    workflow,
    kind: "message",
    name,
    payload: JSON.stringify(message),
    dueAt: at,
    lane: null,
  };
}

function watchRows(
  workflow: AnyWorkflow,
  instance: string,
  { context }: ChartSnapshot,
  meta: StateMeta | null,
  around: StepSurroundings,
): WatchRecord[] {
  return (meta?.watches ?? []).flatMap((kind) => {
    const key = workflow.watches[kind]?.(context as never);
    return key === undefined
      ? []
      : [{ kind, key, instance, workflow: workflow.key, shard: around.shardOf(key) }];
  });
}

function missingFrom(present: readonly WatchRecord[], wanted: readonly WatchRecord[]): WatchRecord[] {
  return wanted.filter(({ kind, key }) => !present.some((watch) => watch.kind === kind && watch.key === key));
}

function historyRow(
  instance: string,
  version: number,
  at: number,
  event: unknown,
  value: unknown,
): HistoryRecord {
  return { instance, version, at, event: JSON.stringify(event), value: JSON.stringify(value) };
}
