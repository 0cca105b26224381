/** Consequences of a step: tasks to arm and to disarm, messages, children, domain writes. Pure. */
import type { EventObject } from "xstate";
import type { ActorAddress } from "./actor-address.ts";
import type { Commit, TaskRecord, Write } from "../../storage/storage.ts";
import { commitCarrier, type Carried } from "./carried.ts";
import {
  childDone,
  childFailed,
  childInstance,
  STOP,
  type EventAddress,
  type ChartAction,
  type Voice,
  type StateMeta,
  type StartedChild,
  type PlannedEffect,
} from "./chart.ts";
import { effectTask } from "./effect-task.ts";
import { invocationName, invocationTask } from "./invocation-task.ts";
import { ChartFault } from "./chart-fault.ts";
import { delayedToText, messageTask, reservedField, type Message, type Recipient } from "./messages.ts";
import { addedWrites } from "./step-additions.ts";
import { taskOfStep, type StepContext } from "./step-context.ts";
import type { ProjectedStep } from "./workflow.ts";
import { workflowKey } from "./workflow-key.ts";

/** Log lines and emitted events of a step. Both happen after the step is durable. */
export type VoicedAction = Voice & { readonly instance: string };

/** The consequences of a step, whether it is the first of its instance or a later one. */
export type StepResult = Required<Pick<Commit<never>, "disarms" | "ends">> & {
  readonly arms: readonly TaskRecord[];
  readonly writes: readonly Write<never>[];
  readonly carried: readonly Carried[];
  /** Rows of modules. Nothing replaces them. */
  readonly added: readonly Write<never>[];
  readonly children: readonly StartedChild[];
  readonly voiced: readonly VoicedAction[];
};

/** Everything that follows from a step. Throws `UnstorableValue` when params, an input or an event cannot be stored. */
export function consequencesOf(facts: StepContext): StepResult {
  const collector = new Collector(facts);
  facts.step.actions.forEach((action, index) => collector.add(action, index));
  return collector.consequences();
}

/** The consequences of two steps of one instance, where the second step may take back consequences of the first. */
export function inTurn(instance: string, first: StepResult, second: StepResult): StepResult {
  const isDisarmed = (task: TaskRecord): boolean =>
    task.instance === instance &&
    isDisarmable(task) &&
    (second.ends.includes(instance) || second.disarms.some(({ timer }) => timer === task.name));
  const left = { ...first, arms: first.arms.filter((task) => !isDisarmed(task)) };
  return together([left, second]);
}

/** Merges the consequences of steps whose children have begun. Nearly every commit has a single step. */
export function together(steps: readonly StepResult[]): StepResult {
  const [first] = steps;
  if (first !== undefined && steps.length === 1) return first;
  return {
    arms: steps.flatMap(({ arms }) => arms),
    disarms: steps.flatMap(({ disarms }) => disarms),
    ends: steps.flatMap(({ ends }) => ends),
    children: [],
    voiced: steps.flatMap(({ voiced }) => voiced),
    writes: steps.flatMap(({ writes }) => writes),
    carried: steps.flatMap(({ carried }) => carried),
    added: steps.flatMap(({ added }) => added),
  };
}

type Action<Kind> = Extract<ChartAction, { readonly kind: Kind }>;

class Collector {
  readonly #facts: StepContext;
  readonly #arms: TaskRecord[] = [];
  readonly #disarms: { readonly instance: string; readonly timer: string }[] = [];
  readonly #children = new Map<string, StartedChild>();
  readonly #voiced: VoicedAction[] = [];
  readonly #effects: PlannedEffect[] = [];

  constructor(facts: StepContext) {
    this.#facts = facts;
  }

  /** `index` is the place of the action in its step; ids of tasks are made of it. */
  add(action: ChartAction, index: number): void {
    const { id, workflow } = this.#facts;
    switch (action.kind) {
      case "arm":
        return this.#armTimer(action, index);
      case "disarm":
        return this.#disarm(action.timer);
      case "effect":
        this.#effects.push(action.effect);
        this.#arms.push(effectTask(this.#facts, action, index));
        return;
      case "startChild":
        return this.#startChild(action, index);
      case "stopChild":
        return this.#stopChild(action, index);
      case "send": {
        const to = this.#recipient(action.to);
        checkFields(action.event);
        // A promise takes no events.
        if (to !== null) this.#tell(to, { event: action.event }, index);
        return;
      }
      case "log":
      case "emit":
        this.#voiced.push({ ...action, instance: id });
        return;
      default:
        throw new TypeError(`${workflow.key}: unknown action ${String(action satisfies never)}`);
    }
  }

