/** Commits planned steps with all their consequences in one commit, and tells the rest of this process about the commit. */
import type {
  ClaimedTask,
  Commit,
  CommitResult,
  EngineStorage,
  HistoryRecord,
  TaskRecord,
  Write,
} from "../../../storage/storage.ts";
import type { Writable } from "../../workflow/writable.ts";
import { isTurnOver, nextTurn } from "../../core/runtime.ts";
import type { CommitQueue } from "./commit-queue.ts";
import { together, type StepResult, type VoicedAction } from "../../workflow/step-result.ts";
import { type BeginningInstance, type CommitLook, type DoneParts, isRefusedBehind } from "./commit-look.ts";
import type { PlannedStep, StepPlan } from "../../workflow/plan-step.ts";
import type { MessageTarget } from "../../workflow/messages.ts";
import type { InstanceCache } from "./instance-cache.ts";
import type { WorkflowRegistry } from "../../workflow/workflow-registry.ts";
import { commitCarrier, type Carried } from "../../workflow/carried.ts";
import { causeText, type CommitCause } from "../../workflow/step-cause.ts";
import type { TakenIdCache } from "./taken-id-cache.ts";
import type { LeasingWorker } from "./worker.ts";
import type { StartRequest } from "../../workflow/effect-run.ts";
import type { AnyWorkflow } from "../../workflow/workflow.ts";
import type { KnownInstance } from "../../workflow/step-context.ts";

/** Further parts of a step's commit, besides the step itself. */
export type CommitAdditions<W> = Pick<Commit<W>, "consumes" | "writes"> & {
  readonly starts?: readonly StartRequest[];
  readonly arms?: readonly TaskRecord[];
  /** The instance must still be at this version: after another step the event is refused. */
  readonly expectedVersion?: number;
};

/** `CommitAdditions` with fields for the engine's own use. */
export type StepCommitAdditions<W> = CommitAdditions<W> &
  Pick<Commit<W>, "retries"> & {
    readonly carried?: readonly Carried[];
    /** The workflow that the caller named: an instance of another workflow is refused. */
    readonly workflow?: AnyWorkflow;
    /** The cause of the steps of the commit; absent when a caller caused them. */
    readonly cause?: CommitCause;
    /** The life of the target instance; absent when any instance with this id may take the event. */
    readonly meant?: MessageTarget;
    /** True for a message: others may wait behind it. */
    readonly isMessage?: true;
    /** True for a timer: messages of its moment go first. */
    readonly isTimer?: true;
    /** Told the step of the event before its commit, and again where another came first. */
    readonly onTried?: (step: HistoryRecord, life: string) => void;
  };

/** A commit that is durable, as listeners get it. */
export interface CommittedStep<W> {
  readonly commit: Commit<W>;
  /** Log lines and emitted events of the steps, in order. Told once; lost when the process dies before. */
  readonly voiced: readonly VoicedAction[];
}

type CommitCompanions<W> = StepCommitAdditions<W> &
  Pick<Commit<W>, "behind"> & {
    /** Whether timers of new instances that are due at once fire in this commit. Default true. */
    readonly firesTimers?: boolean;
  };

export interface StepCommitWriterParts<W> {
  readonly storage: Pick<EngineStorage, "load">;
  readonly queue: CommitQueue<W>;
  readonly workflows: WorkflowRegistry;
  readonly hands: LeasingWorker;
  readonly hooks: { readonly look: CommitLook };
  readonly takenIds: TakenIdCache;
  readonly recent: InstanceCache;
  /** Whether a caller waits for a state of this instance, or `inspect` is set: each of its steps gets a commit of its own. */
  readonly isFollowed: (instance: string) => boolean;
  /** Called after each durable commit, in order. */
  readonly onCommitted: (committed: CommittedStep<W>) => void;
}

/** The most looks before a commit: a commit of another process may change what was read after each of them. */
const MAX_LOOKS = 3;

export class StepCommitWriter<W> {
  readonly #around: StepCommitWriterParts<W>;

  constructor(around: StepCommitWriterParts<W>) {
    this.#around = around;
  }

