/** The tasks this process is doing now: each under a lease that is kept alive, and given back when it cannot be done. */
import type { ClaimedTask, Commit, EngineStorage, QueueName } from "../../storage/storage.ts";
import { CommitUnknown } from "../../storage/decided.ts";
import { StorageUnusable } from "../../storage/storage-unusable.ts";
import { queueOf } from "../../storage/task-queues.ts";
import { taskEnded, type TaskEndedEvent } from "../diagnostics.ts";
import { redactionOf } from "../redacting-log.ts";
import { isTurnOver, nextTurn } from "../runtime.ts";
import { thrownText, withoutTraps } from "../thrown.ts";
import type { EngineContext } from "./engine-context.ts";
import { RateFullError } from "./rate-limit.ts";
import { TaskLease } from "./task-lease.ts";
import { invocationFromText } from "../workflow/invocation-task.ts";

// A task that throws comes back after 1 s, 2 s, 4 s … and never later than a minute: what it waits for may be back.
const FIRST_BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 60_000;
// What waits longer for its rate asks again: a new deployment may allow more.
const MAX_RATE_PAUSE_MS = 60_000;

/** A task in hand belongs to another version of its chart by now: it is given back as if it had never been taken. */
export class TaskMovedError extends Error {
  override readonly name = "TaskMovedError";
}

export interface HeldTaskParts extends EngineContext {
  /** Does one task. Throws when it has to be tried again later. */
  readonly perform: (task: ClaimedTask, hold: TaskLease) => Promise<void>;
  /** Called after each task has left the hand: done, or to be done again. */
  readonly onEnded: (task: ClaimedTask, isDone: boolean) => void;
}

type ReleaseManner = Pick<Parameters<EngineStorage["release"]>[0], "error" | "keepsRoom" | "rateKey">;

interface InHand {
  readonly task: ClaimedTask;
  readonly hold: TaskLease;
  hasPlace: boolean;
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
  #isLettingGo = false;
  /** Leases are kept until the last task in hand has ended, which is later than the last one is taken. */
  #leases = new AbortController();
  #keeping: Promise<void> = Promise.resolve();

