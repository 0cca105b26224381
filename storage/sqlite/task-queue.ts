/**
 * The queue of tasks: tasks are armed, claimed under a lease and a token, given back, consumed, or set aside; and
 * admitted to their keys. The rules are pure functions in stored-task.ts, limits.ts, unsettled.ts and suspects.ts; this
 * file applies them to rows.
 */
import { checkLimit } from "../check-limit.ts";
import { compareTexts } from "../compare-texts.ts";
import type { StoredTask, TaskRow } from "../engine-tables.ts";
import { admitted, checkOverride, MAX_BEFORE, MAX_HEADS } from "../limits.ts";
import type { GoneTask } from "../sql/task-statements.ts";
import type {
  AnyCommit,
  ArmLease,
  ClaimedTask,
  ClaimRequest,
  EngineStorage,
  ChangedLimit,
  Heartbeat,
  LimitWait,
  PendingTask,
  QueueName,
  TaskMigration,
  TaskListQuery,
  TaskRecord,
} from "../storage.ts";
import {
  amended,
  claimed,
  claimedTask,
  earliestFirst,
  moved,
  PAGE,
  pendingTask,
  rateOver,
  released,
  retried,
  storedTask,
} from "../stored-task.ts";
import { extended, isUnjudged, judged, nextSuspectAt, suspected, suspectsInTurn } from "../suspects.ts";
import { QUEUES, queueOfRow } from "../task-queues.ts";
import { MAX_UNSETTLED, UNCLAIMED_MS, unsettled } from "../unsettled.ts";
import type { Connection } from "./connection.ts";
import { admissions, fullKey, hasRoom, isShut } from "./rooms.ts";
import { type ClaimQueueName, TaskRows } from "./task-rows.ts";

/** Later than every time that a task has. */
const EVER = Number.MAX_SAFE_INTEGER;

/** The lines of a queue in which tasks wait for their time: first the one that a claim takes from. */
const WAITING: { readonly [Q in QueueName]: readonly [ClaimQueueName, ...ClaimQueueName[]] } = {
  steps: ["steps"],
  free: ["free"],
  limited: ["admitted", "paused"],
};

/**
 * The tasks of a storage, over rows that an adapter keeps. Each call belongs into one transaction. `settle`, called once
 * before a transaction of commits ends, lets in what has room now; claims and releases do so themselves. One queue serves a
 * storage for ever, also after transactions that were taken back.
 */
export class TaskQueue {
  readonly #rows: TaskRows;
  /** First keys in which something has changed since `settle`, each with the last key that a task has left. */
  readonly #changed = new Map<string, string>();
  /** Tasks that found their key without any since `settle`, by the key: one of a higher priority comes before them still. */
  readonly #opened = new Map<string, string>();

  /** The first key behind which tasks are looked for that were forgotten. */
  #lookedBehind = "";

  constructor(connection: Connection) {
    this.#rows = new TaskRows(connection);
  }

  /** Removes the finished task, and the tasks behind it. False when the token is not the token of the latest claim. */
  consume({ consumes, behind = [] }: Pick<AnyCommit, "consumes" | "behind">): boolean {
    if (consumes === undefined) return behind.length === 0;
    const consumed = this.#rows.consume(consumes.task, consumes.token);
    if (consumed === undefined) return false;
    this.#left(consumed);
    return behind.every((id) => this.#consumeBehind(consumed, id));
  }

  /** A parked message takes no room, so its removal admits no other task. */
  #consumeBehind({ firstKey }: GoneTask, id: string): boolean {
    const task = this.#rows.get(id);
    if (task === undefined || task.firstKey !== firstKey || !isParkedMessage(task)) return false;
    this.#rows.remove(id);
    return true;
  }

  /** Retries a task by an operator's command. False when the task cannot be retried. */
  retry({ task: id, ...due }: NonNullable<AnyCommit["retries"]>[number]): boolean {
    return this.#change(this.#rows.get(id), (task) => retried(task, due));
  }

  /** Drops a task by an operator's command. False when the task cannot be dropped. */
  drop(id: string, isActive: (instance: string) => boolean): boolean {
    const task = this.#rows.get(id);
    if (task === undefined || !isDroppable(task, isActive)) return false;
    this.#rows.remove(id);
    this.#left(task);
    return true;
  }

