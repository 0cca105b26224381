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
  TaskListing,
  TaskRecord,
  TaskKind,
} from "../storage.ts";
import { claimed, earliestFirst, pendingTask, retried, storedTask, taskRecord } from "../stored-task.ts";
import { engineTables, type StoredTask } from "../engine-tables.ts";
import { extended, nextSuspectAt, suspected, suspectsInTurn, withoutPlaceOf } from "../suspects.ts";
import { QUEUES, queueOf } from "../task-queues.ts";
import { UNCLAIMED_MS, unsettled } from "../unsettled.ts";
import type { Connection, PreparedAll } from "./connection.ts";
import { type KeysOfTask, Rooms } from "./rooms.ts";

/** So many waiting suspects of a workflow are looked at, where those at the head of the line are of full keys or queues. */
const LOOK_AHEAD = 128;

/** So many tasks of a workflow that ask for room, or lose it, are looked at in one claim. */
const MAX_UNSETTLED = 64;

type TaskRow = Selectable<Schema["tasks"]>;
type TaskChanges = Pick<AnyCommit, "disarms" | "ends" | "adopts" | "amends" | "arms">;
type Heartbeat = Parameters<EngineStorage["heartbeat"]>[0];
type Release = Parameters<EngineStorage["release"]>[0];

export class TaskQueue {
  readonly #connection: Connection;
  readonly #tasks: PreparedAll<ReturnType<typeof taskStatements>>;
  readonly #rooms: Rooms;

  constructor(connection: Connection, db: Kysely<Schema>) {
    this.#connection = connection;
    this.#tasks = connection.prepareAll(taskStatements(db));
    this.#rooms = new Rooms(connection, db);
  }

  /** Within a commit: removes the tasks it consumes. False when the token is not that of the latest claim. */
  consume({ consumes, behind = [] }: Pick<AnyCommit, "consumes" | "behind">): boolean {
    if (consumes === undefined) return behind.length === 0;
    const consumed = this.#tasks.consume.get({ id: consumes.task, token: consumes.token });
    if (consumed === undefined) return false;
    this.#left(consumed);
    const { firstKey } = consumed;
    return behind.every((id) => firstKey !== null && this.#tasks.consumeParked.run({ id, firstKey }) === 1);
  }

  /** At the end of a transaction of commits: what has room now is admitted. */
  settle(): void {
    this.#rooms.settle();
  }

  /** Only a task that had room leaves some to others. */
  #left(task: KeysOfTask & Pick<TaskRow, "admission">): void {
    if (task.admission === "admitted") this.#rooms.touch(task);
  }