  consequences(): StepResult {
    const ends = this.#ends();
    // An instance that ends drops its timers, including timers of the last step.
    const hasEnded = this.#facts.step.after.status !== "active";
    const { writes, carried } = this.#projected();
    return {
      arms: hasEnded ? this.#arms.filter((task) => !isDisarmable(task)) : this.#arms,
      disarms: this.#disarms,
      ends,
      children: [...this.#children.values()],
      voiced: this.#voiced,
      writes,
      carried,
      added: addedWrites(this.#facts),
    };
  }

  #projected(): Pick<StepResult, "writes" | "carried"> {
    const { workflow, id, version, before, step, event, at } = this.#facts;
    const { metasBefore, metasAfter, after } = step;
    const projected: ProjectedStep<never, never> = {
      id,
      version,
      before: before &&
        metasBefore && { value: before.value, context: before.context as never, meta: merged(metasBefore) },
      after: { value: after.value, context: after.context as never, meta: merged(metasAfter) },
      event: event as never,
      effects: this.#effects,
    };
    const rows = workflow.project(projected, at);
    const carried = rows.filter(commitCarrier.isCarried);
    return { writes: rows.filter((row): row is Write<never> => !commitCarrier.isCarried(row)), carried };
  }

  /** The instances whose timers and invocations are removed: this one, if it has ended. Its output is sent to its parent. */
  #ends(): readonly string[] {
    const { id, step, workflow } = this.#facts;
    const { status, output, error, parent } = step.after;
    if (status === "active") return [];
    if (status !== "stopped" && parent !== undefined) {
      const { id: child, run } = parent;
      const event = status === "done" ? childDone(child, output, run) : childFailed(child, error, run);
      this.#tell(parent, { event }, step.actions.length);
    }
    return status !== "done" || workflow.delaysEvents ? [id] : [];
  }

  #tell(to: Recipient, message: Message, index: number): void {
    this.#arms.push(messageTask(taskOfStep(this.#facts, index), to, { known: true, ...message }));
  }

  #armTimer({ timer, delayMs, event, to: address }: Action<"arm">, index: number): void {
    const to = address === "self" ? undefined : this.#recipient(address);
    if (to === null) return;
    checkFields(event);
    const { id, instance, workflow, dueAt } = taskOfStep(this.#facts, index, delayMs);
    const payload = delayedToText(to === undefined ? { event } : { to, event });
    this.#arms.push({
      id,
      instance,
      workflow,
      kind: "timer",
      name: timer ?? id,
      payload,
      dueAt,
      delayMs,
      limits: [],
    });
  }

  #disarm(name: string): void {
    // A state entered and left within one step armed a timer that never gets a row. One of an earlier step may have the name, too.
    const left = this.#arms.filter((task) => task.name !== name || !isDisarmable(task));
    this.#arms.splice(0, this.#arms.length, ...left);
    this.#disarms.push({ instance: this.#facts.id, timer: name });
  }

  #startChild(action: Action<"startChild">, index: number): void {
    const { id: childId, src, input, run } = action;
    if (run === undefined) {
      this.#arms.push(invocationTask(this.#facts, action, index));
      return;
    }
    this.#children.set(`${run} ${childId}`, { id: childId, src, run, input });
  }

  #stopChild({ id: childId, src, run }: Action<"stopChild">, index: number): void {
    if (run === undefined) return this.#disarm(invocationName(childId));
    // A state entered and left within one step started a child that never gets a row.
    if (this.#children.delete(`${run} ${childId}`)) return;
    const to = this.#recipient({ child: childId, link: { src, run } });
    if (to !== null) this.#tell(to, { event: STOP }, index);
  }

  #recipient(to: EventAddress): Recipient | null {
    const { id, workflow, life, step } = this.#facts;
    if (to === "self") return { instance: id, workflow: workflow.key, life };
    if (to === "parent") return step.after.parent ?? null;
    if ("actor" in to) return recipientAt(to.actor);
    const { link } = to;
    if (link?.run === undefined) return null;
    return {
      instance: childInstance(id, to.child, link.run),
      workflow: workflow.child(link.src).key,
      parentLife: life,
      ...(link.life !== undefined && { isAddress: true }),
    };
  }
}

/** An object that a chart passes on, such as the body of a request, may have fields with a meaning for the target's step. */
function checkFields(event: EventObject): void {
  const reason = reservedField(event);
  if (reason !== null) throw new ChartFault(reason);
}

/** A promise takes no events. The storage knows which version the target is of. */
function recipientAt({ place: { instance, life, workflow } }: ActorAddress): Recipient | null {
  return workflow === null ? null : { instance, workflow: workflowKey(workflow, 0), life, isAddress: true };
}

/** The meta of all active states, inner ones winning. */
const merged = (metas: readonly StateMeta[]): StateMeta => Object.assign({}, ...metas) as StateMeta;

function isDisarmable({ kind }: TaskRecord): boolean {
  return kind === "timer" || kind === "invocation";
}
