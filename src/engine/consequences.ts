/** What follows from one step: tasks to arm and to disarm, watches, messages, children, domain writes. Pure. */
import type { EventObject } from "xstate";
import type { Commit, TaskRecord, WatchRecord, Write } from "../../storage/storage.ts";
import { childDone, STOP } from "./chart.ts";
import type { Address, ChartAction, ChartSnapshot, ChartStep, PlannedEffect, StateMeta } from "./chart.ts";
import { childInstance, childWorkflow, linkedChild } from "./child-instances.ts";
import type { ChildStart } from "./child-instances.ts";
import { delayedToText, messageTask } from "./messages.ts";
import type { Message, Recipient, StartParams, TellParams } from "./messages.ts";
import { eventToJson, toJson } from "./values.ts";
import type { AnyWorkflow, ProjectedStep } from "./workflow.ts";

/** What planning needs to know of the engine around it. */
export interface StepSurroundings {
  workflowNamed(name: string): AnyWorkflow;
  shardOf(key: string): number;
}

/** One step with everything that its consequences depend on. */
export interface StepFacts {
  readonly workflow: AnyWorkflow;
  readonly id: string;
  readonly version: number;
  readonly before: ChartSnapshot | null;
  readonly step: ChartStep;
  /** Null for the first step of an instance. */
  readonly event: EventObject | null;
  readonly at: number;
}

/** What a step says to listeners and to the log, once it is durable. */
export type Voiced = Extract<ChartAction, { readonly kind: "log" | "emit" }> & { readonly instance: string };

/** What follows from a step, whether it is the first of its instance or a later one. */
export type Consequences = Required<Pick<Commit<never>, "disarms" | "ends" | "watches" | "unwatches">> & {
  readonly arms: readonly TaskRecord[];
  readonly writes: readonly Write<never>[];
  readonly children: readonly ChildStart[];
  readonly voiced: readonly Voiced[];
};

/** The name of the task that runs a promise actor. */
function invocationName(id: string): string {
  return `invoke.${id}`;
}

/** Everything that follows from a step. Throws `UnstorableValue` when params, an input or an event cannot be stored. */
export function consequencesOf(facts: StepFacts, around: StepSurroundings): Consequences {
  const collector = new Collector(facts, around);
  facts.step.actions.forEach((action, index) => collector.add(action, index));
  collector.end();
  const watches = watchChanges(facts, around);
  const { arms, disarms, ends, children, voiced } = collector;
  return { arms, disarms, ends, children, voiced, ...watches, writes: projected(facts, collector.effects) };
}

class Collector {
  readonly arms: TaskRecord[] = [];
  readonly disarms: { instance: string; timer: string }[] = [];
  readonly ends: string[] = [];
  readonly children: ChildStart[] = [];
  readonly voiced: Voiced[] = [];
  readonly effects: PlannedEffect[] = [];
  readonly #facts: StepFacts;
  readonly #around: StepSurroundings;

  constructor(facts: StepFacts, around: StepSurroundings) {
    this.#facts = facts;
    this.#around = around;
  }

  add(action: ChartAction, index: number): void {
    const { id, workflow } = this.#facts;
    switch (action.kind) {
      case "arm":
        return this.#armTimer(action, index);
      case "disarm":
        return this.#disarm(action.timer);
      case "effect":
        this.effects.push(action.effect);
        this.arms.push(this.#effectTask(action, index));
        return;
      case "startChild":
        return this.#startChild(action, index);
      case "stopChild": {
        if (action.run === undefined) return this.#disarm(invocationName(action.id));
        const instance = childInstance(id, action.id, action.run);
        const unborn = this.children.findIndex((child) => child.id === instance);
        // A state entered and left within one step started a child that never gets a row.
        if (unborn >= 0) this.children.splice(unborn, 1);
        else this.#tell({ instance, workflow: this.#childWorkflow(action.id).key }, { event: STOP }, index);
        return;
      }
      case "send": {
        const to = this.#recipient(action.to);
        // A promise takes no events.
        if (to !== null) this.#tell(to, { event: action.event }, index);
        return;
      }
      case "log":
      case "emit":
        this.voiced.push({ ...action, instance: id });
        return;
      default:
        throw new TypeError(`${workflow.key}: unknown action ${String(action satisfies never)}`);
    }
  }

  /** What an instance that ends leaves behind. */
  end(): void {
    const { id, step, workflow } = this.#facts;
    const { status, output, parent } = step.after;
    if (status === "active") return;
    if (status === "stopped" || workflow.delaysEvents) this.ends.push(id);
    if (status !== "done" || parent === undefined) return;
    this.#tell(parent, { event: childDone(parent.id, output, parent.run) }, step.actions.length);
  }

  #taskId(index: number): string {
    const { id, version } = this.#facts;
    return `${id}:${version}:${index}`;
  }

  #tell(to: Recipient, message: Message, index: number): void {
    this.arms.push(messageTask(this.#taskId(index), to, message, this.#facts.at));
  }

  #armTimer(
    { timer, delayMs, event, to: address }: Extract<ChartAction, { kind: "arm" }>,
    index: number,
  ): void {
    const { id, workflow, at } = this.#facts;
    const to = address === "self" ? undefined : this.#recipient(address);
    if (to === null) return;
    const taskId = this.#taskId(index);
    this.arms.push({
      id: taskId,
      instance: id,
      workflow: workflow.key,
      kind: "timer",
      name: timer ?? taskId,
      payload: delayedToText(to === undefined ? { event } : { to, event }),
      dueAt: at + delayMs,
      lane: null,
    });
  }

