/** Load, decide, commit: the only way in which an instance changes. */
import type { EventObject } from "xstate";
import type {
  ClaimedTask,
  Commit,
  CommitResult,
  EngineStorage,
  InstanceRecord,
  TaskMigration,
} from "../../../storage/storage.ts";
import { StorageUnusable } from "../../../storage/storage-unusable.ts";
import { isTurnOver, nextTurn, type Clock, type Random } from "../../core/runtime.ts";
import { LifeUnknown } from "../../workflow/actor-address.ts";
import { BORN, type ChartSnapshot } from "../../workflow/chart.ts";
import { CommitQueue } from "./commit-queue.ts";
import { endedAmongStopped, stopsChildren, withLife } from "./child-lives.ts";
import { FailedMigrationCache } from "./failed-migration-cache.ts";
import { withLent } from "./lent-contexts.ts";
import { dependsOnState, isMeant, messageFromText, messageKey } from "../../workflow/messages.ts";
import { MigrationFailed } from "../../workflow/migrations.ts";
import {
  MAX_MOVED,
  type MigratingInstance,
  planMigration,
  renamedEffects,
} from "../../workflow/plan-migration.ts";
import { StepPlan, type PlannedStep, type WaitingEvent } from "../../workflow/plan-step.ts";
import { InstanceCache } from "./instance-cache.ts";
import type { KnownInstance } from "../../workflow/step-context.ts";
import { UnknownWorkflow } from "../../workflow/workflow-registry.ts";
import { faultOfEvent } from "../../workflow/value-size.ts";
import type { UnstorableValue } from "../../workflow/values.ts";
import { newMoment, type StepTime } from "../../workflow/stamps.ts";
import type { ChartCheck } from "./stored-charts.ts";
import { snapshotFromText } from "../../workflow/snapshot-text.ts";
import { causeText } from "../../workflow/step-cause.ts";
import {
  type CommitAdditions,
  StepCommitWriter,
  type StepCommitWriterParts,
  type StepCommitAdditions,
} from "./step-commit-writer.ts";
import { TakenIdCache } from "./taken-id-cache.ts";
import { TaskMovedError } from "./held-task-list.ts";
import { KeyedQueue } from "./keyed-queue.ts";
import { nameOf } from "../../workflow/workflow-key.ts";
import type { AnyWorkflow } from "../../workflow/workflow.ts";

type ArrivedEvent = Parameters<StepPlan["run"]>[0];
type WaitingMessage = WaitingEvent & { readonly task: string };

/** The result of sending an event. */
export type SendResult =
  /** The event was taken in a commit that is durable. */
  | { readonly kind: "stepped"; readonly snapshot: ChartSnapshot }
  /** The chart has nothing to do with this event now; nothing was written. */
  | { readonly kind: "unchanged"; readonly snapshot: ChartSnapshot }
  /** The instance had already reached a final state; nothing was written. */
  | { readonly kind: "ended"; readonly snapshot: ChartSnapshot }
  | { readonly kind: "absent" }
  /** A companion of the step was refused, and the step with it. */
  | { readonly kind: "refused"; readonly result: Exclude<CommitResult, { ok: true }> };

// Senders of one process take turns. So a lost race means that another process got through, and it may again. This many in a
// row is no race but a fault.
const MAX_LOST_RACES = 1_000;
/** A timer lets messages go first that are taken up one behind the other, but not without end. */
const MAX_GIVEN_WAY = 64;
/** Each lost race makes the next commit half as long, until it holds one thing. */
const MAX_HALVINGS = 9;

// One commit of the target takes this many messages if its snapshot has at least this many characters.
const MAX_RUN = 256;
const MIN_LONG = 16_384;

interface StepHandlerParts<W> extends Pick<
  StepCommitWriterParts<W>,
  "workflows" | "hands" | "hooks" | "isFollowed" | "onCommitted"
> {
  readonly storage: Pick<EngineStorage, "load" | "tasks" | "commit">;
  readonly clock: Clock;
  readonly random: Random;
  /** See `EngineOptions`. */
  readonly maxValueBytes: number;
  /** Done before the first step. */
  readonly charts: Pick<ChartCheck, "isDone" | "check">;
}

