/** Plans one commit from one chart step: the new snapshot and all its consequences. Pure. */
import type { EventObject } from "xstate";
import type {
  CommitParts,
  HistoryRecord,
  StepRecord,
  TaskMigration,
  TaskRecord,
  Write,
} from "../../storage/storage.ts";
import { withoutTraps } from "../core/thrown.ts";
import { ActorTable, LifeUnknown } from "./actor-address.ts";
import {
  BORN,
  childFailed,
  childInstance,
  MIGRATED,
  STOP,
  type ChartSnapshot,
  type ChartStep,
  type KnownLives,
  type ParentLink,
  type StartedChild,
  type StepActor,
} from "./chart.ts";
import { consequencesOf, inTurn, type StepResult } from "./step-result.ts";
import { checkId } from "./instance-id.ts";
import { delayedFromText, messageTask } from "./messages.ts";
import type { WorkflowRegistry } from "./workflow-registry.ts";
import { addedWrites, ownSnapshot, withAddedRows, withAdditions } from "./step-additions.ts";
import { snapshotFromText, snapshotToText } from "./snapshot-text.ts";
import { causeOfParent, causeText } from "./step-cause.ts";
import type { StepTime } from "./stamps.ts";
import { type KnownInstance, taskOfStep, type StepContext } from "./step-context.ts";
import { birthTask, heldFor, unborn } from "./unborn-children.ts";
import { ChartFault, withStep } from "./chart-fault.ts";
import { checkSize } from "./value-size.ts";
import { eventToText, storableThrown } from "./values.ts";
import type { AnyWorkflow } from "./workflow.ts";
import type { StartRequest } from "./effect-run.ts";
import type { Writable } from "./writable.ts";

export interface PlannedStep {
  readonly after: ChartSnapshot;
  readonly life: string;
  /** The first step of an instance, and a timer that fires with it, are in `start`, every other one in `step`. */
  readonly start: NonNullable<CommitParts["starts"]>[number] | null;
  readonly step: StepRecord | null;
  /** The rows of the steps before the last, where it stands for several. */
  readonly earlier: readonly HistoryRecord[];
  readonly history: HistoryRecord;
  readonly follows: StepResult;
  /** The timer that has fired with the first step. */
  readonly fired?: TaskRecord;
  /** Changes to tasks that wait for the instance already, when it begins or moves to a new version. */
  readonly moves?: Pick<CommitParts, "adopts" | "amends">;
  /** Rows of its history that the last row stands for. */
  readonly forgets?: NonNullable<CommitParts["forgets"]>[number];
}

/** An instance to be started; `parent` when another one starts it. */
interface PlannedStart extends StartRequest {
  readonly workflow: AnyWorkflow;
  readonly parent?: ParentLink;
  /** The cause of the first step, if it differs from the cause of the other steps of the commit. */
  readonly cause?: string;
  /** Whether a timer that is due at once fires in the same commit. */
  readonly firesTimer?: boolean;
  /** Its life, where an address of it was handed out before it begins. */
  readonly life?: string;
  /** The children whose addresses the first step asks for. */
  readonly lives?: KnownLives;
}

interface ArrivedEvent<I = KnownInstance> {
  readonly workflow: AnyWorkflow;
  readonly instance: I;
  readonly snapshot: ChartSnapshot;
  readonly event: EventObject;
}

/** An instance on its way to a new version of its chart. */
export interface PlannedArrival {
  readonly workflow: AnyWorkflow;
  readonly instance: KnownInstance;
  readonly before: ChartSnapshot;
  readonly step: ChartStep;
  readonly writes: readonly Write<never>[];
  readonly amends: readonly TaskMigration[];
}

/** An event queued behind another event of the same instance, and the cause that the history will record for its step. */
export interface WaitingEvent {
  readonly event: EventObject;
  readonly cause: string;
}

/** The fields of an instance that a step is named by. */
type StandingInstance = Pick<KnownInstance, "id" | "version" | "life">;

