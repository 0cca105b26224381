/** Load, decide, commit: the one way in which an instance changes. */
import type { EventObject } from "xstate";
import type {
  ClaimedTask,
  Commit,
  CommitResult,
  EngineStorage,
  TaskRecord,
  Write,
} from "../../storage/storage.ts";
import type { Clock } from "../runtime.ts";
import type { ChartSnapshot } from "./chart.ts";
import type { CommitQueue } from "./commit-queue.ts";
import type { StepSurroundings, Voiced } from "./consequences.ts";
import { planStart, planStep } from "./plan-step.ts";
import type { StepCommit } from "./plan-step.ts";
import { createRecentInstances } from "./recent-instances.ts";
import type { KnownInstance } from "./recent-instances.ts";
import { snapshotFromText } from "./snapshot-text.ts";
import { createTurns } from "./turns.ts";
import type { AnyWorkflow, StartRequest } from "./workflow.ts";

/** What goes into the same commit as a step besides the step itself. */
export type Companions<W> = Pick<Commit<W>, "consumes" | "writes"> & {
  readonly starts?: readonly StartRequest[];
  readonly arms?: readonly TaskRecord[];
};

/** How sending an event to an instance ended. */
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

/** A commit that is durable, as listeners are told of it. */
export interface CommittedStep<W> {
  readonly commit: Commit<W>;
  /** What the charts of its steps have logged and emitted, in order. Said once, and lost with the process. */
  readonly voiced: readonly Voiced[];
}

/** Places kept for tasks while the commit that arms them is on its way. */
export interface Places {
  readonly count: number;
  /** The commit is durable: the ending task has left its place; starts the leased tasks, no more than `count`. */
  fill(tasks: readonly ClaimedTask[]): void;
  /** The commit was refused. */
  giveUp(): void;
}

/** The hands of this process: tasks that become due in a commit can be leased to them in that very commit. */
export interface Hands {
  /** Leases are taken in the name of this holder. */
  readonly holder: string;
  readonly leaseMs: number;
  /** Keeps places for as many due tasks as this process takes at once; the task `ending` leaves its own to one. */
  reserve(wanted: number, ending: string | undefined): Places;
  /** Something became due at this time that nobody holds. */
  dueAt(time: number): void;
}

export interface Steps<W> {
  /** Starts instances together with writes and the end of a task, in one commit. */
  commit(companions: Companions<W>): Promise<CommitResult>;
  /** Hands an event to an instance. Of racing senders one wins each version; the others decide anew. */
  send(id: string, event: EventObject, companions?: Companions<W>): Promise<SendResult>;
  /** Throws `UnknownWorkflow` when the task's instance was written by a chart that this process does not have. */
  checkKnown(task: ClaimedTask): Promise<void>;
}

// Senders of one process take turns, so a lost race means that another process got through, and may again for as long
// as it has more to send. This many in a row is no race but a fault.
const MOST_LOST_RACES = 1_000;

/** An instance was written by a chart that this process does not have. Nothing of it is touched. */
export class UnknownWorkflow extends Error {
  override readonly name = "UnknownWorkflow";
}