const isAway = (error: unknown): boolean =>
  error instanceof StorageUnusable && (error.code === "unavailable" || error.code === "replica");

export class StepHandler<W> {
  readonly charts: StepHandlerParts<W>["charts"];
  readonly #around: StepHandlerParts<W>;
  readonly #queue: CommitQueue<W>;
  readonly #commits: StepCommitWriter<W>;
  readonly #plan: (lostRaces?: number) => StepPlan;
  /** Each would wait for the same database as long as the one before: an outage has the length of one wait, not of all. */
  readonly #turns = new KeyedQueue(isAway);
  readonly #recent = new InstanceCache();
  readonly #failed: FailedMigrationCache;

  constructor(around: StepHandlerParts<W>) {
    const { storage, workflows, clock, random, maxValueBytes } = around;
    this.#around = around;
    this.charts = around.charts;
    this.#queue = new CommitQueue<W>(storage);
    const takenIds = new TakenIdCache();
    const moment = (): StepTime => newMoment(clock, random);
    this.#plan = (lost = 0) =>
      new StepPlan({
        newMoment: moment,
        workflows,
        taken: takenIds,
        lostRaces: Math.min(lost, MAX_HALVINGS),
        maxValueBytes,
      });
    this.#commits = new StepCommitWriter<W>({
      ...around,
      queue: this.#queue,
      takenIds,
      recent: this.#recent,
    });
    this.#failed = new FailedMigrationCache(clock);
  }

  /** Starts instances together with writes and the end of a task, in one commit. */
  async commit(companions: StepCommitAdditions<W>): Promise<CommitResult> {
    if (!this.charts.isDone) await this.charts.check();
    for (;;) {
      const result = await this.#commits.commit([], companions, this.#plan());
      // It makes no step: ids of children were taken.
      if (result.ok || result.conflict !== "step") return result;
    }
  }

  /** The commit of these starts and companions, for a transaction that is not the engine's. */
  planned(companions: CommitAdditions<W>): Commit<W> {
    return this.#commits.planned(companions, this.#plan());
  }

  /** A stamp unlike all others, by which something new is named. */
  stamp(): string {
    return newMoment(this.#around.clock, this.#around.random).stamp;
  }

  /** A commit of what `planned` has made is durable, in a transaction that is not the engine's. */
  committed(commit: Commit<W>): void {
    this.#commits.committed(commit, this.#around.clock.now());
  }

  /** Why no step can keep this event; null where it is the step that made something else which cannot be kept. */
  faultOf(event: EventObject): UnstorableValue | null {
    return faultOfEvent(event, this.#around.maxValueBytes);
  }

  /** Hands an event to an instance. Among racing senders one wins after each step; the others decide again. */
  send(id: string, event: EventObject, companions: StepCommitAdditions<W> = {}): Promise<SendResult> {
    if (companions.isTimer === true) return this.#sendBehind(id, event, companions);
    return this.#turns.take(id, () => this.#sendNow(id, event, companions));
  }

  /** The event of a timer goes behind the messages of its moment, as in XState. */
  async #sendBehind(id: string, event: EventObject, companions: StepCommitAdditions<W>): Promise<SendResult> {
    const { hands } = this.#around;
    for (let round = 0; round < MAX_GIVEN_WAY; round++) {
      const turn = await this.#turns.take(id, async () => {
        const told = hands.untilTold(id);
        return told === null ? { sent: await this.#sendNow(id, event, companions) } : { told };
      });
      if ("sent" in turn) return turn.sent;
      await turn.told;
    }
    return this.#turns.take(id, () => this.#sendNow(id, event, companions));
  }

  /** Stores a task in another form, and takes it from its holder. Nothing happens where it has ended. */
  async amend(amendment: TaskMigration): Promise<void> {
    await this.#queue.commit({ amends: [amendment] });
  }

  /** Throws `UnknownWorkflow` where the chart of its instance is not here, `TaskMovedError` where the instance has moved, or moves now. */
  async checkKnown(task: ClaimedTask): Promise<void> {
    const { instance: id } = task;
    const instance = this.#recent.get(id) ?? (await this.#turns.take(id, () => this.#present(id)));
    // The cached instance may be of an earlier life.
    if (instance !== null && instance.workflow !== task.workflow) await this.checkMoved(task);
  }

  /** Throws `TaskMovedError` when the instance is one of another workflow by now, to which all its tasks go. */
  async checkMoved({ id, instance, workflow: before }: ClaimedTask): Promise<void> {
    const { workflow = before } = (await this.#around.storage.load(instance)) ?? {};
    if (workflow === before) return;
    await this.#queue.commit({ adopts: [{ instance, workflow }] });
    throw new TaskMovedError(`${id} belongs to ${workflow} now`);
  }

  /** Throws `TaskMovedError` when the effect of an ended instance is done under another name by the version after. */
  async checkRenamed(task: ClaimedTask): Promise<void> {
    const { storage, workflows } = this.#around;
    const instance = await storage.load(task.instance);
    const workflow = instance === null ? undefined : workflows.successorOf(instance.workflow);
    if (instance === null || workflow === undefined) return;
    const moving = await this.#moving(instance, workflow);
    const amends = renamedEffects(moving, this.#plan());
    if (!amends.some(({ task: renamed }) => renamed === task.id)) return;
    await this.#queue.commit({ amends });
    throw new TaskMovedError(`${task.id} is done under another name now`);
  }

  /** The instance, migrated if need be. An ended one is not: a process with the successor of its workflow knows it too. */
  async #present(id: string): Promise<KnownInstance | null> {
    const { storage, workflows } = this.#around;
    for (let lost = 0; lost < MAX_LOST_RACES; lost++) {
      const recent = this.#recent.get(id);
      if (recent !== undefined) return recent;
      const instance = await storage.load(id);
      if (instance === null) return null;
      const successor = workflows.successorOf(instance.workflow);
      if (successor === undefined || instance.status === "done") {
        if (successor === undefined) workflows.of(instance);
        this.#recent.keep(instance);
        return instance;
      }
      await this.#migrate(instance, successor, lost);
    }
    throw tooManyRaces(id);
  }

  /** An instance with what a newer version of its chart may change. */
  async #moving(instance: KnownInstance, workflow: AnyWorkflow): Promise<MigratingInstance> {
    const { storage } = this.#around;
    const { id: of, snapshot: text } = instance;
    const tasks = await storage.tasks({
      order: "instance",
      instance: of,
      limit: MAX_MOVED,
      except: "message",
    });
    const snapshot = await withLent(storage, instance, snapshotFromText(text));
    return { instance, workflow, snapshot, tasks };
  }

  /** Makes an instance one of a newer version of its chart, unless another commit came first: look again. */
  async #migrate(instance: KnownInstance, workflow: AnyWorkflow, lost: number): Promise<"done" | "lost"> {
    const { id, workflow: from, version } = instance;
    const step = { instance: id, from, to: workflow.key, version };
    this.#failed.throwRemembered(step);
    const moving = await this.#moving(instance, workflow);
    const plan = this.#plan(lost);
    let parts: readonly PlannedStep[];
    try {
      parts = planMigration(moving, plan);
    } catch (error) {
      if (error instanceof MigrationFailed) this.#failed.remember(step, error);
      throw error;
    }
    return this.#commitAlone(parts, plan);
  }

  async #sendNow(id: string, event: EventObject, companions: StepCommitAdditions<W>): Promise<SendResult> {
    if (isTurnOver()) await nextTurn();
    const { storage, workflows } = this.#around;
    if (!this.charts.isDone) await this.charts.check();
    // A program without types may give undefined.
    if ("workflow" in companions) workflows.ofHandle(companions.workflow, id);
    const takesNoneBehind = companions.isMessage !== true;
    let isAlone = takesNoneBehind;
    let lost = 0;
    for (let look = 0; look < MAX_LOST_RACES; look++) {
      const known = this.#recent.take(id);
      const instance = known ?? (await storage.load(id));
      if (instance === null) return { kind: "absent" };
      const snapshot = snapshotFromText(instance.snapshot);
      const told = toldAtOnce(instance, snapshot, companions);
      if (told !== null) {
        // The cached instance may be out of date, or of an earlier life.
        if (known !== undefined && (told instanceof Error || told.kind !== "ended")) continue;
        if (told instanceof Error) throw told;
        return told;
      }
      const prepared = await this.#prepare(instance, snapshot, lost);
      if (prepared !== "nothing") {
        if (prepared === "lost") lost += 1;
        continue;
      }
      // By now they have begun. A program without types may give no event at all, which the plan refuses.
      if ((event as EventObject | undefined)?.type === BORN) return { kind: "unchanged", snapshot };
      if (isStale(instance, companions)) {
        if (known !== undefined) continue;
        return STALE;
      }
      const plan = this.#plan(lost);
      const workflow = workflows.of(instance);
      // Only bodies of the chart are called with a context.
      const isLending = workflow.bodies.size > 0;
      const lending = isLending ? await withLent(storage, instance, snapshot) : snapshot;
      // A long run takes longer than a step elsewhere.
      const most = isAlone ? 0 : MAX_RUN >> Math.min(lost, MAX_HALVINGS);
      const waiting = most === 0 ? [] : await this.#waiting(instance, snapshot, { at: plan.at, most });
      const run = await this.#planned(plan, { workflow, instance, snapshot: lending, event }, waiting);
      if (run === "alone") {
        isAlone = true;
        continue;
      }
      if (run === null) {
        // The cached instance may be out of date, and the event may change the stored one.
        if (known !== undefined) continue;
        return { kind: "unchanged", snapshot };
      }
      const [first] = run.parts as [PlannedStep];
      const behind = waiting.slice(0, run.taken).map(({ task }) => task);
      companions.onTried?.(first.history, instance.life);
      const beside = behind.length === 0 ? companions : { ...companions, behind };
      const result = await this.#commits.commit(run.parts, beside, plan);
      if (result.ok) return { kind: "stepped", snapshot: first.after };
      // One of those behind may be gone, by an operator's command, or ask for what is refused: the first is tried alone.
      const isTriedAlone = result.conflict !== "step" && behind.length > 0;
      if (result.conflict !== "step" && !isTriedAlone) return { kind: "refused", result };
      if (!isTriedAlone) lost += 1;
      isAlone = takesNoneBehind || isTriedAlone;
    }
    throw tooManyRaces(id);
  }

  /** The step, with what it has to know of the children that it stops. `alone`: it is not known which of several steps does. */
  async #planned(
    plan: StepPlan,
    arrived: ArrivedEvent,
    waiting: readonly WaitingMessage[],
  ): Promise<ReturnType<StepPlan["run"]> | "alone"> {
    const run = await this.#withLives(plan, arrived, waiting);
    if (run === "alone") return run;
    const [first] = run?.parts ?? [];
    if (first === undefined || !stopsChildren(first)) return run;
    if (waiting.length > 0) return "alone";
    const $ended = await endedAmongStopped(this.#around.storage, arrived.snapshot, first);
    const event = { ...arrived.event, $ended };
    return $ended === undefined ? run : this.#withLives(plan, { ...arrived, event }, []);
  }

  /** The step, which may ask for the addresses of children whose lives its instance has not noted. `alone`: see `#planned`. */
  async #withLives(
    plan: StepPlan,
    arrived: ArrivedEvent,
    waiting: readonly WaitingMessage[],
  ): Promise<ReturnType<StepPlan["run"]> | "alone"> {
    try {
      return plan.run(arrived, waiting);
    } catch (error) {
      if (!(error instanceof LifeUnknown)) throw error;
      // The steps behind it may have changed the snapshot.
      if (waiting.length > 0) return "alone";
      const event = await withLife(this.#around.storage, error, arrived);
      if (event === null) throw error;
      return this.#withLives(plan, { ...arrived, event }, []);
    }
  }

  /** Migrates the instance, or begins its children, unless another commit came first: then it has to be looked at again. */
  async #prepare(
    instance: KnownInstance,
    snapshot: ChartSnapshot,
    lost: number,
  ): Promise<"nothing" | "done" | "lost"> {
    const { workflows } = this.#around;
    const successor = workflows.successorOf(instance.workflow);
    if (successor !== undefined) return this.#migrate(instance, successor, lost);
    if (snapshot.unborn === undefined) return "nothing";
    if (isTurnOver()) await nextTurn();
    const plan = this.#plan(lost);
    const workflow = workflows.of(instance);
    const step = plan.step({ workflow, instance, snapshot, event: { type: BORN } });
    return this.#commitAlone(step ?? [], plan);
  }

  /** Queued messages that can share the next commit of an instance, which is worth it where its snapshot is long. */
  async #waiting(
    instance: KnownInstance,
    snapshot: ChartSnapshot,
    { at, most }: { readonly at: number; readonly most: number },
  ): Promise<WaitingMessage[]> {
    const { id, snapshot: text } = instance;
    if (text.length < MIN_LONG || this.#around.isFollowed(id)) return [];
    const tasks = await this.#around.storage.tasks({ order: "parked", key: messageKey(id), limit: most });
    const waiting = tasks.map((task) => ({ ...messageFromText(task.payload), ...task }));
    const isInRun = ({ start, event, dueAt, ...meant }: (typeof waiting)[number]): boolean =>
      start === undefined &&
      event !== undefined &&
      dueAt <= at &&
      !dependsOnState(meant) &&
      isMeant(meant, instance, snapshot);
    const end = waiting.findIndex((message) => !isInRun(message));
    return (end < 0 ? waiting : waiting.slice(0, end)).flatMap(({ event, ...task }) =>
      event === undefined ? [] : [{ event, task: task.id, cause: causeText(task, id) }],
    );
  }

  /** A step that nothing comes with; lost where another commit came first. */
  async #commitAlone(step: readonly PlannedStep[], plan: StepPlan): Promise<"done" | "lost"> {
    const result = await this.#commits.commit(step, {}, plan);
    if (result.ok) return "done";
    if (result.conflict === "step") return "lost";
    throw new Error(
      `the engine's own step of ${step[0]?.history.instance} was refused: ${JSON.stringify(result)}`,
    );
  }
}

