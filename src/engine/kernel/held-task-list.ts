/** The tasks this process is doing now: each under a lease that is kept alive, and given back when it cannot be done. */
import type { ClaimedTask, Commit, EngineStorage, QueueName } from "../../../storage/storage.ts";
import { CommitUnknown } from "../../../storage/decided.ts";
import { StorageUnusable } from "../../../storage/storage-unusable.ts";
import { queueOf } from "../../../storage/task-queues.ts";
import { taskEnded, type TaskEndedEvent } from "../../core/diagnostics.ts";
import { redactionOf } from "../../core/redacting-log.ts";
import { elapsed, isTurnOver, nextTurn, type Random } from "../../core/runtime.ts";
import { thrownText, withoutTraps } from "../../core/thrown.ts";
import type { EngineContext } from "./engine-context.ts";
import { Loop } from "./loop.ts";
import { TaskLease } from "./task-lease.ts";
import { invocationFromText } from "../../workflow/invocation-task.ts";
import { DEFAULT_RETRY, isOver, pauseMs, type RetryPolicy } from "../../workflow/retry.ts";

// A task with a longer pause for its rate asks again: a new deployment may allow more.
const MAX_RATE_PAUSE_MS = 60_000;

/** A task in hand goes on in another form, or under another version of its chart: it is given back as if it had never been taken. */
export class TaskMovedError extends Error {
  override readonly name = "TaskMovedError";
}

/** A task cannot begin yet: it waits, and has not failed. */
export class TaskWaitsError extends Error {
  override readonly name = "TaskWaitsError";
  /** The limit or rate that the task waits for. */
  readonly key: string;
  readonly waitMs: number;
  /** Whether the task keeps its room in the key until then; its place here is free. */
  readonly keepsRoom: boolean;

  constructor({ key, waitMs, keepsRoom }: Pick<TaskWaitsError, "key" | "waitMs" | "keepsRoom">) {
    super(`${key} is full for ${waitMs} ms`);
    this.key = key;
    this.waitMs = waitMs;
    this.keepsRoom = keepsRoom;
  }
}

export interface HeldTaskParts extends EngineContext {
  /** Does one task. Throws when it has to be tried again later. */
  readonly perform: (task: ClaimedTask, lease: TaskLease) => Promise<void>;
  readonly retryOf: (task: ClaimedTask) => RetryPolicy;
  readonly random: Random;
  /** Called after each task has left the hand: done, or to be done again. */
  readonly onEnded: (task: ClaimedTask, isDone: boolean) => void;
}

type ReleaseManner = Pick<
  Parameters<EngineStorage["release"]>[0],
  "error" | "isFinal" | "keepsRoom" | "rateKey"
>;

type Due = Omit<Parameters<EngineStorage["release"]>[0], "id" | "token">;

interface InHand {
  readonly task: ClaimedTask;
  readonly lease: TaskLease;
  hasPlace: boolean;
  /** Whether `letGo` has given the task back. Its run may go on. */
  isGivenBack: boolean;
  done: Promise<void>;
}

const NOT_BEGUN = Promise.resolve();

export class HeldTaskList {
  readonly #around: HeldTaskParts;
  readonly #inHand = new Map<string, InHand>();
  readonly #taken: Record<QueueName, number> = { steps: 0, free: 0, limited: 0 };
  /** Runs that are not over, including runs whose task was claimed again meanwhile. */
  #running = 0;
  /** The number of running invocations: most commits disarm timers only, and need not search. */
  #invocations = 0;
  /** Leases are kept until the last task in hand has ended, which is later than the last one is taken. */
  readonly #heartbeats: Loop;
  /** Whether the last heartbeat has left no lease in doubt. */
  #isKept = true;

