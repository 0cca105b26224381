/** Tasks in memory: armed, claimed under a lease and a token, given back, consumed, or set aside when they are poison. */
import type {
  AnyCommit,
  ArmLease,
  ClaimRequest,
  ClaimedTask,
  PendingTask,
  QueueName,
  TaskAmendment,
  TaskListing,
  TaskRecord,
  TaskKind,
} from "../storage.ts";
import {
  amended,
  claimed,
  earliestFirst,
  pendingTask,
  released,
  retried,
  storedTask,
  taskRecord,
} from "../stored-task.ts";
import { engineTables, type StoredTask } from "../engine-tables.ts";
import { hasRoom, type LimitedTasks, nextAdmitted } from "../limits.ts";
import { unsettled } from "../unsettled.ts";
import { extended, nextSuspectAt, suspected, suspectsInTurn, withoutPlaceOf } from "../suspects.ts";
import { QUEUES, queueOf } from "../task-queues.ts";
import { compareTexts } from "../compare-texts.ts";
import { engineShape } from "./engine-shape.ts";
import { type Journal, MemoryTable } from "./table.ts";

/** A task and its place in the order in which tasks were armed. */
type SequencedTask = StoredTask & { readonly seq: number };

/** A task in the hands of its latest claimant. */
interface HeldTask {
  readonly id: string;
  readonly token: number;
}

export class TaskQueue {
  readonly #tasks: MemoryTable<SequencedTask>;
  /** Who has room in a key, and who waits for it. */
  readonly #limited: LimitedTasks<SequencedTask>;
  /** First keys in which something has changed since `settle`, each with the last key that a task has left. */
  readonly #changed = new Map<string, string>();
  #armed = 0;