/** The ids of children that were found taken. */
interface TakenIds {
  /** By child id: the run number that the next child of this instance follows. */
  of(instance: string): ChartSnapshot["runs"];
}

/** One commit of the steps of several events. `taken` is the number of waiting events in it. */
interface PlannedRun {
  readonly parts: PlannedStep[];
  readonly taken: number;
}

/** A step that is not stored yet, from which the next step of a run begins. */
interface Made extends Pick<PlannedStep, "after" | "earlier" | "history" | "follows" | "fired" | "forgets"> {
  readonly facts: StepContext;
  readonly born: readonly PlannedStep[];
}

const NONE: readonly never[] = [];

/** A child costs some tens of microseconds until it is stored: so many may begin in one commit, or timers would wait. */
const MAX_BORN = 256;

interface StepPlanParts {
  readonly newMoment: () => StepTime;
  readonly workflows: WorkflowRegistry;
  readonly taken?: TakenIds;
  /** How often in a row another process came first: a long commit never comes through, so half as many children begin each time. */
  readonly lostRaces?: number;
  /** The largest snapshot or event, as JSON. Default: no end. */
  readonly maxValueBytes?: number;
}

export class StepPlan {
  readonly #newMoment: () => StepTime;
  #moment: StepTime;
  readonly #workflows: WorkflowRegistry;
  readonly #taken: TakenIds | undefined;
  readonly #table = new ActorTable();
  readonly #maxBytes: number;
  /** The number of children that may still begin in this commit. */
  #room: number;

  constructor({ newMoment, workflows, taken, lostRaces = 0, maxValueBytes = Infinity }: StepPlanParts) {
    this.#maxBytes = maxValueBytes;
    this.#room = Math.max(1, MAX_BORN >> lostRaces);
    this.#newMoment = newMoment;
    this.#moment = newMoment();
    this.#workflows = workflows;
    this.#taken = taken;
  }

  /** In milliseconds since the Unix epoch. */
  get at(): number {
    return this.#moment.at;
  }

  /** Run numbers to skip, by child id: ids of children that other instances already use. */
  takenBy(instance: string): ChartSnapshot["runs"] {
    return this.#taken?.of(instance);
  }