  constructor(around: HeldTaskParts) {
    this.#around = around;
    this.#heartbeats = new Loop({
      ...around,
      round: () => this.#sendHeartbeat(),
      pauseMs: () => this.#heartbeatPauseMs(),
      failure: "leases could not be extended",
    });
  }

  get isEmpty(): boolean {
    return this.#running === 0;
  }

  get taken(): Readonly<Record<QueueName, number>> {
    return this.#taken;
  }

  /** The queue of this task; undefined when it is not in hand. */
  queueOf(id: string | undefined): QueueName | undefined {
    const held = this.#inHand.get(id ?? "");
    return held && queueOf(held.task);
  }

  /** The ends of the messages in hand that this instance has sent, or that go to it or to its children. */
  messagesOf(instance: string): Promise<void>[] {
    return [...this.#inHand.values()].flatMap(({ task, done }) => {
      if (task.kind !== "message") return [];
      const isOfFamily = task.instance === instance || task.instance.startsWith(`${instance}/`);
      return isOfFamily || task.id.startsWith(`${instance}:`) ? done : [];
    });
  }

  /** The end of this task is committed: its place is free, though it may still be in hand for a moment. */
  leavePlace(id: string | undefined): void {
    const held = this.#inHand.get(id ?? "");
    if (held !== undefined) this.#leave(held);
  }

  /**
   * Does a task whose lease is ours since `leasedAt`, by the elapsed time of the clock; when it fails it is given back and
   * comes back after a backoff.
   */
  begin(task: ClaimedTask, leasedAt: number): void {
    // Claimed again while in hand: its lease ran out unnoticed, as in a process that was frozen for a while.
    this.#inHand.get(task.id)?.lease.lose();
    const held: InHand = {
      task,
      lease: new TaskLease(this.#around, leasedAt),
      hasPlace: true,
      isGivenBack: false,
      done: NOT_BEGUN,
    };
    this.#running += 1;
    if (task.kind === "invocation") this.#invocations += 1;
    this.#taken[queueOf(task)] += 1;
    this.#inHand.set(task.id, held);
    const begunAt = this.#around.clock.now();
    held.done = this.#do(held).then((outcome) => this.#ended(held, begunAt, outcome));
  }

  /** Aborts what a durable commit has disarmed of the invocations in hand. */
  disarm({ disarms = [], ends = [], arms = [] }: Pick<Commit<unknown>, "disarms" | "ends" | "arms">): void {
    if (this.#invocations === 0 || (disarms.length === 0 && ends.length === 0)) return;
    for (const { task, lease } of [...this.#inHand.values()]) {
      // A state that is left and entered again arms one of the same name, which is in hand already.
      if (task.kind !== "invocation" || arms.some((armed) => armed.task.id === task.id)) continue;
      const isDisarmed =
        ends.includes(task.instance) ||
        disarms.some(({ instance, timer }) => instance === task.instance && timer === task.name);
      if (isDisarmed) lease.disarm();
    }
  }

  /** Gives a task back as if it had never been taken, if the storage answers. Never rejects. */
  async giveBack(task: ClaimedTask): Promise<void> {
    await this.#released(task, { dueAt: this.#around.clock.now(), delayMs: 0 }, "error");
  }

  keepLeases(): void {
    this.#heartbeats.run(this.#around.leaseMs / 3);
  }

  /** Waits up to `timeoutMs` for everything in hand, then gives back what is left and lets the leases go. */
  async letGo(timeoutMs: number): Promise<void> {
    const finished = Promise.allSettled([...this.#inHand.values()].map(({ done }) => done));
    const patience = new AbortController();
    await Promise.race([finished, this.#around.clock.sleep(timeoutMs, patience.signal)]);
    patience.abort();
    await this.#heartbeats.stop();
    const left = [...this.#inHand.values()];
    for (const held of left) {
      held.isGivenBack = true;
      held.lease.lose();
    }
    await Promise.all(left.map(({ task }) => this.giveBack(task)));
  }

  /** Does a task, and resolves with the outcome. Never rejects. */
  async #do(held: InHand): Promise<TaskEndedEvent["outcome"]> {
    const { task, lease } = held;
    const { perform, retryOf, random, log } = this.#around;
    try {
      if (isTurnOver()) await nextTurn();
      await perform(task, lease);
      return "done";
    } catch (thrown) {
      const error = withoutTraps(thrown);
      // Many tasks may fail one after the other without waiting for anything: timers and requests get their turn between them.
      await new Promise(setImmediate);
      if (held.isGivenBack) return "given_back"; // and that is no failure
      if (lease.isDisarmed) return "done"; // its row is gone
      // An error after a lost lease is no failure: the task is held by a different process, or waits for one.
      if (error instanceof TaskMovedError || lease.isLost) {
        await this.#release(task, 0);
        return "given_back";
      }
      if (error instanceof TaskWaitsError) {
        // With a room of the first of two keys it would keep out others of that key, which have a place.
        const keepsRoom = error.keepsRoom && task.limits.length <= 1;
        const room = keepsRoom ? ({ keepsRoom } as const) : {};
        await this.#release(task, Math.min(error.waitMs, MAX_RATE_PAUSE_MS), { ...room, rateKey: error.key });
        return "given_back";
      }
      const { id, name, instance, failures } = task;
      const fields = { task: id, instance, name, err: error };
      if (error instanceof StorageUnusable || error instanceof CommitUnknown) {
        // A task that waits for the database has not failed. It may be a database of the task's own, of which nothing else
        // tells. If the answer of an end was lost, the end is unknown: the token decides whether the task is still there.
        log.warn(fields, "a task waits for a database");
        await this.#release(task, pauseMs(DEFAULT_RETRY, 0, random));
        return "given_back";
      }
      // The stored message is read by people whom a secret in it is not meant for, like a log.
      const message = redactionOf(log)(thrownText(error));
      const policy = retryOf(task);
      if (failures >= policy.atMost || isOver(task, error)) {
        log.warn(fields, "a task failed for good");
        await this.#release(task, 0, { error: message, isFinal: true });
        return "failed";
      }
      // A warning once for each task: afterwards the task is listed with its last error until it is done.
      if (failures === 0) log.warn(fields, "a task failed and will be tried again");
      else log.debug(fields, "a task failed again");
      await this.#release(task, pauseMs(policy, failures, random), { error: message });
      return "failed";
    }
  }

  #ended(held: InHand, begunAt: number, outcome: TaskEndedEvent["outcome"]): void {
    const { clock, onEnded } = this.#around;
    const { task } = held;
    taskEnded.publish(() => ({
      workflow: task.workflow,
      kind: task.kind,
      name: nameWithoutId(task),
      outcome,
      // A wall clock may be set back meanwhile.
      durationMs: Math.max(0, clock.now() - begunAt),
      lateMs: Math.max(0, begunAt - task.dueAt),
    }));
    if (this.#inHand.get(task.id) === held) this.#inHand.delete(task.id);
    this.#running -= 1;
    if (task.kind === "invocation") this.#invocations -= 1;
    this.#leave(held);
    onEnded(task, outcome === "done");
  }

  #leave(held: InHand): void {
    if (!held.hasPlace) return;
    held.hasPlace = false;
    this.#taken[queueOf(held.task)] -= 1;
  }

  /**
   * Gives a task back, due again after this time, once the storage answers: until then the process keeps the task under its
   * lease. One that was left to the end of its lease would count as the task of a vanished holder.
   */
  async #release(task: ClaimedTask, delayMs: number, how: ReleaseManner = {}): Promise<void> {
    const { clock, leaseMs } = this.#around;
    const { signal } = this.#heartbeats;
    const due = { dueAt: clock.now() + delayMs, delayMs, ...how };
    // A database may be unable to store the text of an error.
    const bare = how.error === undefined ? [] : [{ ...due, error: "an error whose text cannot be stored" }];
    let level: "error" | "debug" = "error";
    for (;;) {
      for (const each of [due, ...bare]) {
        const fault = await this.#released(task, each, level);
        if (fault === null) return;
        level = "debug";
        if (fault instanceof StorageUnusable) break;
      }
      if (signal.aborted) return;
      await clock.sleep(leaseMs / 10, signal);
    }
  }

  /** Null where it is given back, else why not. */
  async #released({ id, token }: ClaimedTask, due: Due, level: "error" | "debug"): Promise<unknown> {
    const { storage, log } = this.#around;
    try {
      await storage.release({ id, token, ...due });
      return null;
    } catch (err) {
      log[level]({ task: id, err }, "a task could not be given back");
      return err;
    }
  }

  /** Extends each lease, or loses it. */
  async #sendHeartbeat(): Promise<void> {
    const inHand = [...this.#inHand.values()];
    this.#isKept = inHand.length === 0;
    if (this.#isKept) return;
    const { storage, clock, holder, leaseMs } = this.#around;
    const tasks = inHand.map(({ task: { id, token } }) => ({ id, token }));
    const askedAt = elapsed(clock);
    let left = inHand;
    const answered = new AbortController();
    // A storage that says nothing at all: the leases end while it is asked.
    void this.#loseAsTheyEnd(inHand, answered.signal);
    try {
      const { lost, unseen } = await storage.heartbeat({ holder, tasks, now: clock.now(), leaseMs });
      for (const { task, lease } of inHand) if (lost.includes(task.id)) lease.lose();
      left = inHand.filter(({ task }) => unseen.includes(task.id));
      for (const held of inHand) if (!left.includes(held)) held.lease.extendedAt = askedAt;
    } finally {
      answered.abort();
      for (const { lease } of left) lease.loseEnded();
      this.#isKept = left.length === 0;
    }
  }

  /**
   * After a miss the next heartbeat comes sooner: neither a short outage nor a locked row is to end a lease. The last one
   * comes as the first lease ends.
   */
  #heartbeatPauseMs(): number {
    const { leaseMs } = this.#around;
    return this.#isKept ? leaseMs / 3 : Math.min(leaseMs / 10, this.#leftMs([...this.#inHand.values()]));
  }

  async #loseAsTheyEnd(inHand: readonly InHand[], answered: AbortSignal): Promise<void> {
    for (let left = inHand; left.length > 0; left = left.filter(({ lease }) => !lease.isLost)) {
      await this.#around.clock.sleep(this.#leftMs(left), answered);
      if (answered.aborted) return;
      for (const { lease } of left) lease.loseEnded();
    }
  }

  /** Until the first of these leases ends; of what has ended unnoticed, as in a frozen process, a tenth of a lease more. */
  #leftMs(inHand: readonly InHand[]): number {
    const leftMs = Math.min(...inHand.map(({ lease }) => lease.leftMs));
    return leftMs > 0 ? leftMs : this.#around.leaseMs / 10;
  }
}

/** Charts may compute the ids of delayed events and of actors for each instance: what is published holds none of them. */
function nameWithoutId({ kind, name, payload }: ClaimedTask): string {
  switch (kind) {
    case "effect":
      return name;
    case "invocation":
      return invocationFromText(payload).src;
    case "timer":
    case "message":
      return kind;
  }
}