  /** Commits a step, or starts alone. The conflict `step` asks for a new decision: another came first, or ids of children are taken. */
  async commit(
    step: readonly PlannedStep[],
    companions: CommitCompanions<W>,
    plan: StepPlan,
  ): Promise<CommitResult> {
    // A step of thousands of children took its time, and to store it takes as long again.
    if (isTurnOver()) await nextTurn();
    const { starts = [], writes = [], carried = [], firesTimers = true } = companions;
    const begun = this.#begun(
      starts.map((start) => ({ start, firesTimers })),
      plan,
    );
    const parts = begun.length === 0 ? step : firstThenChildren(step, begun);
    const own = {
      starts: parts.filter(({ start }) => start !== null).length,
      writes: writes.length,
      carried: carried.length,
    };
    for (let look = 0; look < MAX_LOOKS; look++) {
      const done = await this.#around.hooks.look(parts, writes as readonly Write<never>[]);
      if (done === null) break;
      const along = this.#beginsWith(done, plan);
      if (along === null) break;
      const result = await this.#commitOnce([...done.parts, ...along], companions, plan);
      if (!isRefusedBehind(result, own)) return result;
    }
    const result = await this.#commitOnce(parts, companions, plan);
    const hasFired = begun.some(([first]) => first !== undefined && first.earlier.length > 0);
    // A refusal of a timer's rows does not refuse the start of its instance.
    if (!hasFired || !isRefusedBehind(result, own)) return result;
    return this.commit(step, { ...companions, firesTimers: false }, plan);
  }

  /** The commit of these starts and companions, to be made elsewhere: nothing here is reserved for it, leased or remembered. */
  planned({ starts = [], arms = [], ...beside }: CommitAdditions<W>, plan: StepPlan): Commit<W> {
    const parts = firstThenChildren(
      [],
      this.#begun(
        starts.map((start) => ({ start })),
        plan,
      ),
    );
    const follows = together(parts.map((part) => part.follows));
    const armed = dueTimersLast([...arms, ...follows.arms], plan.at).map((task) => ({ task }));
    return commitOf(parts, { ...follows, arms: armed }, beside);
  }

  /** A commit in a transaction beside this writer is durable: what it has armed is looked for. */
  committed(commit: Commit<W>, at: number): void {
    this.#around.hands.dueAt(at);
    this.#around.onCommitted({ commit, voiced: [] });
  }

  /** A timer fires in the commit that would arm it where this process would take it in hand at once. */
  #begun(begins: readonly BeginningInstance[], plan: StepPlan): PlannedStep[][] {
    const { workflows, hands, isFollowed } = this.#around;
    return begins.map(({ start, cause, firesTimers = false }) => {
      const { id, input } = start;
      const workflow = workflows.ofHandle(start.workflow, id);
      // Bodies of the chart may be lent the context of the step that asks for them.
      const firesTimer =
        firesTimers && workflow.bodies.size === 0 && hands.takes(workflow.key) && !isFollowed(id);
      return plan.start({ workflow, id, input, firesTimer, ...(cause !== undefined && { cause }) });
    });
  }

  /** Null where it cannot begin: the step does not depend on it, and the task of the effect will meet the same fault. */
  #beginsWith({ begins }: DoneParts, plan: StepPlan): PlannedStep[] | null {
    try {
      return this.#begun(begins, plan).flat();
    } catch {
      return null;
    }
  }

  async #commitOnce(
    parts: readonly PlannedStep[],
    companions: CommitCompanions<W>,
    { at }: StepPlan,
  ): Promise<CommitResult> {
    const { storage, queue, hands, takenIds, recent, onCommitted } = this.#around;
    const { consumes, arms: companionArms = [] } = companions;
    const follows = together(parts.map((part) => part.follows));
    const arms = dueTimersLast([...companionArms, ...follows.arms], at);
    const due = arms.filter((task) => task.dueAt <= at);
    const reserved = hands.reserve(due, consumes?.task);
    const { taken } = reserved;
    const lease = hands.lease();
    const armed = arms.map((task) => (taken.includes(task) ? { task, lease } : { task }));
    const commit = commitOf(parts, { ...follows, arms: armed }, companions);
    const result = await queue.commit(commit).catch((error: unknown) => {
      hands.giveUp(reserved);
      throw error;
    });
    if (!result.ok) {
      hands.giveUp(reserved);
      const isTaken = await takenIds.found(storage, parts, result);
      return isTaken ? { ok: false, conflict: "step" } : result;
    }
    takenIds.forget(parts);
    for (const part of parts) {
      const next = part.step ?? part.start;
      if (next !== null) recent.keep(knownInstance(next, part));
    }
    const { parked = [], admits = false } = result;
    if (admits || commit.retries !== undefined) hands.dueAt(at);
    const leased = taken.filter(({ id }) => !parked.includes(id));
    hands.fill(reserved, leased.map(asFirstClaim));
    for (const task of arms) {
      // A parked message waits for the one before it.
      const isBehind = task.kind === "message" && parked.includes(task.id);
      if (!isBehind && !leased.includes(task)) hands.dueAt(task.dueAt);
    }
    onCommitted({ commit: withLastRow(commit, parts, companions.cause), voiced: follows.voiced });
    return result;
  }
}