  /**
   * Within a commit: a step may leave and enter a state again, so the old timers go before the new come. Answers the tasks
   * that were armed without their lease.
   */
  replace({ disarms = [], ends = [], adopts = [], amends = [], arms = [] }: TaskChanges): string[] {
    for (const instance of ends) for (const gone of this.#tasks.end.all({ instance })) this.#left(gone);
    for (const disarm of disarms) for (const gone of this.#tasks.disarm.all(disarm)) this.#left(gone);
    for (const { instance, workflow } of adopts) this.#tasks.adopt.run({ instance, workflow });
    for (const amend of amends) {
      for (const amended of this.#tasks.amend.all({ ...amend })) this.#rooms.touch(amended);
    }
    return arms.flatMap((each) => this.#arm(each));
  }

  #arm({ task: given, lease }: NonNullable<AnyCommit["arms"]>[number]): string[] {
    const task = { ...given, workflow: this.#workflowOf(given) };
    const leased = storedTask(task, lease);
    const mayLease = task.kind === "message" ? this.#rooms.isFree(leased.firstKey) : leased.firstKey === null;
    const mustWait = lease !== undefined && !mayLease;
    const row = mustWait ? storedTask(task, undefined) : leased;
    this.#tasks.arm.run(encodeRow(engineTables.tasks, row) as unknown as Encode<StoredTask>);
    this.#rooms.touch(row);
    return mustWait ? [task.id] : [];
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
      this.#tasks.retry.run(next);
      this.#rooms.touch(next);
    }
    return drops.every((id) => {
      const dropped = this.#tasks.drop.get({ id });
      if (dropped !== undefined) this.#left(dropped);
      return dropped !== undefined;
    });
  }

  /** Writes nothing, and does not ask for the write lock, while nothing is due. */
  async claim(request: ClaimRequest): Promise<ClaimedTask[]> {
    const isDue = await this.#connection.read(() => this.#isDue(request));
    return isDue ? this.#connection.writeUnsynced(() => this.#claim(request)) : [];
  }

  #isDue(request: ClaimRequest): boolean {
    const { workflows, now } = request;
    const queues = QUEUES.filter((queue) => request[queue] > 0);
    const isDue = workflows.some((workflow) =>
      queues.some((queue) => (this.#nextOf(queue, workflow) ?? Infinity) <= now),
    );
    return isDue || this.#suspect(request) !== undefined || this.#unsettled(request, 1).next().done !== true;
  }

  /** When the first task of this queue can be claimed. */
  #nextOf(queue: QueueName, workflow: string): number | null {
    const { nextSteps, nextFree, nextLimited } = this.#tasks;
    if (queue === "limited") return nextLimited.get({ workflow, admission: "admitted" })?.at ?? null;
    return (queue === "steps" ? nextSteps : nextFree).get({ workflow })?.at ?? null;
  }

  /** Workflows that have tasks with limits: one seek each. */
  *#limitedWorkflows(): Generator<string> {
    let row = this.#tasks.limitedAfter.get({ after: "" });
    for (; row !== undefined; row = this.#tasks.limitedAfter.get({ after: row.workflow })) yield row.workflow;
  }

  /** What asks for room, since its pause is over; and what has room and is claimed by nobody. Of any workflow, so many of each. */
  *#unsettled({ workflows, now }: ClaimRequest, limit: number): Generator<TaskRow> {
    for (const workflow of this.#limitedWorkflows()) {
      yield* this.#tasks.dueLimited.all({ workflow, admission: "paused", now, limit });
      if (workflows.includes(workflow)) continue;
      yield* this.#tasks.dueLimited.all({ workflow, admission: "admitted", now: now - UNCLAIMED_MS, limit });
    }
  }

  /** Parks what asks for room, takes the room of what nobody claims, and admits what has room then. */
  #settleLimits(request: ClaimRequest): void {
    for (const task of [...this.#unsettled(request, MAX_UNSETTLED)]) {
      this.#tasks.suspect.run(unsettled(task, request) ?? task);
      this.#rooms.touch(task);
    }
    this.#rooms.settle();
  }

  #claim(request: ClaimRequest): ClaimedTask[] {
    this.#settleLimits(request);
    const due = this.#unsuspected(request);
    const suspect = this.#suspect(request);
    if (suspect === undefined) return this.#lease(due, request);
    const first = this.#lease([suspect], request);
    return [...first, ...this.#lease(this.#unsuspected(withoutPlaceOf(suspect, request)), request)];
  }

  #lease(tasks: readonly TaskRow[], request: ClaimRequest): ClaimedTask[] {
    return tasks.map((task) => {
      const leased = claimed(task, request);
      this.#tasks.lease.run(leased);
      const { token, crashes, failures } = leased;
      return { token, crashes, failures, ...taskRecord(task) };
    });
  }

  /** What gets a place, once all suspects among it are in their line and the dead set aside: they took places of others. */
  #unsuspected(request: ClaimRequest): TaskRow[] {
    for (;;) {
      const due = this.#due(request);
      const changed = due.map((task) => suspected(task, request)).filter((task) => task !== null);
      if (changed.length === 0) return due;
      for (const task of changed) {
        this.#tasks.suspect.run(task);
        this.#rooms.touch(task);
      }
      this.#rooms.settle();
    }
  }

