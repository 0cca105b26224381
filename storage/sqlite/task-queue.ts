/** Tasks in SQLite: armed and consumed by commits, claimed, extended and given back on their own. */
import type { Kysely, Selectable } from "kysely";
import { encodeRow } from "../sql/codecs.ts";
import type { Encode, Schema } from "../sql/schema.ts";
import { taskStatements } from "../sql/task-statements.ts";
import type {
  AnyCommit,
  ClaimRequest,
  ClaimedTask,
  EngineStorage,
  PendingTask,
  QueueName,
  TaskRecord,
  TaskKind,
  TroubledTask,
} from "../storage.ts";
import {
  claimed,
  earliestFirst,
  pendingTask,
  retried,
  storedTask,
  taskRecord,
  troubledTask,
} from "../stored-task.ts";
import { engineTables, type StoredTask } from "../engine-tables.ts";
import { fullGroups } from "../share-places.ts";
import { extended, nextSuspectAt, suspected, suspectsInTurn, withoutPlaceOf } from "../suspects.ts";
import { QUEUES, queueOf } from "../task-queues.ts";
import type { Connection, PreparedAll } from "./connection.ts";
import { Lanes } from "./lanes.ts";

/** So many waiting suspects of a workflow are looked at, where those at the head of the line are of full lanes or queues. */
const LOOK_AHEAD = 128;

type TaskRow = Selectable<Schema["tasks"]>;
type DueOfQueue = PreparedAll<ReturnType<typeof taskStatements>>["dueFree"];
type TaskChanges = Pick<AnyCommit, "disarms" | "ends" | "adopts" | "amends" | "narrows" | "arms">;
type Heartbeat = Parameters<EngineStorage["heartbeat"]>[0];
type Release = Parameters<EngineStorage["release"]>[0];

export class TaskQueue {
  readonly #connection: Connection;
  readonly #tasks: PreparedAll<ReturnType<typeof taskStatements>>;
  readonly #lanes: Lanes;
  /** Lanes of which a commit has changed tasks since `settle`. */
  readonly #changed = new Set<string>();

  constructor(connection: Connection, db: Kysely<Schema>) {
    this.#connection = connection;
    this.#tasks = connection.prepareAll(taskStatements(db));
    this.#lanes = new Lanes(connection, db);
  }

  /** Within a commit: removes the task it consumes. False when its token is not that of the latest claim. */
  consume({ task: id, token }: NonNullable<AnyCommit["consumes"]>): boolean {
    const consumed = this.#tasks.consume.get({ id, token });
    this.#touch(consumed?.lane);
    return consumed !== undefined;
  }

  /**
   * At the end of a transaction of commits: brings the lanes in line with the tasks, once for each lane however many commits
   * have changed it. Those of a commit that was taken back are only looked at in vain.
   */
  settle(): void {
    this.#lanes.settle(this.#changed);
    this.#changed.clear();
  }