  /** Disarms timers and invocations of an instance: those of this name, or all. */
  disarm(instance: string, name?: string): void {
    for (const gone of this.#rows.disarm(instance, name)) this.#left(gone);
  }

  adopt(instance: string, workflow: string): void {
    this.#rows.adopt(instance, workflow);
  }

  /** Gives a task a new name and payload, and takes it from its holder. An absent task is no error. */
  amend(amendment: TaskMigration): void {
    this.#change(this.#rows.get(amendment.task), (task) => amended(task, amendment));
  }

  /** A task that nobody has in hand asks for room anew, or more would begin than a lowered number allows. @throws TypeError */
  setLimit({ key, atMost, ...due }: ChangedLimit): void {
    checkOverride({ key, atMost, ...due });
    this.#rows.setOverride(key, atMost);
    for (const task of this.#rows.rated(key)) this.#put(task, (waiting) => rateOver(waiting, due));
    const unheld = this.#rows.unheld(key);
    for (const task of unheld) this.#change(task, (free) => ({ ...free, admission: "parked" }));
    for (const firstKey of [key, ...this.#rows.firstKeysOf(key)]) this.#changed.set(firstKey, "");
  }

  /** False where its lease is not given, since others of its first key are still to be done, or a key of it takes none. */
  arm(task: TaskRecord, lease: ArmLease | undefined): boolean {
    const firstKey = task.limits[0]?.key;
    // A key without tasks has room.
    const isAlone =
      firstKey === undefined ||
      (!this.#rows.hasAny(firstKey) && !isShut(storedTask(task, undefined), this.#rows));
    const row = storedTask(task, isAlone ? lease : undefined);
    this.#rows.insert(isAlone ? admitted(row) : row);
    if (!isAlone) this.#comesLater(row);
    else if (firstKey !== undefined && lease === undefined) this.#opened.set(firstKey, row.id);
    return isAlone;
  }

  #comesLater(row: StoredTask): void {
    this.#touch(row);
    const opened = this.#rows.get(this.#opened.get(row.firstKey ?? "") ?? "");
    if (opened === undefined || opened.priority >= row.priority) return;
    if (opened.admission === "admitted" && opened.holder === null) {
      this.#put(opened, (task) => ({ ...task, admission: "parked" }));
    }
  }

  /** Admits what has room now, under each first key in which a task has come or gone. True where it has admitted a task. */
  settle(): boolean {
    let admits = false;
    for (const [firstKey, after] of this.#changed) {
      for (const task of admissions(this.#rows, firstKey, after)) {
        this.#rows.put(admitted(task), task);
        admits = true;
      }
    }
    this.#changed.clear();
    this.#opened.clear();
    return admits;
  }

  /** Whether a claim may find anything, or has anything to change. */
  isDue(request: ClaimRequest): boolean {
    const isAny = (queue: QueueName): boolean =>
      request[queue] > 0 && this.#due(queue, request, 1).length > 0;
    if (QUEUES.some(isAny) || this.#unsettled(request, 1).next().done !== true) return true;
    const crashed = this.#crashed(request);
    return (
      crashed.some((task) => isUnjudged(task, request.now)) ||
      this.#inTurn(crashed, request.now) !== undefined
    );
  }

  claim(request: ClaimRequest): ClaimedTask[] {
    const isUnsuspecting = !this.#judge(request);
    for (const task of [...this.#unsettled(request, MAX_UNSETTLED)]) {
      this.#change(task, () => unsettled(task, request));
    }
    this.settle();
    const due = this.#unsuspected(request);
    if (isUnsuspecting) return this.#lease(due, request);
    const places = { steps: request.steps, free: request.free, limited: request.limited };
    const suspects = [...this.#leaseSuspects(request, places)];
    if (suspects.length === 0) return this.#lease(due, request);
    return [...suspects, ...this.#lease(this.#unsuspected({ ...request, ...places }), request)];
  }

  /** Judges all tasks of a vanished holder together, in any workflow. False where no task has crashed. */
  #judge(request: ClaimRequest): boolean {
    const { now } = request;
    const crashed = this.#crashed(request);
    const vanished = crashed.filter((task) => isUnjudged(task, now)).map(({ holder }) => holder);
    for (const holder of new Set(vanished)) {
      const hand = crashed.filter((task) => task.holder === holder);
      for (const task of judged(hand, now)) this.#put(this.#rows.get(task.id), () => task);
    }
    return crashed.length > 0;
  }

  /** Suspects in their turn, as far as they may begin. Takes their places from these. */
  *#leaseSuspects(request: ClaimRequest, places: Record<QueueName, number>): Generator<ClaimedTask> {
    for (;;) {
      const left = { ...request, ...places };
      const suspect = this.#inTurn(this.#crashed(left), request.now);
      if (suspect === undefined) return;
      places[queueOfRow(suspect)] -= 1;
      yield* this.#lease([suspect], request);
    }
  }

  #lease(tasks: readonly TaskRow[], request: ClaimRequest): ClaimedTask[] {
    const leased = tasks.map((task) => this.#put(task, () => claimed(task, request)));
    return leased.filter((task) => task !== null).map(claimedTask);
  }

  /** Due tasks, once all suspects are in their line and all dead letters set aside: these would take places of others. */
  #unsuspected(request: ClaimRequest): readonly TaskRow[] {
    for (;;) {
      const due = QUEUES.flatMap((queue) => this.#earliest(queue, request)).toSorted(earliestFirst);
      const changed = due.filter((task) => this.#change(task, () => suspected(task, request)));
      if (changed.length === 0) return due;
      this.settle();
    }
  }

  #earliest(queue: QueueName, request: ClaimRequest): readonly TaskRow[] {
    const limit = request[queue];
    if (limit < 1) return [];
    return this.#due(queue, request, limit).toSorted(earliestFirst).slice(0, limit);
  }

  #due(queue: QueueName, { workflows, now }: ClaimRequest, limit: number): readonly TaskRow[] {
    return this.#rows.due({ line: WAITING[queue][0], workflows, until: now, limit });
  }

  /** Tasks that ask for room after their pause, and admitted tasks that nobody claims. Up to the limit of each workflow. */
  *#unsettled({ workflows, now }: ClaimRequest, limit: number): Generator<TaskRow> {
    const limited = [...this.#rows.workflows("limited")];
    yield* this.#rows.due({ line: "paused", workflows: limited, until: now, limit });
    const unknown = limited.filter((workflow) => !workflows.includes(workflow));
    yield* this.#rows.due({ line: "admitted", workflows: unknown, until: now - UNCLAIMED_MS, limit });
  }

  #crashed(request: ClaimRequest): readonly TaskRow[] {
    const withPlaces = QUEUES.filter((queue) => request[queue] > 0);
    return this.#rows.crashed(request.workflows, withPlaces);
  }

  #inTurn(crashed: readonly TaskRow[], now: number): TaskRow | undefined {
    return suspectsInTurn(crashed, now).find((task) => hasRoom(task, this.#rows));
  }

  /** Extends leases. Nobody else has rows locked. */
  heartbeat({ tasks, ...beat }: Parameters<EngineStorage["heartbeat"]>[0]): Heartbeat {
    const isKept = ({ id, token }: (typeof tasks)[number]): boolean =>
      this.#put(this.#claimed(id, token), (task) => extended(task, beat)) !== null;
    return { lost: tasks.filter((task) => !isKept(task)).map(({ id }) => id), unseen: [] };
  }

  /** Gives a task back; false when the token is no longer the latest, or the task was set aside. */
  release({ id, token, ...given }: Parameters<EngineStorage["release"]>[0]): boolean {
    // As in PostgreSQL, which keeps none: else the text of one error would keep a whole file from being moved there.
    const failure = given.error === undefined ? {} : { error: given.error.replaceAll("\u0000", "") };
    const isReleased = this.#change(this.#claimed(id, token), (task) =>
      released(task, { ...given, ...failure }),
    );
    this.settle();
    return isReleased;
  }

  /** For `lease`: moves tasks of a page that wait longer than their delay. Answers behind which the next page begins, or null. */
  moveDelayed(now: number, after: string): string | null {
    const page = this.#rows.page(after, PAGE);
    for (const task of page) this.#put(task, () => moved(task, now));
    return page[PAGE - 1]?.id ?? null;
  }

  nextDue(workflows: readonly string[], queues: readonly QueueName[] = QUEUES): number | null {
    const times = queues
      .flatMap((queue) => WAITING[queue])
      .flatMap((line) => this.#first(line, workflows).map(({ visibleAt }) => visibleAt))
      .concat(nextSuspectAt(this.#rows.crashed(workflows, queues)) ?? []);
    return times.length === 0 ? null : Math.min(...times);
  }

  #first(line: ClaimQueueName, workflows: readonly string[]): readonly TaskRow[] {
    return this.#rows.due({ line, workflows, until: EVER, limit: 1 });
  }

  #placeFor(task: TaskRow): LimitWait | null {
    const { kind, admission, lastKey, deadAt } = task;
    if (deadAt !== null || kind === "message" || admission !== "parked" || lastKey === null) return null;
    return { key: fullKey(task, this.#rows) ?? lastKey, before: this.#rows.before(task, MAX_BEFORE) };
  }

  list(listing: TaskListQuery): PendingTask[] {
    if ("limit" in listing) checkLimit("tasks", listing.limit);
    const isOfOne = listing.order === "instance";
    return this.#listed(listing).map((task) => pendingTask(task, isOfOne ? this.#placeFor(task) : null));
  }

  #listed(listing: TaskListQuery): readonly TaskRow[] {
    switch (listing.order) {
      case "instance":
        return this.#rows.ofInstance(listing.instance, listing.limit, listing.except);
      case "dead":
        return this.#rows.dead(listing.limit);
      case "failing":
        return this.#rows.failing(listing.least, listing.limit);
      case "due":
        return this.#rows
          .due({ line: "steps", workflows: [listing.workflow], until: EVER, limit: listing.limit })
          .toSorted(earliestFirst);
      case "parked":
        return this.#rows.parked(listing.key, listing.limit);
      case "forgotten":
        return [...this.#forgotten()];
      case "workflow":
        return this.#firstOfEach();
    }
  }

  *#forgotten(): Generator<TaskRow> {
    const after = this.#lookedBehind;
    this.#lookedBehind = "";
    let looked = 0;
    for (const firstKey of this.#rows.firstKeys(after)) {
      for (const head of this.#rows.heads(firstKey, "")) {
        if (hasRoom(head, this.#rows)) yield head;
        if ((looked += 1) < MAX_HEADS) continue;
        this.#lookedBehind = firstKey;
        return;
      }
    }
  }

  /** The first task of each workflow, by one seek for each line, however many tasks exist. */
  #firstOfEach(): readonly TaskRow[] {
    const first = new Map<string, TaskRow>();
    for (const queue of QUEUES) {
      const lines: readonly ClaimQueueName[] = queue === "limited" ? [...WAITING.limited, "parked"] : [queue];
      const workflows = [...this.#rows.workflows(queue)];
      for (const task of lines.flatMap((line) => this.#first(line, workflows))) {
        const before = first.get(task.workflow);
        if (before === undefined || earliestFirst(task, before) < 0) first.set(task.workflow, task);
      }
    }
    return [...first.values()].toSorted((a, b) => compareTexts(a.workflow, b.workflow));
  }

  #claimed(id: string, token: number): TaskRow | undefined {
    const task = this.#rows.get(id);
    return task !== undefined && task.token > 0 && task.token === token ? task : undefined;
  }

  /** False when the task does not exist, or does not change. */
  #change(task: TaskRow | undefined, change: (task: TaskRow) => TaskRow | null): boolean {
    const next = this.#put(task, change);
    if (next !== null) this.#touch(next);
    return next !== null;
  }

  #put(task: TaskRow | undefined, change: (task: TaskRow) => TaskRow | null): TaskRow | null {
    const next = task === undefined ? null : change(task);
    if (task !== undefined && next !== null) this.#rows.put(next, task);
    return next;
  }

  /** Only an admitted task leaves room, to those that are parked already: one that is armed later asks for itself. */
  #left(task: GoneTask): void {
    const { admission, hasParked = true } = task;
    if (admission === "admitted" && Boolean(hasParked)) this.#touch(task);
  }

  #touch({ firstKey, lastKey }: Pick<GoneTask, "firstKey" | "lastKey">): void {
    if (firstKey !== null) this.#changed.set(firstKey, lastKey ?? "");
  }
}

/** An effect that fails is dropped only where nobody waits for its event any more. */
function isDroppable(
  { kind, instance, deadAt, holder, failures }: TaskRow,
  isActive: (instance: string) => boolean,
): boolean {
  if (deadAt !== null) return true;
  if (holder !== null || failures === 0) return false;
  return kind === "message" || (kind === "effect" && !isActive(instance));
}

function isParkedMessage({ kind, admission, deadAt }: TaskRow): boolean {
  return kind === "message" && admission === "parked" && deadAt === null;
}