  constructor(journal: Journal) {
    this.#tasks = new MemoryTable<SequencedTask>(
      { ...engineShape(engineTables.tasks), columns: { ...engineTables.tasks.columns, seq: "integer" } },
      journal,
    );
    const under = (key: string): SequencedTask[] =>
      this.#tasks.under("firstKey", key).filter(({ deadAt }) => deadAt === null);
    const admittedUnder = (key: string) => under(key).filter(({ admission }) => admission === "admitted");
    this.#limited = {
      admittedUnder: (key) => admittedUnder(key).length,
      admittedIn: (key, last) => admittedUnder(key).filter(({ lastKey }) => lastKey === last).length,
      heads: (key, after) => headsOf(under(key), after),
    };
  }

  /** False when the id is taken. */
  arm(task: TaskRecord, lease: ArmLease | undefined): boolean {
    const row = storedTask(task, lease);
    this.#touch(row);
    return this.#tasks.insert({ ...row, seq: (this.#armed += 1) });
  }

  /** Whether it is armed without its lease: it has limits, and is no message or behind another one. */
  mustWait(task: TaskRecord): boolean {
    const { firstKey } = storedTask(task, undefined);
    if (task.kind !== "message" || firstKey === null) return firstKey !== null;
    return this.#tasks.under("firstKey", firstKey).some(({ deadAt }) => deadAt === null);
  }

  #touch({ firstKey, lastKey }: StoredTask): void {
    if (firstKey !== null) this.#changed.set(firstKey, lastKey ?? "");
  }

  #put(task: SequencedTask): void {
    this.#touch(task);
    this.#tasks.put(task);
  }

  #remove(task: SequencedTask): void {
    this.#touch(task);
    this.#tasks.remove(task);
  }

  /** Behind each commit, and each claim: admits what has room now. */
  settle(): void {
    for (const [firstKey, after] of this.#changed) {
      let next = nextAdmitted(this.#limited, { firstKey, after });
      while (next !== undefined) {
        this.#tasks.put(next);
        next = nextAdmitted(this.#limited, { firstKey, after });
      }
    }
    this.#changed.clear();
  }

  disarm(instance: string, timer: string): void {
    for (const task of this.#tasks.under("instance", instance)) {
      if (isDisarmable(task) && task.name === timer) this.#remove(task);
    }
  }

  /** Disarms all that an ended instance has armed for itself. */
  end(instance: string): void {
    for (const task of this.#tasks.under("instance", instance)) {
      if (isDisarmable(task)) this.#remove(task);
    }
  }

  /** The tasks of an instance belong to this workflow from now on. */
  adopt(instance: string, workflow: string): void {
    for (const task of this.#tasks.under("instance", instance)) this.#tasks.put({ ...task, workflow });
  }

  /** Gives a task another name and payload, and takes it from its holder. */
  amend(change: TaskAmendment): void {
    const task = this.#tasks.get(change.task);
    if (task !== undefined) this.#put({ ...task, ...amended(task, change) });
  }

  /** The tasks of an instance by name, those of one name as they were armed. */
  of(instance: string, limit: number, except?: TaskKind): PendingTask[] {
    return this.#tasks
      .under("instance", instance)
      .filter(({ kind }) => kind !== except)
      .toSorted((a, b) => compareTexts(a.name, b.name) || a.seq - b.seq)
      .slice(0, limit)
      .map(pendingTask);
  }

  /** Removes what a commit consumes; false unless the token is that of the latest claim. */
  consume({ consumes, behind = [] }: Pick<AnyCommit, "consumes" | "behind">): boolean {
    if (consumes === undefined) return behind.length === 0;
    const task = this.#claimed(consumes.task, consumes.token);
    if (task === undefined) return false;
    this.#remove(task);
    return behind.every((id) => {
      const next = this.#tasks.get(id);
      if (next === undefined || next.firstKey !== task.firstKey || !isParkedMessage(next)) return false;
      this.#remove(next);
      return true;
    });
  }

  /** What an operator has ordered; false when a task cannot be retried or dropped. */
  command({ retries = [], drops = [] }: Pick<AnyCommit, "retries" | "drops">): boolean {
    for (const { task: id, dueAt } of retries) {
      const task = this.#tasks.get(id);
      const next = task === undefined ? null : retried(task, dueAt);
      if (task === undefined || next === null) return false;
      this.#put({ ...task, ...next });
    }
    for (const id of drops) {
      const task = this.#tasks.get(id);
      const isFailing = task?.kind === "message" && task.holder === null && task.failures > 0;
      if (task === undefined || (task.deadAt === null && !isFailing)) return false;
      this.#remove(task);
    }
    return true;
  }

  claim(request: ClaimRequest): ClaimedTask[] {
    this.#settleLimits(request);
    const due = this.#unsuspected(request);
    const suspect = this.#suspect(request);
    if (suspect === undefined) return due.map((task) => this.#lease(task, request));
    const first = this.#lease(suspect, request);
    const others = this.#unsuspected(withoutPlaceOf(suspect, request));
    return [first, ...others.map((task) => this.#lease(task, request))];
  }

  #lease(task: SequencedTask, request: ClaimRequest): ClaimedTask {
    const leased = claimed(task, request);
    this.#tasks.put(leased);
    const { token, crashes, failures } = leased;
    return { ...taskRecord(leased), token, crashes, failures };
  }

  /** What gets a place, once all suspects among it are in their line and the dead set aside: they took places of others. */
  #unsuspected(request: ClaimRequest): SequencedTask[] {
    for (;;) {
      const due = this.#due(request);
      const changed = due.map((task) => suspected(task, request)).filter((task) => task !== null);
      if (changed.length === 0) return due;
      for (const task of changed) this.#put(task);
      this.settle();
    }
  }

  /** Parks what asks for room, takes the room of what nobody claims, and admits what has room then. */
  #settleLimits(request: ClaimRequest): void {
    for (const task of [...this.#tasks.all()]) {
      const next = unsettled(task, request);
      if (next !== null) this.#put(next);
    }
    this.settle();
  }

  /** The suspect whose turn it is. */
  #suspect(request: ClaimRequest): SequencedTask | undefined {
    const suspects = [...this.#tasks.all()].filter(({ crashedAt }) => crashedAt !== null);
    const inTurn = suspectsInTurn(
      suspects.toSorted((a, b) => a.seq - b.seq),
      request,
    );
    return inTurn.find((task) => hasRoom(task, this.#limited));
  }

  /** Extends the lease; false when it is lost. */
  extend({ id, token }: HeldTask, beat: Pick<ClaimRequest, "holder" | "now" | "leaseMs">): boolean {
    const task = this.#claimed(id, token);
    const kept = task === undefined ? null : extended(task, beat);
    if (kept !== null) this.#put(kept);
    return kept !== null;
  }

  release({ id, token }: HeldTask, dueAt: number, error: string | undefined): boolean {
    const task = this.#claimed(id, token);
    const next = task === undefined ? null : released(task, dueAt, error);
    if (task === undefined || next === null) return false;
    this.#put({ ...task, ...next });
    this.settle();
    return true;
  }

  nextDue(workflows: readonly string[], queues: readonly QueueName[] = QUEUES): number | null {
    const all = [...this.#tasks.all()];
    const asked = all
      .filter((task) => task.deadAt === null && workflows.includes(task.workflow))
      .filter((task) => queues.includes(queueOf(taskRecord(task))));
    const suspectAt = nextSuspectAt(asked, all);
    const times = asked.filter(({ admission }) => admission !== "parked").map(({ visibleAt }) => visibleAt);
    return earliestOf([...times, ...(suspectAt === null ? [] : [suspectAt])]);
  }

  list(listing: TaskListing): PendingTask[] {
    const all = [...this.#tasks.all()];
    const alive = all.filter(({ deadAt }) => deadAt === null).toSorted(earliestFirst);
    // A message that waits behind others of its target is not due before they are done.
    const open = alive.filter((task) => task.admission !== "parked" || queueOf(taskRecord(task)) !== "steps");
    switch (listing.order) {
      case "dead":
        return all
          .filter(({ deadAt }) => deadAt !== null)
          .toSorted((a, b) => Number(b.deadAt) - Number(a.deadAt) || b.seq - a.seq)
          .slice(0, listing.limit)
          .map(pendingTask);
      case "failing":
        return alive
          .filter(({ failures, failingSince }) => failures >= listing.least && failingSince !== null)
          .toSorted((a, b) => Number(a.failingSince) - Number(b.failingSince) || a.seq - b.seq)
          .slice(0, listing.limit)
          .map(pendingTask);
      case "due":
        return open
          .filter((task) => task.workflow === listing.workflow && queueOf(taskRecord(task)) === "steps")
          .slice(0, listing.limit)
          .map(pendingTask);
      case "parked":
        return this.#tasks
          .under("firstKey", listing.key)
          .filter((task) => isParkedMessage(task) && task.lastKey === listing.key)
          .toSorted((a, b) => a.seq - b.seq)
          .slice(0, listing.limit)
          .map(pendingTask);
      case "workflow": {
        const first = new Map(open.toReversed().map((task) => [task.workflow, task]));
        return [...first.keys()]
          .toSorted(compareTexts)
          .flatMap((key) => first.get(key) ?? [])
          .map(pendingTask);
      }
    }
  }

  #claimed(id: string, token: number): SequencedTask | undefined {
    const task = this.#tasks.get(id);
    return task !== undefined && task.token > 0 && task.token === token ? task : undefined;
  }

  /** What gets a place, earliest first. */
  #due(request: ClaimRequest): SequencedTask[] {
    const { workflows, now } = request;
    const due = [...this.#tasks.all()]
      .filter((task) => task.deadAt === null && task.visibleAt <= now && workflows.includes(task.workflow))
      .filter(({ admission }) => admission === null || admission === "admitted")
      .toSorted(earliestFirst);
    return QUEUES.flatMap((queue) =>
      due.filter((task) => queueOf(taskRecord(task)) === queue).slice(0, request[queue]),
    ).toSorted(earliestFirst);
  }
}

/** Of each last key the first parked task, beginning behind this key. */
function headsOf(tasks: readonly SequencedTask[], after: string): SequencedTask[] {
  const heads = new Map<string, SequencedTask>();
  for (const task of tasks.toSorted((a, b) => a.seq - b.seq)) {
    const { lastKey, admission } = task;
    if (admission === "parked" && lastKey !== null && !heads.has(lastKey)) heads.set(lastKey, task);
  }
  const keys = [...heads.keys()].toSorted(compareTexts);
  const inTurn = [
    ...keys.filter((key) => compareTexts(key, after) > 0),
    ...keys.filter((key) => compareTexts(key, after) <= 0),
  ];
  return inTurn.flatMap((key) => heads.get(key) ?? []);
}

function isParkedMessage({ kind, admission, deadAt }: StoredTask): boolean {
  return kind === "message" && admission === "parked" && deadAt === null;
}

function isDisarmable({ kind }: StoredTask): boolean {
  return kind === "timer" || kind === "invocation";
}

function earliestOf(times: readonly number[]): number | null {
  return times.length === 0 ? null : times.reduce((a, b) => Math.min(a, b));
}