  /** The instance as the chart of its next step is told of it. */
  actor({ id, life }: Pick<StandingInstance, "id" | "life">, workflow: AnyWorkflow): StepActor {
    const { stamp } = this.#moment;
    return { instance: id, life, stamp, workflow, table: this.#table, asks: true };
  }

  /** The first step of a new instance, and those of the children it starts. */
  start(start: PlannedStart): PlannedStep[] {
    const step = (): string => `${start.workflow.key}, start of ${start.id}`;
    return withStep(step, () => {
      checkId(start.id);
      return this.#started(start);
    });
  }

  /** With the steps of the children it starts; null when the event changes nothing. @throws TypeError for one without a type. */
  step(arrived: ArrivedEvent): PlannedStep[] | null {
    const { workflow, instance, snapshot } = arrived;
    const standing = (): string =>
      `${workflow.key}, ${instance.id} in state ${JSON.stringify(snapshot.value)}`;
    // A program without types, or an outcome that was read from somewhere, may give anything.
    const event = arrived.event as Partial<EventObject> | null;
    if (typeof event?.type !== "string" || event.type === "") {
      throw new TypeError(`${standing()}: event.type: expected the name of an event`);
    }
    return withStep(standing, () => {
      const made = this.#made(arrived);
      return made === null ? null : this.#whole(made, instance.stamp);
    });
  }

  /** The step with those of waiting events, as one commit: `taken` of them made a step without an error. */
  run(arrived: ArrivedEvent, waiting: readonly WaitingEvent[]): PlannedRun | null {
    if (waiting.length === 0) {
      const parts = this.step(arrived);
      return parts && { parts, taken: 0 };
    }
    const kept = snapshotToText(arrived.snapshot);
    try {
      return this.#ran(arrived, waiting, kept);
    } catch {
      // Together they may lead to what cannot be stored: the first goes alone, or throws again.
      return this.run({ ...arrived, snapshot: snapshotFromText(kept) }, NONE);
    }
  }

  #ran(arrived: ArrivedEvent, waiting: readonly WaitingEvent[], kept: string): PlannedRun | null {
    const { workflow, instance } = arrived;
    let made = this.#made(arrived);
    if (made === null) return null;
    for (const [taken, { event, cause }] of waiting.entries()) {
      const { after } = made;
      if (after.status !== "active" || after.unborn !== undefined) {
        return { parts: this.#whole(made, instance.stamp), taken };
      }
      this.#moment = this.#newMoment();
      try {
        const standing = { ...instance, version: made.history.version };
        const next = this.#made({ workflow, instance: standing, snapshot: after, event }, true);
        if (next !== null) made = behindOther(made, next, cause);
      } catch {
        // The failed step may have changed the snapshot, so this run is planned again without the event. The event is
        // then handled alone: it throws again, and its own message is to blame.
        const snapshot = snapshotFromText(kept);
        return this.run({ ...arrived, snapshot }, waiting.slice(0, taken));
      }
    }
    return { parts: this.#whole(made, instance.stamp), taken: waiting.length };
  }

  /** The step that brings an instance into a new version of its chart, and the steps of the children it starts. */
  arrive(moved: PlannedArrival): PlannedStep[] {
    const { workflow, instance, before, step, writes, amends } = moved;
    const { key } = workflow;
    // A value that cannot be stored is named by its place in the snapshot, not in the event.
    snapshotToText(step.after);
    const event = { type: MIGRATED, from: instance.workflow, to: key, snapshot: step.after };
    // The rows of this commit are those of the migration: `project` has not seen the step that led here.
    const project = (): typeof writes => writes;
    const facts = this.#following(instance, { workflow: { ...workflow, project }, before, step, event });
    const made = this.#withChildren(facts, consequencesOf(facts));
    const [arrival, ...born] = this.#whole(made, instance.stamp);
    return [{ ...arrival, moves: { adopts: [{ instance: instance.id, workflow: key }], amends } }, ...born];
  }

  #started(start: PlannedStart): PlannedStep[] {
    const room = this.#room;
    try {
      return this.#startedOnce(start);
    } catch (error) {
      this.#room = room;
      if (!(error instanceof LifeUnknown) || !error.isNew || start.lives?.[error.child] === true) throw error;
      return this.#started({ ...start, lives: { ...start.lives, [error.child]: true } });
    }
  }

  #startedOnce(start: PlannedStart): PlannedStep[] {
    const { workflow, id, input, parent, cause, firesTimer = false, lives } = start;
    const { life = this.#moment.stamp } = start;
    const runs = this.takenBy(id);
    const first = { parent, runs, lives };
    const step = workflow.chart.start(input, first, this.actor({ id, life }, workflow));
    const event = {
      type: "$started",
      input,
      ...(parent && { parent }),
      ...(runs && { runs }),
      ...(lives && { lives }),
    };
    const facts = this.#following({ id, version: 0, life }, { workflow, before: null, step, event: null });
    const made = this.#withChildren(facts, consequencesOf(facts));
    const text = eventToText(event);
    checkSize(text, this.#maxBytes, "event");
    const history = { ...made.history, event: text, cause: cause ?? null };
    const begun = { ...made, history };
    try {
      return this.#whole(firesTimer ? this.#withTimer(begun) : begun, null);
    } catch (error) {
      if (!firesTimer) throw error;
      // The failed step may have changed the snapshot. The timer then fires alone, and its own task is to blame.
      return this.#started({ ...start, firesTimer: false });
    }
  }

  /** The first step together with that of a timer which is due at once, if there is one. */
  #withTimer(begun: Made): Made {
    const { facts, after, history, follows, born } = begun;
    const { id, life, workflow } = facts;
    const timer = follows.arms.find(({ kind, dueAt }) => kind === "timer" && dueAt <= facts.at);
    const isOver = after.status !== "active" || after.unborn !== undefined || born.length > 0;
    const tellsItself = follows.arms.some(({ kind, instance }) => kind === "message" && instance === id);
    if (timer === undefined || isOver || tellsItself) return begun;
    const { to, event } = delayedFromText(timer.payload);
    if (to !== undefined) return begun;
    this.#moment = this.#newMoment();
    const instance = { id, life, version: history.version };
    const next = this.#made({ workflow, instance, snapshot: after, event }, true);
    if (next === null) return begun;
    const left = { ...follows, arms: follows.arms.filter((task) => task !== timer) };
    const both = behindOther({ ...begun, follows: left }, next, causeText(timer, id));
    // Nothing of a new instance is stored that could be disarmed.
    return { ...both, fired: timer, follows: { ...both.follows, disarms: NONE } };
  }

  #made(arrived: ArrivedEvent<StandingInstance>, isOwn = false): Made | null {
    const { workflow, instance, snapshot: before, event: sent } = arrived;
    const runs = this.takenBy(instance.id);
    // The history stores `$runs` too, so that replaying the event gives the same step.
    const given = runs === undefined ? sent : { ...sent, $runs: runs };
    const actor = this.actor(instance, workflow);
    const { event, step } = isOwn
      ? { event: given, step: workflow.chart.step(before, given, { actor, isOwn }) }
      : this.#stepOrFailure(workflow, { before, actor }, given);
    if (step === null) return null;
    const facts = this.#following(instance, { workflow, before, step, event });
    const follows =
      event.type === BORN ? { ...unborn(facts), added: addedWrites(facts) } : consequencesOf(facts);
    return this.#withChildren(facts, follows);
  }