  #touch(lane: string | null | undefined): void {
    if (typeof lane === "string") this.#changed.add(lane);
  }

  /** Within a commit: a step may leave and enter a state again, so the old timers go before the new come. */
  replace({ disarms = [], ends = [], adopts = [], amends = [], narrows = [], arms = [] }: TaskChanges): void {
    for (const instance of ends) for (const { lane } of this.#tasks.end.all({ instance })) this.#touch(lane);
    for (const disarm of disarms) for (const { lane } of this.#tasks.disarm.all(disarm)) this.#touch(lane);
    for (const adopted of adopts) for (const lane of this.#adopt(adopted)) this.#touch(lane);
    for (const each of amends) for (const { lane } of this.#tasks.amend.all({ ...each })) this.#touch(lane);
    for (const { task: given, lease } of arms) {
      const task = { ...given, workflow: this.#workflowOf(given) };
      const row = storedTask(task, lease);
      this.#tasks.arm.run(encodeRow(engineTables.tasks, row) as unknown as Encode<StoredTask>);
      if (task.lane !== null) this.#lanes.open(task.lane, task.workflow, row.visibleAt);
      this.#touch(row.lane);
    }
    for (const narrowed of narrows) {
      this.#lanes.narrow(narrowed);
      this.#touch(narrowed.lane);
    }
  }

  /** The lanes of the tasks that now belong to another workflow: there they have a row of their own. */
  #adopt({ instance, workflow }: NonNullable<AnyCommit["adopts"]>[number]): string[] {
    return this.#tasks.adopt.all({ instance, workflow }).flatMap(({ lane }) => {
      if (lane === null) return [];
      this.#lanes.enter(lane, workflow);
      return [lane];
    });
  }

  /** A message belongs to the workflow of its target, where that is there. */
  #workflowOf({ kind, instance, workflow }: TaskRecord): string {
    if (kind !== "message") return workflow;
    return this.#tasks.workflowOf.get({ instance })?.workflow ?? workflow;
  }

  /** Within a commit: what an operator has ordered. False when a task cannot be retried or dropped. */
  command({ retries = [], drops = [] }: Pick<AnyCommit, "retries" | "drops">): boolean {
    for (const { task: id, dueAt } of retries) {
      const task = this.#tasks.one.get({ id });
      const next = task === undefined ? null : retried(task, dueAt);
      if (next === null) return false;
      this.#tasks.retry.run({ ...next, dueAt });
      const { lane } = taskRecord(next);
      if (lane !== null) this.#lanes.open(lane, next.workflow, dueAt);
      this.#touch(next.lane);
    }
    return drops.every((id) => this.#tasks.drop.run({ id }) === 1);
  }

  /** Writes nothing, and does not ask for the write lock, while nothing is due. */
  async claim(request: ClaimRequest): Promise<ClaimedTask[]> {
    const isDue = await this.#connection.read(() => this.#isDue(request));
    return isDue ? this.#connection.writeUnsynced(() => this.#claim(request)) : [];
  }

  #isDue(request: ClaimRequest): boolean {
    const { workflows, now } = request;
    const queues = QUEUES.filter((queue) => request[queue] > 0);
    const full = fullGroups(request);
    const isDue = workflows.some((workflow) =>
      queues.some((queue) => (this.#nextOf(queue, workflow, full) ?? Infinity) <= now),
    );
    return isDue || this.#suspect(request) !== undefined;
  }

  /** When the first task of this queue can be claimed. */
  #nextOf(queue: QueueName, workflow: string, full: readonly string[]): number | null {
    if (queue === "laned") return this.#lanes.next(workflow, full);
    const next = queue === "steps" ? this.#tasks.nextSteps : this.#tasks.nextFree;
    return next.get({ workflow })?.at ?? null;
  }

  #claim(request: ClaimRequest): ClaimedTask[] {
    const due = this.#unsuspected(request);
    const suspect = this.#suspect(request);
    if (suspect === undefined) return this.#lease(due, request);
    const first = this.#lease([suspect], request);
    return [...first, ...this.#lease(this.#unsuspected(withoutPlaceOf(suspect, request)), request)];
  }

  #lease(tasks: readonly TaskRow[], request: ClaimRequest): ClaimedTask[] {
    const leased = tasks.map((task) => {
      const { id, visibleAt: until, token, crashes, failures } = claimed(task, request);
      this.#tasks.lease.run({ id, holder: request.holder, until });
      return { token, crashes, failures, ...taskRecord(task) };
    });
    this.#lanes.settle(new Set(tasks.map(({ lane }) => lane)));
    return leased;
  }

  /** What gets a place, once all suspects among it are in their line and the dead set aside: they took places of others. */
  #unsuspected(request: ClaimRequest): TaskRow[] {
    for (;;) {
      const due = this.#due(request);
      const changed = due.map((task) => suspected(task, request)).filter((task) => task !== null);
      if (changed.length === 0) return due;
      for (const task of changed) this.#tasks.suspect.run(task);
      this.#lanes.settle(new Set(changed.map(({ lane }) => lane)));
    }
  }

  /** The suspect whose turn it is. */
  #suspect(request: ClaimRequest): TaskRow | undefined {
    if (this.#tasks.anyWaiting.get({}) === undefined) return undefined;
    const suspects = [...this.#tasks.heldSuspects.all({}), ...this.#waitingSuspects(request.workflows)];
    return suspectsInTurn(suspects, request).find((task) => this.#lanes.hasSlot(task, request.now));
  }

  #waitingSuspects(workflows: readonly string[]): TaskRow[] {
    return [...new Set(workflows)]
      .flatMap((workflow) => this.#tasks.waitingSuspects.all({ workflow, limit: LOOK_AHEAD }))
      .toSorted((a, b) => a.seq - b.seq);
  }

  #due(request: ClaimRequest): TaskRow[] {
    const { steps, free } = request;
    const due = [
      ...this.#dueWithoutLane(this.#tasks.dueSteps, steps, request),
      ...this.#dueWithoutLane(this.#tasks.dueFree, free, request),
      ...this.#lanes.dueTasks(request),
    ];
    return due.toSorted(earliestFirst);
  }

  #dueWithoutLane(queue: DueOfQueue, limit: number, { workflows, now }: ClaimRequest): TaskRow[] {
    if (limit < 1) return [];
    return [...new Set(workflows)]
      .flatMap((workflow) => queue.all({ workflow, now, limit }))
      .toSorted(earliestFirst)
      .slice(0, limit);
  }

  async heartbeat({ tasks, ...beat }: Heartbeat): Promise<string[]> {
    if (tasks.length === 0) return [];
    return this.#connection.writeUnsynced(() => {
      const changed = new Set<string | null>();
      const lost = tasks.filter(({ id, token }) => {
        const task = this.#tasks.one.get({ id });
        const kept = task?.token === token ? extended(task, beat) : null;
        if (kept === null) return true;
        this.#tasks.suspect.run(kept);
        changed.add(kept.lane);
        return false;
      });
      this.#lanes.settle(changed);
      return lost.map(({ id }) => id);
    });
  }

  async release({ id, token, dueAt, error }: Release): Promise<boolean> {
    return this.#connection.write(() => {
      const failed = error === undefined ? 0 : 1;
      // As in PostgreSQL, which keeps none: else the text of one error would keep the whole file from being moved there.
      const text = error?.replaceAll("\u0000", "") ?? null;
      const released = this.#tasks.release.get({ id, token, dueAt, failed, error: text });
      if (released !== undefined) this.#lanes.settle(new Set([released.lane]));
      return released !== undefined;
    });
  }

  /** Within a read: the tasks of an instance by name, those of one name as they were armed. */
  of(instance: string, limit: number, except?: TaskKind): PendingTask[] {
    return this.#tasks.ofInstance.all({ instance, limit, except: except ?? "" }).map(pendingTask);
  }

  nextDue(
    workflows: readonly string[],
    queues: readonly QueueName[] = QUEUES,
    full: readonly string[] = [],
  ): Promise<number | null> {
    return this.#connection.read(() => {
      const times = workflows
        .flatMap((workflow) => queues.map((queue) => this.#nextOf(queue, workflow, full)))
        .concat(this.#nextSuspectAt(workflows, queues))
        .filter((at) => at !== null);
      return times.length === 0 ? null : Math.min(...times);
    });
  }

  #nextSuspectAt(workflows: readonly string[], queues: readonly QueueName[]): number | null {
    if (this.#tasks.anyWaiting.get({}) === undefined) return null;
    const waiting = this.#waitingSuspects(workflows);
    const asked = waiting.filter((task) => queues.includes(queueOf(taskRecord(task))));
    return nextSuspectAt(asked, this.#tasks.heldSuspects.all({}));
  }

  deadLetters(limit: number): Promise<TroubledTask[]> {
    return this.#connection.read(() => this.#tasks.dead.all({ limit }).map(troubledTask));
  }

  failingTasks(least: number, limit: number): Promise<TroubledTask[]> {
    return this.#connection.read(() => this.#tasks.failing.all({ least, limit }).map(troubledTask));
  }

  upcomingSteps(workflow: string, limit: number): Promise<PendingTask[]> {
    const asked = { workflow, now: Number.MAX_SAFE_INTEGER, limit };
    return this.#connection.read(() => this.#tasks.dueSteps.all(asked).map(pendingTask));
  }

  /** One seek for each workflow and kind of queue, however many tasks there are. */
  earliestTasks(): Promise<{ workflow: string; dueAt: number }[]> {
    return this.#connection.read(() => {
      const earliest = new Map<string, number>();
      for (const first of [this.#tasks.firstSteps, this.#tasks.firstFree, this.#tasks.firstLaned]) {
        let row = first.get({ after: "" });
        while (row !== undefined) {
          earliest.set(row.workflow, Math.min(row.at, earliest.get(row.workflow) ?? Infinity));
          row = first.get({ after: row.workflow });
        }
      }
      return [...earliest.keys()]
        .toSorted()
        .map((workflow) => ({ workflow, dueAt: earliest.get(workflow) ?? 0 }));
    });
  }
}
