/** Tasks in memory: armed, claimed under a lease and a token, given back, consumed, or set aside when they are poison. */
import type {
  AnyCommit,
  ArmLease,
  ClaimRequest,
  ClaimedTask,
  NarrowedLane,
  PendingTask,
  QueueName,
  TaskAmendment,
  TaskRecord,
  TaskKind,
  TroubledTask,
} from "../storage.ts";
import {
  amended,
  checkedNarrow,
  claimed,
  earliestFirst,
  pendingTask,
  released,
  retried,
  storedTask,
  taskRecord,
  type TaskClaim,
  troubledTask,
} from "../stored-task.ts";
import { engineTables, type StoredTask } from "../engine-tables.ts";
import { FreePlaces } from "../share-places.ts";
import { extended, nextSuspectAt, suspected, suspectsInTurn, withoutPlaceOf } from "../suspects.ts";
import { QUEUES, queueOf } from "../task-queues.ts";
import { compareTexts } from "../compare-texts.ts";
import { engineShape } from "./engine-shape.ts";
import { type Journal, MemoryTable } from "./table.ts";

interface LaneCap {
  readonly lane: string;
  readonly cap: number;
}

interface OpenLane extends LaneCap {
  readonly laneGroup: string | null;
}

/** A task and its place in the order in which tasks were armed. */
type SequencedTask = StoredTask & { readonly seq: number };

/** A task in the hands of its latest claimant. */
interface HeldTask {
  readonly id: string;
  readonly token: number;
}

export class TaskQueue {
  readonly #tasks: MemoryTable<SequencedTask>;
  /** The cap each lane was last armed with. */
  readonly #lanes: MemoryTable<OpenLane>;

  /** Lanes that give fewer. */
  readonly #narrowed: MemoryTable<LaneCap>;

  #armed = 0;