function commitOf<W>(
  parts: readonly PlannedStep[],
  follows: Omit<StepResult, "arms"> & Required<Pick<Commit<W>, "arms">>,
  { behind = [], retries = [], consumes, writes = [], carried = [], cause }: CommitCompanions<W>,
): Commit<W> {
  const { arms, disarms, ends } = follows;
  const next = parts[0]?.step ?? null;
  const ofHost = [...carried, ...follows.carried];
  const forgets = parts.flatMap(({ forgets: rows }) => rows ?? []);
  const moves = parts.flatMap(({ moves: each }) => each ?? []);
  const commit: Writable<Commit<W>> = {
    arms,
    starts: parts.flatMap(({ start }) => start ?? []),
    disarms,
    history: rowsOf(
      parts.filter(({ step }) => step?.isLast !== true),
      cause,
    ),
    // The caller's writes come first, so that a refusal's index counts in the caller's own list.
    writes: [
      ...writes,
      ...(follows.writes as readonly Write<W>[]),
      ...(follows.added as readonly Write<W>[]),
    ] as readonly Write<W>[],
  };
  // Only first steps and arrivals in another version move tasks.
  if (moves.length > 0) commit.adopts = moves.flatMap(({ adopts = [] }) => adopts);
  const amends = moves.flatMap((each) => each.amends ?? []);
  if (amends.length > 0) commit.amends = amends;
  if (ends.length > 0) commit.ends = ends;
  if (forgets.length > 0) commit.forgets = forgets;
  if (ofHost.length > 0) commitCarrier.put(commit, ofHost);
  if (next !== null) commit.step = next;
  if (consumes !== undefined) commit.consumes = consumes;
  if (behind.length > 0) commit.behind = behind;
  if (retries.length > 0) commit.retries = retries;
  return commit;
}

/** As listeners hear of it: with the last step of an instance that has gone, of which no row is stored. */
function withLastRow<W>(
  commit: Commit<W>,
  parts: readonly PlannedStep[],
  cause: CommitCause | undefined,
): Commit<W> {
  return commit.step?.isLast === true ? { ...commit, history: rowsOf(parts, cause) } : commit;
}

const rowsOf = (parts: readonly PlannedStep[], cause: CommitCause | undefined): HistoryRecord[] =>
  parts.flatMap(({ earlier, history }) => [...earlier, history].map((row) => caused(row, cause)));

/** XState's timers never fire before all is taken that has been sent by then. */
function dueTimersLast(arms: readonly TaskRecord[], at: number): readonly TaskRecord[] {
  const isDueTimer = ({ kind, dueAt }: TaskRecord): boolean => kind === "timer" && dueAt <= at;
  if (!arms.some(isDueTimer)) return arms;
  return [...arms.filter((task) => !isDueTimer(task)), ...arms.filter(isDueTimer)];
}

/** The caller's starts come before those of children, so that a refusal's index counts in the caller's own list. */
function firstThenChildren(
  step: readonly PlannedStep[],
  begun: readonly (readonly PlannedStep[])[],
): readonly PlannedStep[] {
  return [
    ...step.slice(0, 1),
    ...begun.flatMap((parts) => parts.slice(0, 1)),
    ...step.slice(1),
    ...begun.flatMap((parts) => parts.slice(1)),
  ];
}

/** The step of a child, which begins in the commit of its parent's step, has its cause already. */
function caused(row: HistoryRecord, cause: CommitCause | undefined): HistoryRecord {
  if (cause === undefined || row.cause !== null) return row;
  const { instance, version, stamp, at, event, value } = row;
  return { instance, version, stamp, at, event, value, cause: causeText(cause, instance, at) };
}

/** The instance as its next step finds it. */
function knownInstance(
  { id, workflow, hash, stamp, status, snapshot }: Omit<KnownInstance, "life" | "version">,
  { life, history: { version } }: PlannedStep,
): KnownInstance {
  return { id, workflow, hash, version, stamp, life, status, snapshot };
}

/** A task in the hands of the process that has armed it: written out, as rows are (storage/stored-task.ts). */
function asFirstClaim(task: TaskRecord): ClaimedTask {
  const { id, instance, workflow, kind, name, payload, dueAt, limits, priority } = task;
  const claim = {
    id,
    instance,
    workflow,
    kind,
    name,
    payload,
    dueAt,
    limits,
    token: 1,
    crashes: 0,
    failures: 0,
  };
  return priority === undefined ? claim : { ...claim, priority };
}
