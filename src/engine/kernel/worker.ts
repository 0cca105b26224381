/** Finds due tasks and takes a bounded number of them in hand; rests exactly until there is more to do. */
import { commitOne } from "../../../storage/decided.ts";
import type { ClaimedTask, Commit, TaskRecord } from "../../../storage/storage.ts";
import { QUEUES } from "../../../storage/task-queues.ts";
import { elapsed, isTurnOver, nextTurn } from "../../runtime.ts";
import type { EngineContext } from "./engine-context.ts";
import type { WorkerLimits } from "./worker-limits.ts";
import { OutageGuard } from "./outage-guard.ts";
import { Pause } from "./pause.ts";
import { QueueSemaphore, type Reservation } from "./queue-semaphore.ts";
import type { WorkflowRegistry } from "../../workflow/workflow-registry.ts";
import { TroubleReport } from "./report-troubles.ts";
import { HeldTaskList, type HeldTaskParts } from "./held-task-list.ts";
import type { ChartCheck } from "./stored-charts.ts";
import { UpkeepLoop } from "./upkeep-loop.ts";

interface WorkerParts extends EngineContext, Pick<HeldTaskParts, "perform" | "retryOf" | "random"> {
  readonly workflows: Pick<WorkflowRegistry, "claims" | "taken" | "takenAmong">;
  /** Compared with the stored ones before anything is claimed. */
  readonly charts: Pick<ChartCheck, "isDone" | "check">;
  readonly limits: WorkerLimits;
}

// A task becomes a dead letter only after several leases have ended: a minute more until it is logged does no harm.
const REPORT_EVERY_MS = 60_000;

/** The hands of this process: a commit can lease the tasks that it makes due to the process that commits it. */
export type LeasingWorker = Pick<
  Worker,
  "holder" | "leaseMs" | "takes" | "reserve" | "fill" | "giveUp" | "dueAt" | "untilTold"
>;

export class Worker {
  readonly holder: string;
  readonly leaseMs: number;
  readonly #around: WorkerParts;
  readonly #inHand: HeldTaskList;
  readonly #places: QueueSemaphore;
  /** Ended by everything that may have made something due. */
  readonly #pause: Pause;
  readonly #outage: OutageGuard;
  readonly #troubles: TroubleReport;
  readonly #quietWaiters: (() => void)[] = [];
  readonly #lookWaiters: (() => void)[] = [];
  /** Null while it does not run. */
  #stopping: AbortController | null = null;
  #working: Promise<unknown> = Promise.resolve();
  #stopped: Promise<void> = Promise.resolve();
  /** The due time of the earliest known task; `unknown` after an event that may have changed the time. */
  #nextDue: number | "unknown" = "unknown";
  /** The number of claims in a row that found no task although a task was due. */
  #missed = 0;
  /** Whether `#nextDue` leaves out tasks for which there was no place. */
  #isFull = false;
  /** Whether the next look asks when something is due, and claims only where it is: other processes may have armed timers. */
  #asksFirst = false;
  /** Whether a stop is under way, and whether it is to run again behind that. */
  #isFinishing = false;
  #runsBehind = false;

  constructor(around: WorkerParts) {
    const { clock, holder, leaseMs, limits, workflows } = around;
    this.#around = around;
    this.holder = holder;
    this.leaseMs = leaseMs;
    this.#inHand = new HeldTaskList({ ...around, onEnded: (task, isDone) => this.#ended(task, isDone) });
    this.#places = new QueueSemaphore(limits, this.#inHand);
    this.#pause = new Pause(clock);
    this.#outage = new OutageGuard(leaseMs);
    this.#troubles = new TroubleReport(around, () => workflows.claims);
  }

