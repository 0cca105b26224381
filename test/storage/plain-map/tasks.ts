/** The queue of tasks over plain Maps: leases, tokens, lanes, dead letters. */
import type { ClaimedTask, ClaimRequest, PendingTask, QueueName, TroubledTask } from "paystate/engine";
import {
  claimed,
  compareTexts,
  copyRow,
  engineTables,
  pendingTask,
  queueOf,
  released,
  retried,
  type StoredTask,
  taskRecord,
  troubledTask,
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
    this.#capLane(task);
    this.#put(task);
  }

  claim({ workflows, steps, free, laned, ...claim }: ClaimRequest): readonly ClaimedTask[] {
    const left: Record<QueueName, number> = { steps, free, laned };
    const taken: ClaimedTask[] = [];
    for (const task of this.#waiting(workflows).filter(({ visibleAt }) => visibleAt <= claim.now)) {
      const queue = queueOf(taskRecord(task));
      if (left[queue] === 0 || this.#slotAt(task.lane) > claim.now) continue;
      const next = claimed(task, claim);
      this.#put(next);
      if (next.deadAt !== null) continue;
      left[queue] -= 1;
      const { token, crashes, failures } = next;
      taken.push({ ...taskRecord(next), token, crashes, failures });
    }
    return taken;
  }

  extend(held: Held, until: number): boolean {
    const task = this.#withToken(held);
    const isHeld = task !== null && task.holder !== null;
    if (isHeld) this.#put({ ...task, visibleAt: until });
    return isHeld;
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
    if (changed !== null) this.#capLane(changed);
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

  nextDue(workflows: readonly string[], queues?: readonly QueueName[]): number | null {
    const times = this.#waiting(workflows)
      .filter((task) => queues?.includes(queueOf(taskRecord(task))) ?? true)
      .map((task) => Math.max(task.visibleAt, this.#slotAt(task.lane)));
    return times.length === 0 ? null : Math.min(...times);
  }

  pending(instance: string, limit: number): readonly PendingTask[] {
    return this.#of(instance)
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

  earliest(): readonly { readonly workflow: string; readonly dueAt: number }[] {
    const workflows = new Set(this.#waiting().map(({ workflow }) => workflow));
    return [...workflows].toSorted(compareTexts).map((workflow) => {
      return { workflow, dueAt: this.nextDue([workflow]) ?? 0 };
    });
  }

  isIdle(instance: string): boolean {
    return this.#of(instance).length === 0;
  }

  #withToken({ id, token }: Held): StoredTask | null {
    const task = this.#database.tasks.get(id);
    return task !== undefined && token > 0 && task.token === token ? task : null;
  }

  #capLane({ lane, cap }: StoredTask): void {
    if (lane !== null && cap !== null) this.#database.lanes.set(lane, cap);
  }

  /** When so many leases of the lane have ended that it has a slot. */
  #slotAt(lane: string | null): number {
    if (lane === null) return -Infinity;
    const held = this.#all().filter((task) => task.lane === lane && task.holder !== null);
    const latestFirst = held.map(({ visibleAt }) => visibleAt).toSorted((a, b) => b - a);
    return latestFirst[(this.#database.lanes.get(lane) ?? 1) - 1] ?? -Infinity;
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
