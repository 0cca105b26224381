/** The queue of tasks over plain Maps: leases, tokens, limits, dead letters. */
import type {
  ClaimedTask,
  ClaimRequest,
  PendingTask,
  QueueName,
  TaskAmendment,
  TaskKind,
  TaskListing,
} from "paystate/engine";
import {
  amended,
  claimed,
  copyRow,
  engineTables,
  extended,
  hasRoom,
  nextAdmitted,
  nextSuspectAt,
  pendingTask,
  queueOf,
  released,
  retried,
  type StoredTask,
  suspected,
  suspectsInTurn,
  taskRecord,
  unsettled,
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

  /** Whether it is armed without its lease: it has limits, and is no message or behind another one. */
  mustWait({ kind, firstKey }: StoredTask): boolean {
    if (kind !== "message" || firstKey === null) return firstKey !== null;
    return this.#all().some((task) => task.firstKey === firstKey && task.deadAt === null);
  }

  /** @throws TypeError when the id is taken. */
  arm(task: StoredTask): void {
    if (this.#database.tasks.has(task.id)) throw new TypeError(`task ${task.id} is there already`);
    this.#put(task);
  }

  claim(request: ClaimRequest): readonly ClaimedTask[] {
    this.#ask(request);
    const chosen = this.#unsuspected(request);
    const suspect = suspectsInTurn(this.#all(), request).find((task) => hasRoom(task, this.#limited));
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
      this.settle();
    }
  }

  /** What has waited for its time asks for room; what nobody claims gives its room up. */
  #ask(request: ClaimRequest): void {
    for (const task of this.#all()) {
      const next = unsettled(task, request);
      if (next !== null) this.#put(next);
    }
    this.settle();
  }

  /** Admits what is parked and has room now; to be called when a task has come or gone. */
  settle(): void {
    for (const firstKey of new Set(this.#all().map((task) => task.firstKey))) {
      if (firstKey === null) continue;
      for (;;) {
        const next = nextAdmitted(this.#limited, { firstKey, after: "" });
        if (next === undefined) break;
        this.#put(next);
      }
    }
  }

  /** Rows keep the order in which they were armed, so their place is their number. */
  readonly #limited: Parameters<typeof nextAdmitted<StoredTask & { readonly seq: number }>>[0] = {
    admittedUnder: (key) => this.#admitted(key).length,
    admittedIn: (key, last) => this.#admitted(key).filter(({ lastKey }) => lastKey === last).length,
    heads: (key) => {
      const heads = new Map<string | null, StoredTask & { readonly seq: number }>();
      for (const [seq, task] of this.#all().entries()) {
        const isParked = task.firstKey === key && task.admission === "parked" && task.deadAt === null;
        if (isParked && !heads.has(task.lastKey)) heads.set(task.lastKey, { ...task, seq });
      }
      return heads.values();
    },
  };

  #admitted(key: string): StoredTask[] {
    return this.#all().filter(
      ({ firstKey, admission, deadAt }) => firstKey === key && admission === "admitted" && deadAt === null,
    );
  }

  extend(held: Held, beat: Pick<ClaimRequest, "holder" | "now" | "leaseMs">): boolean {
    const task = this.#withToken(held);
    return this.#change(task === null ? null : extended(task, beat));
  }

  release(held: Held, dueAt: number, error: string | undefined): boolean {
    const task = this.#withToken(held);
    const isReleased = this.#change(task === null ? null : released(task, dueAt, error));
    this.settle();
    return isReleased;
  }

  /** Removes a task that is done, and messages parked behind it. False unless the token is the latest. */
  consume(
    { task, token }: { readonly task: string; readonly token: number },
    behind: readonly string[],
  ): boolean {
    const done = this.#withToken({ id: task, token });
    if (done === null) return false;
    this.#database.tasks.delete(task);
    return behind.every((id) => {
      const next = this.#parked(done.firstKey).find((each) => each.id === id);
      return next !== undefined && this.#database.tasks.delete(id);
    });
  }

  /** The messages that wait in a key. */
  #parked(key: string | null): StoredTask[] {
    return this.#all().filter(
      ({ kind, firstKey, admission, deadAt }) =>
        kind === "message" && firstKey === key && admission === "parked" && deadAt === null,
    );
  }

  retry(id: string, dueAt: number): boolean {
    const task = this.#database.tasks.get(id);
    const changed = task === undefined ? null : retried(task, dueAt);
    return this.#change(changed);
  }

  drop(id: string): boolean {
    const task = this.#database.tasks.get(id);
    if (task === undefined) return false;
    const isFailing = task.kind === "message" && task.holder === null && task.failures > 0;
    return (task.deadAt !== null || isFailing) && this.#database.tasks.delete(id);
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

  nextDue(
    workflows: readonly string[],
    queues: readonly QueueName[] = ["steps", "free", "limited"],
  ): number | null {
    const asked = this.#waiting(workflows).filter((task) => queues.includes(queueOf(taskRecord(task))));
    const open = asked.filter(({ admission }) => admission !== "parked");
    const suspectAt = nextSuspectAt(asked, this.#all()) ?? Infinity;
    const first = Math.min(suspectAt, ...open.map(({ visibleAt }) => visibleAt));
    return first === Infinity ? null : first;
  }

  pending(instance: string, limit: number, except?: TaskKind): readonly PendingTask[] {
    return this.#of(instance)
      .filter(({ kind }) => kind !== except)
      .toSorted(by(({ name }) => name))
      .slice(0, limit)
      .map(pendingTask);
  }

  list(listing: TaskListing): readonly PendingTask[] {
    switch (listing.order) {
      case "dead":
        return this.#all()
          .filter(({ deadAt }) => deadAt !== null)
          .toReversed()
          .toSorted(by(({ deadAt }) => -Number(deadAt)))
          .slice(0, listing.limit)
          .map(pendingTask);
      case "failing":
        return this.#all()
          .filter(({ deadAt, failures }) => deadAt === null && failures >= listing.least)
          .toSorted(by(({ failingSince }) => failingSince))
          .slice(0, listing.limit)
          .map(pendingTask);
      case "due":
        return this.#waiting([listing.workflow])
          .filter(({ kind, admission }) => kind === "timer" || (kind === "message" && admission !== "parked"))
          .slice(0, listing.limit)
          .map(pendingTask);
      case "parked":
        return this.#parked(listing.key)
          .filter(({ lastKey }) => lastKey === listing.key)
          .slice(0, listing.limit)
          .map(pendingTask);
      case "workflow": {
        const first = new Map(
          this.#waiting()
            .filter(({ kind, admission }) => kind !== "message" || admission !== "parked")
            .toReversed()
            .map((task) => [task.workflow, task]),
        );
        return [...first.values()].toSorted(by(({ workflow }) => workflow)).map(pendingTask);
      }
    }
  }

  isIdle(instance: string): boolean {
    return this.#of(instance).length === 0;
  }

  #withToken({ id, token }: Held): StoredTask | null {
    const task = this.#database.tasks.get(id);
    return task !== undefined && token > 0 && task.token === token ? task : null;
  }

  /** The tasks that get a place, the earliest first. */
  #chosen(request: ClaimRequest): readonly StoredTask[] {
    const { workflows, now } = request;
    const due = this.#waiting(workflows)
      .filter(({ visibleAt }) => visibleAt <= now)
      .filter(({ admission }) => admission === null || admission === "admitted");
    const of = (queue: QueueName): StoredTask[] =>
      due.filter((task) => queueOf(taskRecord(task)) === queue).slice(0, request[queue]);
    const chosen = new Set([...of("steps"), ...of("free"), ...of("limited")]);
    return due.filter((task) => chosen.has(task));
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