  /**
   * A child that throws ends with its error when its parent has an `onError` for it, as in XState; else it is left unchanged.
   * Replaying the returned event, which is that of the history, gives the same step.
   */
  #stepOrFailure(
    { chart }: AnyWorkflow,
    { before, actor }: { readonly before: ChartSnapshot; readonly actor: StepActor },
    event: EventObject,
  ): { readonly event: EventObject; readonly step: ChartStep | null } {
    try {
      return { event, step: chart.step(before, event, { actor }) };
    } catch (thrown) {
      const error = withoutTraps(thrown);
      const { parent } = before;
      if (parent === undefined || error instanceof ChartFault) throw error;
      const above = this.#workflows.get(parent.workflow) ?? this.#workflows.successorOf(parent.workflow);
      if (above?.catches(parent.id) !== true) throw error;
      // A field that is undefined would be missing from the history.
      const failed = { ...event, $error: storableThrown(error) ?? null };
      return { event: failed, step: chart.step(before, failed, { actor }) };
    }
  }

  #following(
    { id, version, life }: StandingInstance,
    made: Pick<StepContext, "workflow" | "before" | "step" | "event">,
  ): StepContext {
    const after = withAdditions(made);
    const step = after === made.step.after ? made.step : { ...made.step, after };
    const { workflow, before, event } = made;
    const { at, stamp } = this.#moment;
    const workflows = this.#workflows;
    return { id, version: version + 1, life, at, stamp, workflow, before, step, event, workflows };
  }

  /** A step with the first steps of the children it starts, as far as the commit has room for them. */
  #withChildren(facts: StepContext, follows: StepResult): Made {
    const { id, version, stamp, at, step, event } = facts;
    const value = JSON.stringify(step.after.value);
    const text = event === null ? "" : eventToText(event);
    // That of a migration holds the snapshot, which is looked at as such.
    if (event?.type !== MIGRATED) checkSize(text, this.#maxBytes, "event");
    const history = { instance: id, version, stamp, at, event: text, value, cause: null };
    if (follows.children.length === 0) {
      return { facts, after: step.after, earlier: NONE, history, follows, born: NONE };
    }
    const children = follows.children.slice(0, this.#room);
    const later = follows.children.slice(children.length);
    this.#room -= children.length;
    const { now, held } = heldFor(later, id, follows.arms);
    const after = later.length === 0 ? step.after : { ...step.after, unborn: held };
    const { born, failed } = this.#born(facts, children);
    // A timer begins the remaining children, unless another event of the instance comes before the timer.
    const isFirst = later.length > 0 && event?.type !== BORN;
    const arms = [...now, ...failed, ...(isFirst ? [birthTask(facts)] : [])];
    return { facts, after, earlier: NONE, history, follows: { ...follows, arms }, born };
  }

  /** The step after the step with this stamp, or the first step, as stored; then the steps of its children. */
  #whole(made: Made, behind: string | null): [PlannedStep, ...(readonly PlannedStep[])] {
    const {
      facts,
      after: left,
      earlier,
      history,
      follows,
      born,
      fired,
      forgets,
    } = withAddedRows(made.facts.workflow, made, heldByRow);
    const { id, life, stamp, at, workflow } = facts;
    const after = earlier.length === 0 ? left : withoutEmpty(left);
    const { key, hash } = workflow;
    const { version } = history;
    // In the store an instance takes events or it does not; the snapshot says how it ended.
    const status = after.status === "active" ? "active" : "done";
    const snapshot = snapshotToText(after);
    // An instance that has grown too long can be stopped.
    if (facts.event?.type !== STOP.type) checkSize(snapshot, this.#maxBytes);
    const whole: Writable<PlannedStep> = { after, life, start: null, step: null, earlier, history, follows };
    if (behind === null) {
      const parent = after.parent?.instance ?? null;
      const createdAt = (earlier[0] ?? history).at;
      whole.start = {
        id,
        workflow: key,
        hash,
        version,
        stamp,
        life,
        parent,
        status,
        snapshot,
        createdAt,
        updatedAt: at,
      };
      whole.moves = { adopts: [{ instance: id, workflow: key }] };
    } else {
      const steps = earlier.length + 1;
      whole.step = { id, stamp, workflow: key, hash, status, snapshot, after: behind, steps, at };
      if (after.status === "done" && !workflow.keepsEnded) whole.step = { ...whole.step, isLast: true };
    }
    if (fired !== undefined) whole.fired = fired;
    if (forgets !== undefined) whole.forgets = forgets;
    return [whole, ...born];
  }

  /** The first steps of children, and what tells their parent of those that could not begin. */
  #born(
    facts: StepContext,
    children: readonly StartedChild[],
  ): { readonly born: PlannedStep[]; readonly failed: TaskRecord[] } {
    const { id: instance, workflow, stamp, life } = facts;
    const born: PlannedStep[] = [];
    const failed: TaskRecord[] = [];
    const cause = causeOfParent({ instance, stamp });
    for (const { id: child, src, run, input, life: own } of children) {
      const parent = { instance, workflow: workflow.key, id: child, run, life };
      const id = childInstance(instance, child, run);
      try {
        const start = { workflow: workflow.child(src), id, input, parent, cause };
        born.push(...this.start(own === undefined ? start : { ...start, life: own }));
      } catch (error) {
        // A fault of the chart is one that its author has to see.
        if (error instanceof ChartFault) throw error;
        const event = childFailed(child, error, run);
        failed.push(messageTask(taskOfStep(facts, `unborn:${failed.length}`), parent, { event }));
      }
    }
    return { born, failed };
  }
}

function behindOther(first: Made, second: Made, cause: string): Made {
  return {
    ...second,
    earlier: [...first.earlier, first.history],
    history: { ...second.history, cause },
    follows: inTurn(second.facts.id, first.follows, second.follows),
    born: [...first.born, ...second.born],
  };
}

const heldByRow = (after: ChartSnapshot): ChartSnapshot => withoutEmpty(ownSnapshot(after));

/** Within a run, empty lists of children are not searched for. */
function withoutEmpty(snapshot: ChartSnapshot): ChartSnapshot {
  const isEmpty = ([name, part]: readonly [string, unknown]): boolean =>
    (name === "children" || name === "runs") && Object.keys(part as object).length === 0;
  return Object.fromEntries(
    Object.entries(snapshot).filter((part) => !isEmpty(part)),
  ) as unknown as ChartSnapshot;
}