  constructor(around: HeldTaskParts) {
    this.#around = around;
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

  /** The end of this task is committed: its place is free, though it may still be in hand for a moment. */
  leavePlace(id: string | undefined): void {
    const held = this.#inHand.get(id ?? "");
    if (held !== undefined) this.#leave(held);
  }

  /** Does a task whose lease is ours; when it fails it is given back and comes back after a backoff. */
  begin(task: ClaimedTask): void {
    // Claimed again while in hand: its lease ran out unnoticed, as in a process that was frozen for a while.
    this.#inHand.get(task.id)?.hold.lose();
    const held: InHand = { task, hold: new TaskLease(), hasPlace: true, done: NOT_BEGUN };
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
    for (const { task, hold } of [...this.#inHand.values()]) {
      // A state that is left and entered again arms one of the same name, which is in hand already.
      if (task.kind !== "invocation" || arms.some((armed) => armed.task.id === task.id)) continue;
      const isDisarmed =
        ends.includes(task.instance) ||
        disarms.some(({ instance, timer }) => instance === task.instance && timer === task.name);
      if (isDisarmed) hold.disarm();
    }
  }

  /** Gives a task back as if it had never been taken. Never rejects. */
  giveBack(task: ClaimedTask): Promise<void> {
    return this.#release(task, 0);
  }

  keepLeases(): void {
    this.#isLettingGo = false;
    this.#leases = new AbortController();
    this.#keeping = this.#sendHeartbeats(this.#leases.signal);
  }

  /** Waits up to `timeoutMs` for everything in hand, then gives back what is left and lets the leases go. */
  async letGo(timeoutMs: number): Promise<void> {
    this.#isLettingGo = true;
    const finished = Promise.allSettled([...this.#inHand.values()].map(({ done }) => done));
    const patience = new AbortController();
    await Promise.race([finished, this.#around.clock.sleep(timeoutMs, patience.signal)]);
    patience.abort();
    this.#leases.abort();
    await this.#keeping;
    const left = [...this.#inHand.values()];
    for (const { hold } of left) hold.lose();
    await Promise.all(left.map(({ task }) => this.giveBack(task)));
  }

  /** Does a task, and resolves with the outcome. Never rejects. */
  async #do({ task, hold }: InHand): Promise<TaskEndedEvent["outcome"]> {
    const { perform, log } = this.#around;
    try {
      if (isTurnOver()) await nextTurn();
      await perform(task, hold);
      return "done";
    } catch (thrown) {
      const error = withoutTraps(thrown);
      // Many tasks may fail one after the other without waiting for anything: timers and requests get their turn between them.
      await new Promise(setImmediate);
      if (hold.isLost && this.#isLettingGo) return "given_back"; // by `letGo`, and that is no failure
      if (hold.isDisarmed) return "done"; // its row is gone
      // An error after a lost lease is no failure: the task is held by a different process, or waits for one. Of an end
      // whose answer was lost nothing is known: the token decides whether the task is still there.
      if (error instanceof TaskMovedError || error instanceof CommitUnknown || hold.isLost) {
        await this.giveBack(task);
        return "given_back";
      }
      if (error instanceof RateFullError) {
        // With a room of the first of two keys it would keep out others of that key, which have a place.
        const keepsRoom = error.keepsRoom && task.limits.length <= 1;
        const room = keepsRoom ? ({ keepsRoom } as const) : {};
        await this.#release(task, Math.min(error.waitMs, MAX_RATE_PAUSE_MS), { ...room, rateKey: error.key });
        return "given_back";
      }
      const { id, name, instance, failures } = task;
      const fields = { task: id, instance, name, err: error };
      if (error instanceof StorageUnusable) {
        // What waits for the database has not failed. It may be a database of the task's own, of which nothing else tells.
        log.warn(fields, "a task waits for a database");
        await this.#release(task, FIRST_BACKOFF_MS);
        return "given_back";
      }
      // A warning once for each task: afterwards the task is listed with its last error until it is done.
      if (failures === 0) log.warn(fields, "a task failed and will be tried again");
      else log.debug(fields, "a task failed again");
      const backoff = Math.min(FIRST_BACKOFF_MS * 2 ** failures, MAX_BACKOFF_MS);
      // The stored message is read by people whom a secret in it is not meant for, like a log.
      const message = redactionOf(log)(thrownText(error));
      await this.#release(task, backoff, { error: message });
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

  async #release({ id, token }: ClaimedTask, delayMs: number, how: ReleaseManner = {}): Promise<void> {
    const { storage, log, clock } = this.#around;
    const dueAt = clock.now() + delayMs;
    try {
      await storage.release({ id, token, dueAt, delayMs, ...how });
    } catch (err) {
      // Then the lease runs out by itself and the task is claimed again all the same.
      log.error({ task: id, err }, "a task could not be given back");
    }
  }

  async #sendHeartbeats(signal: AbortSignal): Promise<void> {
    const { storage, clock, log, holder, leaseMs } = this.#around;
    let isKept = true;
    while (!signal.aborted) {
      // Where the storage did not answer it is asked sooner, so that a short outage ends no lease.
      await clock.sleep(isKept ? leaseMs / 3 : leaseMs / 10, signal);
      isKept = true;
      const tasks = [...this.#inHand.values()].map(({ task: { id, token } }) => ({ id, token }));
      if (tasks.length === 0 || signal.aborted) continue;
      try {
        const lost = await storage.heartbeat({ holder, tasks, now: clock.now(), leaseMs });
        for (const id of lost) this.#inHand.get(id)?.hold.lose();
      } catch (err) {
        isKept = false;
        if (!signal.aborted) log.error({ err }, "leases could not be extended");
      }
    }
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
