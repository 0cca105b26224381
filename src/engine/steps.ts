/** Load, decide, commit: the one way in which an instance changes. */
import type { EventObject } from "xstate";
import type {
  ClaimedTask,
  Commit,
  CommitResult,
  EngineStorage,
  InstanceRecord,
  TaskRecord,
  Write,
} from "../../storage/storage.ts";
import type { Clock } from "../runtime.ts";
import type { ChartSnapshot } from "./chart.ts";
import type { CommitQueue } from "./commit-queue.ts";
import { planStart, planStep } from "./plan-step.ts";
import type { StepCommit, StepSurroundings } from "./plan-step.ts";
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
}

/** The hands of this process: tasks that become due in a commit can be leased to them in that very commit. */
export interface Hands {
  /** How many of these due tasks this process takes at once; keeps as many places free. */
  reserve(wanted: number): number;
  /** Leases are taken in the name of this holder. */
  readonly holder: string;
  readonly leaseMs: number;
  /** The commit is durable: starts the leased tasks. */
  begin(tasks: readonly ClaimedTask[]): void;
  /** The commit was refused: frees the reserved places. */
  forgo(places: number): void;
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

// Senders of one process take turns, so a lost race means that another process got through: this many in a row is no
// race but a fault.
const MOST_LOST_RACES = 100;

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
  readonly storage: EngineStorage<W>;
  readonly queue: CommitQueue<W>;
  readonly workflows: ReadonlyMap<string, AnyWorkflow>;
  readonly clock: Clock;
  readonly hands: Hands;
  readonly around: StepSurroundings;
  readonly onCommitted: (committed: CommittedStep<W>) => void;
}): Steps<W> {
  const inTurn = createTurns();
  /** Tasks of our own commits: their charts are at hand, and looking again would cost a read for each. */
  const armedHere = new WeakSet<ClaimedTask>();
  const workflowOf = (instance: InstanceRecord): AnyWorkflow => {
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
    step: StepCommit | null,
    { consumes, writes = [], starts = [], arms: companionArms = [] }: Companions<W>,
    at: number,
  ): Promise<CommitResult> => {
    const begun = starts.map(({ workflow, id, input }) => planStart(workflow, { id, input }, at, around));
    const parts = step === null ? begun : [step, ...begun];
    const all = <T>(pick: (part: StepCommit) => readonly T[] | undefined): readonly T[] => {
      const [first] = parts;
      // Nearly every commit has one part, whose lists can be handed on as they are.
      if (parts.length === 1 && first !== undefined) return pick(first) ?? [];
      return parts.flatMap((part) => pick(part) ?? []);
    };
    const arms = [...companionArms, ...all(({ arms: armed }) => armed?.map(({ task }) => task))];
    const due = arms.filter(({ dueAt, lane }) => dueAt <= at && lane === null);
    const taken = due.slice(0, hands.reserve(due.length));
    const lease = { holder: hands.holder, until: at + hands.leaseMs };
    const commit: Commit<W> = {
      ...(step?.step === undefined ? {} : { step: step.step }),
      ...(consumes === undefined ? {} : { consumes }),
      starts: all((part) => part.starts),
      arms: arms.map((task) => (taken.includes(task) ? { task, lease } : { task })),
      disarms: all((part) => part.disarms),
      watches: all((part) => part.watches),
      unwatches: all((part) => part.unwatches),
      history: all((part) => part.history),
      // The caller's writes come first, so that a refusal's index counts in the caller's own list.
      writes: [...writes, ...(all((part) => part.writes) as readonly Write<W>[])],
    };
    let result: CommitResult;
    try {
      result = await queue.commit(commit);
    } catch (error) {
      hands.forgo(taken.length);
      throw error;
    }
    if (!result.ok) {
      hands.forgo(taken.length);
      return result;
    }
    const claimed = taken.map(asFirstClaim);
    for (const task of claimed) armedHere.add(task);
    hands.begin(claimed);
    for (const task of arms) if (!taken.includes(task)) hands.dueAt(task.dueAt);
    onCommitted({ commit });
    return result;
  };

  return {
    commit: (companions) => commitParts(null, companions, clock.now()),

    async checkKnown(task) {
      if (armedHere.has(task)) return;
      const instance = await storage.load(task.instance);
      if (instance !== null) workflowOf(instance);
    },
    send: (id, event, companions = {}) => inTurn(id, () => sendNow(id, event, companions)),
  };

  async function sendNow(id: string, event: EventObject, companions: Companions<W>): Promise<SendResult> {
    for (let lost = 0; lost < MOST_LOST_RACES; lost++) {
      const instance = await storage.load(id);
      if (instance === null) return { kind: "absent" };
      const snapshot = JSON.parse(instance.snapshot) as ChartSnapshot;
      if (instance.status === "done") return { kind: "ended", snapshot };
      const at = clock.now();
      const step = planStep(
        workflowOf(instance),
        { id, version: instance.version, snapshot },
        event,
        at,
        around,
      );
      if (step === null) return { kind: "unchanged", snapshot };
      const result = await commitParts(step, companions, at);
      if (result.ok) return { kind: "stepped", snapshot: step.after };
      if (result.conflict !== "version") return { kind: "refused", result };
    }
    throw new Error(`instance ${id} was changed by others ${MOST_LOST_RACES} times in a row`);
  }
}

function asFirstClaim(task: TaskRecord): ClaimedTask {
  return { ...task, token: 1, crashes: 0, failures: 0 };
}