  constructor(journal: Journal) {
    this.#tasks = new MemoryTable<SequencedTask>(
      { ...engineShape(engineTables.tasks), columns: { ...engineTables.tasks.columns, seq: "integer" } },
      journal,
    );
    this.#lanes = new MemoryTable<OpenLane>(
      { columns: { lane: "text", cap: "integer", laneGroup: "text?" }, key: ["lane"] },
      journal,
    );
    this.#narrowed = new MemoryTable<LaneCap>(
      { columns: { lane: "text", cap: "integer" }, key: ["lane"] },
      journal,
    );
  }

  narrow(narrowed: NarrowedLane): void {
    const { lane, cap } = checkedNarrow(narrowed);
    const before = this.#narrowed.get(lane);
    if (cap !== null) this.#narrowed.put({ lane, cap });
    else if (before !== undefined) this.#narrowed.remove(before);
  }

  /** False when the id is taken. */
  arm(task: TaskRecord, lease: ArmLease | undefined): boolean {
    const row = storedTask(task, lease);
    this.#open(row);
    return this.#tasks.insert({ ...row, seq: (this.#armed += 1) });
  }

  /** The lane of this task has its cap and group from now on, and what waits in the lane has the group. */
  #open({ lane, cap, laneGroup }: StoredTask): void {
    if (lane === null || cap === null) return;
    const before = this.#lanes.get(lane);
    this.#lanes.put({ lane, cap, laneGroup });
    if (before === undefined || before.laneGroup === laneGroup) return;
    for (const task of this.#tasks.all()) {
      if (task.lane === lane && task.deadAt === null) this.#tasks.put({ ...task, laneGroup });
    }
  }

  disarm(instance: string, timer: string): void {
    for (const task of this.#tasks.under("instance", instance)) {
      if (isDisarmable(task) && task.name === timer) this.#tasks.remove(task);
    }
  }

  /** Disarms all that an ended instance has armed for itself. */
  end(instance: string): void {
    for (const task of this.#tasks.under("instance", instance)) {
      if (isDisarmable(task)) this.#tasks.remove(task);
    }
  }

  /** The tasks of an instance belong to this workflow from now on. */
  adopt(instance: string, workflow: string): void {
    for (const task of this.#tasks.under("instance", instance)) this.#tasks.put({ ...task, workflow });
  }

  /** Gives a task another name and payload, and takes it from its holder. */
  amend(change: TaskAmendment): void {
    const task = this.#tasks.get(change.task);
    if (task !== undefined) this.#tasks.put({ ...task, ...amended(task, change) });
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

  /** Removes the task; false unless the token is that of its latest claim. */
  consume(id: string, token: number): boolean {
    const task = this.#claimed(id, token);
    if (task !== undefined) this.#tasks.remove(task);
    return task !== undefined;
  }

  /** What an operator has ordered; false when a task cannot be retried or dropped. */
  command({ retries = [], drops = [] }: Pick<AnyCommit, "retries" | "drops">): boolean {
    for (const { task: id, dueAt } of retries) {
      const task = this.#tasks.get(id);
      const next = task === undefined ? null : retried(task, dueAt);
      if (task === undefined || next === null) return false;
      this.#tasks.put({ ...task, ...next });
      // As when it was armed: its lane has the cap that it came with.
      this.#open(task);
    }
    for (const id of drops) {
      const task = this.#tasks.get(id);
      if (task === undefined || task.deadAt === null) return false;
      this.#tasks.remove(task);
    }
    return true;
  }

  claim(request: ClaimRequest): ClaimedTask[] {
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
      for (const task of changed) this.#tasks.put(task);
    }
  }

  /** The suspect whose turn it is. */
  #suspect(request: ClaimRequest): SequencedTask | undefined {
    const slots = this.#freeSlots(request.now);
    const suspects = [...this.#tasks.all()].filter(({ crashedAt }) => crashedAt !== null);
    const inTurn = suspectsInTurn(
      suspects.toSorted((a, b) => a.seq - b.seq),
      request,
    );
    return inTurn.find(({ lane }) => lane === null || (slots.get(lane) ?? 0) > 0);
  }

  /** Extends the lease; false when it is lost. */
  extend({ id, token }: HeldTask, beat: TaskClaim): boolean {
    const task = this.#claimed(id, token);
    const kept = task === undefined ? null : extended(task, beat);
    if (kept !== null) this.#tasks.put(kept);
    return kept !== null;
  }

  release({ id, token }: HeldTask, dueAt: number, error: string | undefined): boolean {
    const task = this.#claimed(id, token);
    const next = task === undefined ? null : released(task, dueAt, error);
    if (task === undefined || next === null) return false;
    this.#tasks.put({ ...task, ...next });
    return true;
  }

  nextDue(
    workflows: readonly string[],
    queues: readonly QueueName[] = QUEUES,
    full: readonly string[] = [],
  ): number | null {
    const all = [...this.#tasks.all()];
    const asked = all
      .filter((task) => task.deadAt === null && workflows.includes(task.workflow))
      .filter((task) => queues.includes(queueOf(taskRecord(task))));
    const suspectAt = nextSuspectAt(asked, all);
    const isOpen = ({ laneGroup }: StoredTask): boolean => laneGroup === null || !full.includes(laneGroup);
    return earliestOf([...this.#times(asked.filter(isOpen)), ...(suspectAt === null ? [] : [suspectAt])]);
  }

  /** When each of these can be claimed, going by its lane. */
  #times(tasks: readonly StoredTask[]): number[] {
    const slotAt = this.#nextSlots();
    return tasks.map(({ visibleAt, lane }) => Math.max(visibleAt, slotAt.get(lane) ?? -Infinity));
  }

  failingTasks(least: number, limit: number): TroubledTask[] {
    return [...this.#tasks.all()]
      .filter((task) => task.deadAt === null && task.failures >= least && task.failingSince !== null)
      .toSorted((a, b) => Number(a.failingSince) - Number(b.failingSince) || a.seq - b.seq)
      .slice(0, limit)
      .map(troubledTask);
  }

  upcomingSteps(workflow: string, limit: number): PendingTask[] {
    return [...this.#tasks.all()]
      .filter((task) => task.workflow === workflow)
      .filter(
        ({ kind, lane, deadAt }) =>
          (kind === "timer" || kind === "message") && lane === null && deadAt === null,
      )
      .toSorted((a, b) => a.visibleAt - b.visibleAt || a.seq - b.seq)
      .slice(0, limit)
      .map(pendingTask);
  }

  earliestTasks(): { workflow: string; dueAt: number }[] {
    const alive = [...this.#tasks.all()].filter(({ deadAt }) => deadAt === null);
    const workflows = new Set(alive.map(({ workflow }) => workflow));
    return [...workflows].toSorted().flatMap((workflow) => {
      const dueAt = earliestOf(this.#times(alive.filter((task) => task.workflow === workflow)));
      return dueAt === null ? [] : [{ workflow, dueAt }];
    });
  }

  deadLetters(limit: number): TroubledTask[] {
    return [...this.#tasks.all()]
      .filter((task) => task.deadAt !== null)
      .toSorted((a, b) => Number(b.deadAt) - Number(a.deadAt) || b.seq - a.seq)
      .slice(0, limit)
      .map(troubledTask);
  }

  #claimed(id: string, token: number): SequencedTask | undefined {
    const task = this.#tasks.get(id);
    return task !== undefined && task.token > 0 && task.token === token ? task : undefined;
  }

  /** What gets a place, earliest first. */
  #due(request: ClaimRequest): SequencedTask[] {
    const { workflows, now, steps, free } = request;
    const due = [...this.#tasks.all()]
      .filter((task) => task.deadAt === null && task.visibleAt <= now && workflows.includes(task.workflow))
      .toSorted(earliestFirst);
    const slots = this.#freeSlots(now);
    const inSlot = ({ lane }: SequencedTask): boolean => {
      if (lane === null) return false;
      const left = slots.get(lane) ?? 0;
      slots.set(lane, left - 1);
      return left > 0;
    };
    const of = (queue: QueueName): SequencedTask[] =>
      due.filter((task) => queueOf(taskRecord(task)) === queue);
    const laned = new FreePlaces(request).give(due.filter(inSlot));
    return [...of("steps").slice(0, steps), ...of("free").slice(0, free), ...laned].toSorted(earliestFirst);
  }

  /** How many more tasks of each lane may be leased now. */
  #freeSlots(now: number): Map<string, number> {
    const leaseEnds = this.#leaseEnds();
    const slots = this.#caps().map(({ lane, cap }): [string, number] => {
      const held = (leaseEnds.get(lane) ?? []).filter((end) => end > now);
      return [lane, cap - held.length];
    });
    return new Map(slots);
  }

  /** When each full lane has a slot, going by its leases: at the end of the cap-th last of them. */
  #nextSlots(): Map<string | null, number> {
    const leaseEnds = this.#leaseEnds();
    const slots = this.#caps().map(({ lane, cap }): [string, number] => {
      const latestFirst = (leaseEnds.get(lane) ?? []).toSorted((a, b) => b - a);
      return [lane, latestFirst[cap - 1] ?? -Infinity];
    });
    return new Map(slots);
  }

  #caps(): LaneCap[] {
    return [...this.#lanes.all()].map(({ lane, cap }) => {
      return { lane, cap: Math.min(cap, this.#narrowed.get(lane)?.cap ?? cap) };
    });
  }

  #leaseEnds(): Map<string, number[]> {
    const leaseEnds = new Map<string, number[]>();
    for (const { lane, holder, visibleAt } of this.#tasks.all()) {
      if (lane !== null && holder !== null) leaseEnds.set(lane, [...(leaseEnds.get(lane) ?? []), visibleAt]);
    }
    return leaseEnds;
  }
}

function isDisarmable({ kind }: StoredTask): boolean {
  return kind === "timer" || kind === "invocation";
}

function earliestOf(times: readonly number[]): number | null {
  return times.length === 0 ? null : times.reduce((a, b) => Math.min(a, b));
}
