/** The queue of tasks over plain Maps: leases, tokens, lanes, dead letters. */
import type {
  ClaimedTask,
  ClaimRequest,
  NarrowedLane,
  PendingTask,
  QueueName,
  TaskAmendment,
  TaskKind,
  TroubledTask,
} from "paystate/engine";
import {
  amended,
  checkedNarrow,
  claimed,
  compareTexts,
  copyRow,
  engineTables,
  extended,
  FreePlaces,
  nextSuspectAt,
  pendingTask,
  queueOf,
  released,
  retried,
  type StoredTask,
  suspected,
  suspectsInTurn,
  taskRecord,
  type TaskClaim,
  troubledTask,
  withoutPlaceOf,
} from "paystate/storage";
import { by, type Database } from "./database.ts";

/** A task and the token of the one who means to hold it. */
interface Held {
  readonly id: string;
  readonly token: number;
}

export class Tasks {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** @throws TypeError when the id is taken. */
  arm(task: StoredTask): void {
    if (this.#database.tasks.has(task.id)) throw new TypeError(`task ${task.id} is there already`);
    this.#openLane(task);
    this.#put(task);
  }

  claim(request: ClaimRequest): readonly ClaimedTask[] {
    const chosen = this.#unsuspected(request);
    const [suspect] = this.#inSlots(suspectsInTurn(this.#all(), request), request.now);
    if (suspect === undefined) return chosen.map((task) => this.#lease(task, request));
    const first = this.#lease(suspect, request);
    const others = this.#unsuspected(withoutPlaceOf(suspect, request));
    return [first, ...others.map((task) => this.#lease(task, request))];
  }

  #lease(task: StoredTask, request: ClaimRequest): ClaimedTask {
    const leased = claimed(task, request);
    this.#put(leased);
    const { token, crashes, failures } = leased;
    return { ...taskRecord(leased), token, crashes, failures };
  }

  /** Suspects have a line of their own and dead letters take no place: others may have theirs. */
  #unsuspected(request: ClaimRequest): readonly StoredTask[] {
    for (;;) {
      const chosen = this.#chosen(request);
      const changed = chosen.map((task) => suspected(task, request)).filter((task) => task !== null);
      if (changed.length === 0) return chosen;
      for (const task of changed) this.#put(task);
    }
  }

  extend(held: Held, beat: TaskClaim): boolean {
    const task = this.#withToken(held);
    return this.#change(task === null ? null : extended(task, beat));
  }

  release(held: Held, dueAt: number, error: string | undefined): boolean {
    const task = this.#withToken(held);
    return this.#change(task === null ? null : released(task, dueAt, error));
  }

  /** Removes a task that is done. False unless the token is the latest. */
  consume({ task, token }: { readonly task: string; readonly token: number }): boolean {
    return this.#withToken({ id: task, token }) !== null && this.#database.tasks.delete(task);
  }

  retry(id: string, dueAt: number): boolean {
    const task = this.#database.tasks.get(id);
    const changed = task === undefined ? null : retried(task, dueAt);
    if (changed !== null) this.#openLane(changed);
    return this.#change(changed);
  }

  drop(id: string): boolean {
    return typeof this.#database.tasks.get(id)?.deadAt === "number" && this.#database.tasks.delete(id);
  }

  /** Removes timers and invocations of an instance: those of this name, or all. */
  disarm(instance: string, name?: string): void {
    for (const task of this.#of(instance)) {
      const isArmed = task.kind === "timer" || task.kind === "invocation";
      if (isArmed && (name === undefined || task.name === name)) this.#database.tasks.delete(task.id);
    }
  }

  /** All tasks of the instance belong to this workflow from now on. */
  adopt(instance: string, workflow: string): void {
    for (const task of this.#of(instance)) this.#put({ ...task, workflow });
  }

  amend(amendment: TaskAmendment): void {
    const task = this.#database.tasks.get(amendment.task);
    if (task !== undefined) this.#put(amended(task, amendment));
  }

  narrow(narrowed: NarrowedLane): void {
    const { lane, cap } = checkedNarrow(narrowed);
    if (cap === null) this.#database.narrowed.delete(lane);
    else this.#database.narrowed.set(lane, cap);
  }

  nextDue(
    workflows: readonly string[],
    queues: readonly QueueName[] = ["steps", "free", "laned"],
    fullGroups: readonly string[] = [],
  ): number | null {
    const asked = this.#waiting(workflows).filter((task) => queues.includes(queueOf(taskRecord(task))));
    const open = asked.filter(({ laneGroup }) => laneGroup === null || !fullGroups.includes(laneGroup));
    const suspectAt = nextSuspectAt(asked, this.#all()) ?? Infinity;
    const first = Math.min(suspectAt, ...open.map((task) => this.#claimableAt(task)));
    return first === Infinity ? null : first;
  }

  pending(instance: string, limit: number, except?: TaskKind): readonly PendingTask[] {
    return this.#of(instance)
      .filter(({ kind }) => kind !== except)
      .toSorted(by(({ name }) => name))
      .slice(0, limit)
      .map(pendingTask);
  }

  deadLetters(limit: number): readonly TroubledTask[] {
    const dead = this.#all().filter(({ deadAt }) => deadAt !== null);
    return dead
      .toReversed()
      .map(troubledTask)
      .toSorted(by(({ since }) => -since))
      .slice(0, limit);
  }

  failing(least: number, limit: number): readonly TroubledTask[] {
    const failing = this.#all().filter(({ deadAt, failures }) => deadAt === null && failures >= least);
    return failing
      .map(troubledTask)
      .toSorted(by(({ since }) => since))
      .slice(0, limit);
  }

  upcoming(workflow: string, limit: number): readonly PendingTask[] {
    return this.#waiting()
      .filter((task) => task.workflow === workflow && task.lane === null)
      .filter(({ kind }) => kind === "timer" || kind === "message")
      .map(pendingTask)
      .toSorted(by(({ visibleAt }) => visibleAt))
      .slice(0, limit);
  }

  earliest(): readonly { readonly workflow: string; readonly dueAt: number }[] {
    const workflows = new Set(this.#waiting().map(({ workflow }) => workflow));
    return [...workflows].toSorted(compareTexts).map((workflow) => {
      const times = this.#waiting([workflow]).map((task) => this.#claimableAt(task));
      return { workflow, dueAt: Math.min(...times) };
    });
  }

  isIdle(instance: string): boolean {
    return this.#of(instance).length === 0;
  }

  #withToken({ id, token }: Held): StoredTask | null {
    const task = this.#database.tasks.get(id);
    return task !== undefined && token > 0 && task.token === token ? task : null;
  }

  #openLane({ lane, cap, laneGroup }: StoredTask): void {
    if (lane === null || cap === null) return;
    this.#database.lanes.set(lane, cap);
    for (const task of this.#all()) {
      if (task.lane === lane && task.deadAt === null) this.#put({ ...task, laneGroup });
    }
  }

  #claimableAt({ visibleAt, lane }: StoredTask): number {
    return Math.max(visibleAt, this.#slotAt(lane));
  }

  /** When so many leases of the lane have ended that it has a slot. */
  #slotAt(lane: string | null): number {
    if (lane === null) return -Infinity;
    const held = this.#all().filter((task) => task.lane === lane && task.holder !== null);
    const latestFirst = held.map(({ visibleAt }) => visibleAt).toSorted((a, b) => b - a);
    return latestFirst[this.#capOf(lane) - 1] ?? -Infinity;
  }

  #capOf(lane: string): number {
    const { lanes, narrowed } = this.#database;
    return Math.min(lanes.get(lane) ?? 1, narrowed.get(lane) ?? Infinity);
  }

  /** The tasks that get a place, the earliest first. */
  #chosen(request: ClaimRequest): readonly StoredTask[] {
    const { workflows, now, steps, free } = request;
    const due = this.#waiting(workflows).filter(({ visibleAt }) => visibleAt <= now);
    const of = (queue: QueueName): StoredTask[] => due.filter((task) => queueOf(taskRecord(task)) === queue);
    const laned = new FreePlaces(request).give(this.#inSlots(of("laned"), now));
    const chosen = new Set([...of("steps").slice(0, steps), ...of("free").slice(0, free), ...laned]);
    return due.filter((task) => chosen.has(task));
  }

  /** The first of each lane, as many as it has slots. */
  #inSlots(tasks: readonly StoredTask[], now: number): StoredTask[] {
    const taken = new Map<string | null, number>();
    return tasks.filter(({ lane }) => {
      const held = this.#all().filter((task) => task.lane === lane && task.holder !== null);
      const before = taken.get(lane) ?? held.filter(({ visibleAt }) => visibleAt > now).length;
      taken.set(lane, before + 1);
      return lane === null || before < this.#capOf(lane);
    });
  }

  /** No dead letters, the earliest first. */
  #waiting(workflows?: readonly string[]): readonly StoredTask[] {
    return this.#all()
      .filter(({ workflow, deadAt }) => deadAt === null && (workflows?.includes(workflow) ?? true))
      .toSorted(by(({ visibleAt }) => visibleAt));
  }

  #of(instance: string): StoredTask[] {
    return this.#all().filter((task) => task.instance === instance);
  }

  #all(): StoredTask[] {
    return [...this.#database.tasks.values()];
  }

  #change(task: StoredTask | null): boolean {
    if (task !== null) this.#put(task);
    return task !== null;
  }

  #put(task: StoredTask): void {
    this.#database.tasks.set(task.id, copyRow(engineTables.tasks, task));
  }
}