export function createSteps<W>({
  storage,
  queue,
  workflows,
  clock,
  hands,
  around,
  onCommitted,
}: {
  readonly storage: EngineStorage;
  readonly queue: CommitQueue<W>;
  readonly workflows: ReadonlyMap<string, AnyWorkflow>;
  readonly clock: Clock;
  readonly hands: Hands;
  readonly around: StepSurroundings;
  readonly onCommitted: (committed: CommittedStep<W>) => void;
}): Steps<W> {
  const inTurn = createTurns();
  const recent = createRecentInstances();
  const workflowOf = (instance: KnownInstance): AnyWorkflow => {
    const workflow = workflows.get(instance.workflow);
    if (workflow === undefined || workflow.hash !== instance.hash) {
      throw new UnknownWorkflow(
        workflow === undefined
          ? `instance ${instance.id} was written by ${instance.workflow}, which is not registered`
          : `instance ${instance.id} was written by another chart of ${instance.workflow}: a changed chart needs a new version`,
      );
    }
    return workflow;
  };

  const commitParts = async (
    step: readonly StepCommit[],
    { consumes, writes = [], starts = [], arms: companionArms = [] }: Companions<W>,
    at: number,
  ): Promise<CommitResult> => {
    const begun = starts.map(({ workflow, id, input }) => planStart(workflow, { id, input }, at, around));
    const parts = begun.length === 0 ? step : firstThenChildren(step, begun);
    const follows = together(parts);
    const { disarms, ends, watches, unwatches } = follows;
    const next = step[0]?.step ?? null;
    const arms = [...companionArms, ...follows.arms];
    const due = arms.filter(({ dueAt, lane }) => dueAt <= at && lane === null);
    const places = hands.reserve(due.length, consumes?.task);
    const taken = due.slice(0, places.count);
    const lease = { holder: hands.holder, until: at + hands.leaseMs };
    const commit: Commit<W> = {
      starts: parts.flatMap(({ start }) => start ?? []),
      arms: arms.map((task) => (taken.includes(task) ? { task, lease } : { task })),
      disarms,
      watches,
      unwatches,
      history: parts.map(({ history }) => history),
      // The caller's writes come first, so that a refusal's index counts in the caller's own list.
      writes: [...writes, ...(follows.writes as readonly Write<W>[])],
      ...(ends.length === 0 ? {} : { ends }),
      ...(next === null ? {} : { step: next }),
      ...(consumes === undefined ? {} : { consumes }),
    };
    let result: CommitResult;
    try {
      result = await queue.commit(commit);
    } catch (error) {
      places.giveUp();
      throw error;
    }
    if (!result.ok) {
      places.giveUp();
      return result;
    }
    for (const part of parts) remember(part);
    places.fill(taken.map(asFirstClaim));
    for (const task of arms) if (!taken.includes(task)) hands.dueAt(task.dueAt);
    onCommitted({ commit, voiced: follows.voiced });
    return result;
  };

  const remember = ({ step, start }: StepCommit): void => {
    if (step !== null) recent.keep({ version: step.expectedVersion + 1, ...step });
    if (start !== null) recent.keep({ version: 1, ...start });
  };

  return {
    commit: (companions) => commitParts([], companions, clock.now()),

    async checkKnown(task) {
      if (recent.has(task.instance)) return;
      const instance = await storage.load(task.instance);
      if (instance === null) return;
      workflowOf(instance);
      recent.keep(instance);
    },
    send: (id, event, companions = {}) => inTurn(id, () => sendNow(id, event, companions)),
  };

  async function sendNow(id: string, event: EventObject, companions: Companions<W>): Promise<SendResult> {
    for (let lost = 0; lost < MOST_LOST_RACES; lost++) {
      const known = recent.take(id);
      const instance = known ?? (await storage.load(id));
      if (instance === null) return { kind: "absent" };
      const snapshot = snapshotFromText(instance.snapshot);
      if (instance.status === "done") return { kind: "ended", snapshot };
      const at = clock.now();
      const step = planStep(
        workflowOf(instance),
        { id, version: instance.version, snapshot },
        event,
        at,
        around,
      );
      if (step === null) {
        // What is known may be out of date, and then the event may yet have something to say.
        if (known !== undefined) continue;
        return { kind: "unchanged", snapshot };
      }
      const result = await commitParts(step, companions, at);
      if (result.ok) return { kind: "stepped", snapshot: (step[0] as StepCommit).after };
      if (result.conflict !== "version") return { kind: "refused", result };
    }
    throw new Error(`instance ${id} was changed by others ${MOST_LOST_RACES} times in a row`);
  }
}

/** The caller's starts come before those of children, so that a refusal's index counts in the caller's own list. */
function firstThenChildren(
  step: readonly StepCommit[],
  begun: readonly (readonly StepCommit[])[],
): readonly StepCommit[] {
  return [
    ...step.slice(0, 1),
    ...begun.flatMap((parts) => parts.slice(0, 1)),
    ...step.slice(1),
    ...begun.flatMap((parts) => parts.slice(1)),
  ];
}

/** What follows from all parts of a commit. Nearly every commit has a single part, whose lists are handed on as they are. */
function together(parts: readonly StepCommit[]): StepCommit["follows"] {
  const [first] = parts;
  if (first !== undefined && parts.length === 1) return first.follows;
  return {
    arms: parts.flatMap(({ follows }) => follows.arms),
    disarms: parts.flatMap(({ follows }) => follows.disarms),
    ends: parts.flatMap(({ follows }) => follows.ends),
    children: [],
    voiced: parts.flatMap(({ follows }) => follows.voiced),
    watches: parts.flatMap(({ follows }) => follows.watches),
    unwatches: parts.flatMap(({ follows }) => follows.unwatches),
    writes: parts.flatMap(({ follows }) => follows.writes),
  };
}

/** A spread object is quick to make when its fields come last; adding to one takes V8 microseconds. */
function asFirstClaim(task: TaskRecord): ClaimedTask {
  return { token: 1, crashes: 0, failures: 0, ...task };
}