const STALE: SendResult = { kind: "refused", result: { ok: false, conflict: "step" } };

const isStale = (
  { version }: KnownInstance,
  { expectedVersion = version }: Pick<StepCommitAdditions<never>, "expectedVersion">,
): boolean => version !== expectedVersion;

/** The answer to an event about which the chart does not decide; null where the chart decides. */
function toldAtOnce<W>(
  instance: KnownInstance,
  snapshot: ChartSnapshot,
  companions: StepCommitAdditions<W>,
): SendResult | UnknownWorkflow | null {
  const { workflow, meant = {}, consumes } = companions;
  if (workflow !== undefined && nameOf(instance.workflow) !== workflow.name) {
    return mixedUp(instance, workflow);
  }
  if (!isMeant(meant, instance, snapshot)) return { kind: "absent" };
  // The end of a task may hold more than the event, which an ended instance does not take.
  if (consumes !== undefined && isStale(instance, companions)) return STALE;
  return instance.status === "done" ? { kind: "ended", snapshot } : null;
}

export function mixedUp(
  instance: Pick<InstanceRecord, "id" | "workflow">,
  { name }: AnyWorkflow,
): UnknownWorkflow {
  const { id, workflow } = instance;
  return new UnknownWorkflow(
    instance,
    `instance ${id} is one of ${workflow}, and not of ${name}: use the handle of its own chart, or its id alone`,
  );
}

function tooManyRaces(id: string): Error {
  return new Error(`instance ${id} was changed by others ${MAX_LOST_RACES} times in a row`);
}