  /** The suspect whose turn it is. */
  #suspect(request: ClaimRequest): TaskRow | undefined {
    if (this.#tasks.anyWaiting.get({}) === undefined) return undefined;
    const suspects = [...this.#tasks.heldSuspects.all({}), ...this.#waitingSuspects(request.workflows)];
    return suspectsInTurn(suspects, request).find((task) => this.#rooms.hasRoom(task));
  }

  #waitingSuspects(workflows: readonly string[]): TaskRow[] {
    return [...new Set(workflows)]
      .flatMap((workflow) => this.#tasks.waitingSuspects.all({ workflow, limit: LOOK_AHEAD }))
      .toSorted((a, b) => a.seq - b.seq);
  }

  #due(request: ClaimRequest): TaskRow[] {
    const { steps, free, limited, now } = request;
    const { dueSteps, dueFree, dueLimited } = this.#tasks;
    const of = (
      workflows: readonly string[],
      limit: number,
      due: (workflow: string) => TaskRow[],
    ): TaskRow[] => (limit < 1 ? [] : workflows.flatMap(due).toSorted(earliestFirst).slice(0, limit));
    const workflows = [...new Set(request.workflows)];
    return [
      ...of(workflows, steps, (workflow) => dueSteps.all({ workflow, now, limit: steps })),
      ...of(workflows, free, (workflow) => dueFree.all({ workflow, now, limit: free })),
      ...of(workflows, limited, (workflow) =>
        dueLimited.all({ workflow, admission: "admitted", now, limit: limited }),
      ),
    ].toSorted(earliestFirst);
  }

  async heartbeat({ tasks, ...beat }: Heartbeat): Promise<string[]> {
    if (tasks.length === 0) return [];
    return this.#connection.writeUnsynced(() => {
      const lost = tasks.filter(({ id, token }) => {
        const task = this.#tasks.one.get({ id });
        const kept = task?.token === token ? extended(task, beat) : null;
        if (kept === null) return true;
        this.#tasks.suspect.run(kept);
        return false;
      });
      return lost.map(({ id }) => id);
    });
  }

  async release({ id, token, dueAt, error }: Release): Promise<boolean> {
    return this.#connection.write(() => {
      const failed = error === undefined ? 0 : 1;
      // As in PostgreSQL, which keeps none: else the text of one error would keep the whole file from being moved there.
      const text = error?.replaceAll("\u0000", "") ?? null;
      const released = this.#tasks.release.get({ id, token, dueAt, failed, error: text });
      if (released !== undefined) this.#rooms.touch(released);
      this.#rooms.settle();
      return released !== undefined;
    });
  }

  /** Within a read: the tasks of an instance by name, those of one name as they were armed. */
  of(instance: string, limit: number, except?: TaskKind): PendingTask[] {
    return this.#tasks.ofInstance.all({ instance, limit, except: except ?? "" }).map(pendingTask);
  }

  nextDue(workflows: readonly string[], queues: readonly QueueName[] = QUEUES): Promise<number | null> {
    return this.#connection.read(() => {
      const times = workflows
        .flatMap((workflow) => queues.map((queue) => this.#nextOf(queue, workflow)))
        .concat(queues.includes("limited") ? workflows.map((workflow) => this.#pausedUntil(workflow)) : [])
        .concat(this.#nextSuspectAt(workflows, queues))
        .filter((at) => at !== null);
      return times.length === 0 ? null : Math.min(...times);
    });
  }

  #pausedUntil(workflow: string): number | null {
    return this.#tasks.nextLimited.get({ workflow, admission: "paused" })?.at ?? null;
  }

  #nextSuspectAt(workflows: readonly string[], queues: readonly QueueName[]): number | null {
    if (this.#tasks.anyWaiting.get({}) === undefined) return null;
    const waiting = this.#waitingSuspects(workflows);
    const asked = waiting.filter((task) => queues.includes(queueOf(taskRecord(task))));
    return nextSuspectAt(asked, this.#tasks.heldSuspects.all({}));
  }

  list(listing: TaskListing): Promise<PendingTask[]> {
    return this.#connection.read(() => this.#listed(listing).map(pendingTask));
  }

  #listed(listing: TaskListing): readonly TaskRow[] {
    switch (listing.order) {
      case "dead":
        return this.#tasks.dead.all(listing);
      case "failing":
        return this.#tasks.failing.all(listing);
      case "due":
        return this.#tasks.dueSteps.all({ ...listing, now: Number.MAX_SAFE_INTEGER });
      case "parked":
        return this.#tasks.parked.all(listing);
      case "workflow":
        return this.#firstOfEach();
    }
  }

  /** One seek for each workflow and kind of queue, however many tasks there are. */
  #firstOfEach(): readonly TaskRow[] {
    const first = new Map<string, TaskRow>();
    const note = (task: TaskRow | undefined): void => {
      const known = task === undefined ? undefined : first.get(task.workflow);
      const isFirst = task !== undefined && (known === undefined || earliestFirst(task, known) < 0);
      if (isFirst) first.set(task.workflow, task);
    };
    for (const next of [this.#tasks.firstSteps, this.#tasks.firstFree]) {
      let task = next.get({ after: "" });
      for (; task !== undefined; task = next.get({ after: task.workflow })) note(task);
    }
    for (const workflow of this.#limitedWorkflows()) {
      for (const admission of ["admitted", "parked", "paused"] as const) {
        const [task] = this.#tasks.dueLimited.all({
          workflow,
          admission,
          now: Number.MAX_SAFE_INTEGER,
          limit: 1,
        });
        note(task);
      }
    }
    return [...first.keys()].toSorted().flatMap((workflow) => first.get(workflow) ?? []);
  }
}