  #disarm(name: string): void {
    const { id } = this.#facts;
    // A state entered and left within one step armed a timer that never gets a row.
    const armed = this.arms.findLastIndex((task) => task.name === name && isDisarmable(task));
    if (armed >= 0) this.arms.splice(armed, 1);
    else this.disarms.push({ instance: id, timer: name });
  }

  #startChild(action: Extract<ChartAction, { kind: "startChild" }>, index: number): void {
    const { id, workflow, at } = this.#facts;
    const { id: childId, src, input, run } = action;
    if (run !== undefined) {
      const parent = { instance: id, workflow: workflow.key, id: childId, run };
      const child = childWorkflow(workflow, src);
      this.children.push({
        workflow: child,
        id: childInstance(id, childId, run),
        input,
        parent,
        index,
      });
      return;
    }
    const actor = workflow.actors.get(src);
    const lane = actor?.kind === "promise" ? actor.lane?.(input as never) : undefined;
    const stored = input === undefined ? {} : { input: toJson(input, `input of "${childId}"`) };
    this.arms.push({
      id: this.#taskId(index),
      instance: id,
      workflow: workflow.key,
      kind: "invocation",
      name: invocationName(childId),
      payload: JSON.stringify({ id: childId, src, ...stored }),
      dueAt: at,
      lane: lane ?? null,
    });
  }

  #recipient(to: Address): Recipient | null {
    const { id, workflow, step } = this.#facts;
    if (to === "self") return { instance: id, workflow: workflow.key };
    if (to === "parent") return step.after.parent ?? null;
    const link = linkedChild(to.child, step.after, this.#facts.before);
    if (link?.run === undefined) return null;
    return {
      instance: childInstance(id, to.child, link.run),
      workflow: childWorkflow(workflow, link.src).key,
    };
  }

  #childWorkflow(childId: string): AnyWorkflow {
    const { workflow, step, before } = this.#facts;
    return childWorkflow(workflow, linkedChild(childId, before, step.after)?.src);
  }

  #effectTask(
    { effect: { name, params }, scope }: Extract<ChartAction, { kind: "effect" }>,
    index: number,
  ): TaskRecord {
    const { id, workflow, at } = this.#facts;
    const taskId = this.#taskId(index);
    const handler = workflow.effects.get(name);
    const isOwn = handler === undefined && !workflow.bodies.has(name);
    if (name === "start" && isOwn) {
      const { machine, id: target, input } = params as StartParams;
      const { key } = this.#around.workflowNamed(machine);
      return messageTask(
        taskId,
        { instance: target, workflow: key },
        { start: { workflow: key, input } },
        at,
      );
    }
    if (name === "tell" && isOwn) {
      const { machine, id: target, event, otherwise } = params as TellParams;
      const bounce =
        otherwise === undefined
          ? {}
          : { otherwise: { instance: id, workflow: workflow.key, event: otherwise } };
      const to = { instance: target, workflow: this.#around.workflowNamed(machine).key };
      return messageTask(taskId, to, { event, ...bounce }, at);
    }
    const payload =
      handler === undefined
        ? {
            ...(params === undefined ? {} : { params: toJson(params, `params of ${name}`) }),
            context: toJson(scope.context, "context"),
            event: eventToJson(scope.event),
          }
        : toJson(params ?? null, `params of ${name}`);
    return {
      id: taskId,
      instance: id,
      workflow: workflow.key,
      kind: "effect",
      name,
      payload: JSON.stringify(payload),
      dueAt: at,
      lane: typeof handler === "object" ? handler.lane(params) : null,
    };
  }
}

function isDisarmable({ kind }: TaskRecord): boolean {
  return kind === "timer" || kind === "invocation";
}

function projected({ workflow, id, before, step, event, at }: StepFacts, effects: readonly PlannedEffect[]) {
  const { after, metaBefore, metaAfter } = step;
  const seen: ProjectedStep<never, never> = {
    id,
    before:
      before === null || metaBefore === null
        ? null
        : { value: before.value, context: before.context as never, meta: metaBefore },
    after: { value: after.value, context: after.context as never, meta: metaAfter },
    event: event as never,
    effects,
  };
  return workflow.project(seen, at);
}

function watchChanges(
  { workflow, id, before, step }: StepFacts,
  around: StepSurroundings,
): Pick<Consequences, "watches" | "unwatches"> {
  const { after, metaBefore, metaAfter } = step;
  const watchedBefore =
    before === null ? [] : watchRows({ workflow, id, snapshot: before, meta: metaBefore }, around);
  // A final state needs nothing of the ledger any more, whatever its meta says.
  const watchedAfter =
    after.status === "active" ? watchRows({ workflow, id, snapshot: after, meta: metaAfter }, around) : [];
  return {
    watches: missingFrom(watchedBefore, watchedAfter),
    unwatches: missingFrom(watchedAfter, watchedBefore),
  };
}

interface Watched {
  readonly workflow: AnyWorkflow;
  readonly id: string;
  readonly snapshot: ChartSnapshot;
  readonly meta: StateMeta | null;
}

function watchRows({ workflow, id, snapshot, meta }: Watched, around: StepSurroundings): WatchRecord[] {
  return (meta?.watches ?? []).flatMap((kind) => {
    const key = workflow.watches[kind]?.(snapshot.context as never);
    return key === undefined
      ? []
      : [{ kind, key, instance: id, workflow: workflow.key, shard: around.shardOf(key) }];
  });
}

function missingFrom(present: readonly WatchRecord[], wanted: readonly WatchRecord[]): WatchRecord[] {
  return wanted.filter(({ kind, key }) => !present.some((watch) => watch.kind === kind && watch.key === key));
}