  /** While it runs, again: there may be more that is taken in hand. */
  run(): void {
    if (this.#stopping !== null) return this.wake();
    // What the stop before still has in hand is given back first.
    if (this.#isFinishing) this.#runsBehind = true;
    else this.#begin();
  }

  #begin(): void {
    this.#stopping = new AbortController();
    const { signal } = this.#stopping;
    this.#inHand.keepLeases();
    const upkeep = new UpkeepLoop(this.#around, () => this.wake()).run(signal);
    this.#working = Promise.all([this.#work(signal), this.#reportTroubles(signal), upkeep]);
  }

  /** Takes nothing new, waits up to `timeoutMs` for the work in hand, then gives back what is left. */
  stop(timeoutMs: number): Promise<void> {
    this.#runsBehind = false;
    if (this.#stopping !== null) this.#stopped = this.#finish(this.#stopping, timeoutMs);
    return this.#stopped;
  }

  quiet(): Promise<void> {
    if (this.#stopping === null) return Promise.resolve();
    return new Promise((resolve) => {
      this.#quietWaiters.push(resolve);
      this.wake();
    });
  }

  /**
   * Until the messages in hand of this instance and its children are taken, and those are in hand that have waited behind
   * them. Null where there are none.
   */
  untilTold(instance: string): Promise<void> | null {
    const messages = this.#inHand.messagesOf(instance);
    return messages.length === 0 ? null : Promise.all(messages).then(() => this.#looked());
  }

  /** Until it has looked for work once more. */
  #looked(): Promise<void> {
    if (this.#stopping === null) return Promise.resolve();
    return new Promise((resolve) => {
      this.#lookWaiters.push(resolve);
      this.wake();
    });
  }

  /** Another process, or a command, may have made something due, now or later. */
  wake(): void {
    this.#nextDue = "unknown";
    this.#endPause();
  }

  #endPause(): void {
    this.#asksFirst = false;
    this.#pause.end();
  }

  disarm(commit: Pick<Commit<unknown>, "disarms" | "ends" | "arms">): void {
    this.#inHand.disarm(commit);
  }

  takes(workflow: string): boolean {
    return this.#stopping !== null && this.#around.workflows.taken.includes(workflow);
  }

  /** Keeps places for as many due tasks as this process takes at once; the task `ending` leaves its place to a due task. */
  reserve(due: readonly TaskRecord[], ending: string | undefined): Reservation {
    const takeable = this.#stopping === null ? [] : this.#around.workflows.takenAmong(due);
    return this.#places.reserve(takeable, ending, elapsed(this.#around.clock));
  }

  /** The commit is durable: the ending task leaves its place, the leased tasks are begun; no more than were reserved. */
  fill(reserved: Reservation, tasks: readonly ClaimedTask[]): void {
    this.#places.release(reserved);
    this.#inHand.leavePlace(reserved.ending);
    for (const task of tasks) {
      // Stopped while the commit was on its way: no loop would wait for these.
      if (this.#stopping === null) void this.#inHand.giveBack(task);
      else this.#inHand.begin(task, reserved.at);
    }
  }

  giveUp(reserved: Reservation): void {
    this.#places.release(reserved);
    if (this.#isFull && reserved.free.length > 0) this.wake();
  }

  /** A task became due at this time and has no holder. */
  dueAt(time: number): void {
    if (this.#nextDue !== "unknown") {
      if (this.#nextDue <= time) return;
      this.#nextDue = time;
    }
    this.#endPause();
  }

  #ended({ crashes }: ClaimedTask, isDone: boolean): void {
    // A finished task only leaves a place, and its commit tells of what has room now; a task given back makes other tasks
    // due, and behind a suspect the next suspect waits.
    if (!isDone || crashes > 0 || this.#isFull) this.#nextDue = "unknown";
    const mayBeDue = this.#nextDue === "unknown" || this.#nextDue <= this.#around.clock.now();
    if (mayBeDue || this.#quietWaiters.length > 0) this.#endPause();
  }

  async #work(signal: AbortSignal): Promise<void> {
    const { clock, log, limits } = this.#around;
    while (!signal.aborted) {
      if (isTurnOver()) await nextTurn();
      this.#pause.reset();
      const waiters = this.#lookWaiters.splice(0);
      let ms = limits.pollMs;
      try {
        const outageMs = await this.#outageMs();
        if (outageMs === 0 && !this.#asksFirst && (await this.#claim()) > 0) {
          this.#nextDue = "unknown";
          this.#missed = 0;
          continue;
        }
        ms = outageMs > 0 ? outageMs : await this.#restMs();
      } catch (err) {
        this.#outage.missed(elapsed(clock));
        if (!signal.aborted) log.error({ err }, "the storage could not be asked for work");
      } finally {
        for (const resolve of waiters) resolve();
      }
      if (!this.#pause.isEnded && this.#inHand.isEmpty && !this.#places.hasReserved) this.#tellQuiet();
      await this.#pause.take(ms, signal);
    }
    for (const resolve of this.#lookWaiters.splice(0)) resolve();
  }

  /** The pause before the next claim in an outage, or 0. A commit alone proves its end: a standby answers reads. */
  async #outageMs(): Promise<number> {
    const { storage, clock } = this.#around;
    if (this.#outage.isOut) {
      await commitOne(storage, {});
      this.#outage.answered(elapsed(clock));
    }
    return this.#outage.restMs(elapsed(clock));
  }

  async #claim(): Promise<number> {
    const { free } = this.#places;
    if (QUEUES.every((queue) => free[queue] === 0)) {
      this.#places.claimed(free, []);
      return 0;
    }
    const { storage, clock, holder, leaseMs, workflows, charts, limits } = this.#around;
    if (!charts.isDone) await charts.check();
    const leasedAt = elapsed(clock);
    const tasks = await storage.claim({
      holder,
      now: clock.now(),
      leaseMs,
      workflows: workflows.taken,
      ...free,
      maxCrashes: limits.maxCrashes,
    });
    if (this.#stopping === null) {
      // Stopped while the claim was on its way: no loop would wait for these.
      await Promise.all(tasks.map((task) => this.#inHand.giveBack(task)));
      return 0;
    }
    this.#places.claimed(free, tasks);
    for (const task of tasks) this.#inHand.begin(task, leasedAt);
    return tasks.length;
  }

  async #restMs(): Promise<number> {
    const { storage, clock, workflows, limits } = this.#around;
    const hasClaimed = !this.#asksFirst;
    this.#asksFirst = false;
    const { free } = this.#places;
    const open = QUEUES.filter((queue) => free[queue] > 0);
    this.#isFull = open.length < QUEUES.length;
    // What waits for a place says nothing of when the others are due.
    if (this.#isFull || !hasClaimed) this.#nextDue = "unknown";
    if (this.#nextDue === "unknown") {
      const found = await storage.nextDue(workflows.taken, open);
      if (this.#pause.isEnded) return 0; // something was armed while we asked; the answer may be from before it
      this.#nextDue = found ?? Infinity;
    }
    const wait = this.#nextDue - clock.now();
    if (wait > 0) {
      this.#missed = 0;
      this.#asksFirst = hasClaimed && wait > limits.pollMs;
      return Math.min(wait, limits.pollMs);
    }
    this.#nextDue = "unknown";
    if (!hasClaimed) return 0;
    // Another process took it first, or something became due while we asked. A storage that tells of work again and again,
    // and gives none, is not asked on and on.
    this.#missed += 1;
    return Math.min(2 ** (this.#missed - 1), limits.pollMs);
  }

  #tellQuiet(): void {
    for (const resolve of this.#quietWaiters.splice(0)) resolve();
  }

  async #reportTroubles(signal: AbortSignal): Promise<void> {
    const { clock } = this.#around;
    while (!signal.aborted) {
      // A storage that cannot be read is logged by the loop that claims.
      await this.#troubles.update(clock.now()).catch(() => {});
      if (!signal.aborted) await clock.sleep(REPORT_EVERY_MS, signal);
    }
  }

  async #finish(stopping: AbortController, timeoutMs: number): Promise<void> {
    this.#stopping = null;
    this.#isFinishing = true;
    stopping.abort();
    this.#endPause();
    await this.#working;
    await this.#inHand.letGo(timeoutMs);
    this.#isFinishing = false;
    this.#tellQuiet();
    if (!this.#runsBehind) return;
    this.#runsBehind = false;
    this.#begin();
  }
}
