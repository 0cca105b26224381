/** Finds due tasks and takes a bounded number of them in hand; rests exactly until there is more to do. */
import { commitOne } from "../../../storage/decided.ts";
import type { ArmLease, ClaimedTask, Commit, TaskRecord } from "../../../storage/storage.ts";
import { QUEUES } from "../../../storage/task-queues.ts";
import { elapsed } from "../../core/runtime.ts";
import type { EngineContext } from "./engine-context.ts";
import { Loop } from "./loop.ts";
import { OutageGuard } from "./outage-guard.ts";
import { QueueSemaphore, type Reservation, type WorkerLimits } from "./queue-semaphore.ts";
import type { WorkflowRegistry } from "../../workflow/workflow-registry.ts";
import { TroubleReport } from "./report-troubles.ts";
import { HeldTaskList, type HeldTaskParts } from "./held-task-list.ts";
import type { ChartCheck } from "./stored-charts.ts";
import { Upkeep, UPKEEP_EVERY_MS } from "./upkeep.ts";

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
  "lease" | "takes" | "reserve" | "fill" | "giveUp" | "dueAt" | "untilTold"
>;

export class Worker {
  readonly #around: WorkerParts;
  readonly #inHand: HeldTaskList;
  readonly #places: QueueSemaphore;
  /** Woken by everything that may have made something due. */
  readonly #looks: Loop;
  readonly #loops: readonly Loop[];
  readonly #outage: OutageGuard;
  readonly #quietWaiters: (() => void)[] = [];
  readonly #lookWaiters: (() => void)[] = [];
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
    const { clock, leaseMs, limits, workflows } = around;
    this.#around = around;
    this.#inHand = new HeldTaskList({ ...around, onEnded: (task, isDone) => this.#ended(task, isDone) });
    this.#places = new QueueSemaphore(limits, this.#inHand);
    this.#outage = new OutageGuard(leaseMs);
    const troubles = new TroubleReport(around, () => workflows.claims);
    const upkeep = new Upkeep(around, () => this.wake());
    const loop = (work: string, everyMs: number, round: () => Promise<number | void>): Loop =>
      new Loop({
        ...around,
        round,
        pauseMs: () => everyMs,
        failure: `the storage could not be asked ${work}`,
      });
    this.#looks = loop("for work", limits.pollMs, () => this.#look());
    const reports = loop("what nobody does", REPORT_EVERY_MS, () => troubles.update(clock.now()));
    this.#loops = [this.#looks, reports, loop("for its clock", UPKEEP_EVERY_MS, () => upkeep.look())];
  }

  /** While it runs, again: there may be more that is taken in hand. */
  run(): void {
    if (this.#looks.isRunning) return this.wake();
    // Work that the last stop still holds is given back first.
    if (this.#isFinishing) this.#runsBehind = true;
    else this.#begin();
  }

  #begin(): void {
    this.#inHand.keepLeases();
    for (const loop of this.#loops) loop.run();
  }

  /** Takes nothing new, waits up to `timeoutMs` for the work in hand, then gives back what is left. */
  stop(timeoutMs: number): Promise<void> {
    this.#runsBehind = false;
    if (this.#looks.isRunning) this.#stopped = this.#finish(timeoutMs);
    return this.#stopped;
  }

  quiet(): Promise<void> {
    if (!this.#looks.isRunning) return Promise.resolve();
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
    if (!this.#looks.isRunning) return Promise.resolve();
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
    this.#looks.wake();
  }

  disarm(commit: Pick<Commit<unknown>, "disarms" | "ends" | "arms">): void {
    this.#inHand.disarm(commit);
  }

  takes(workflow: string): boolean {
    return this.#looks.isRunning && this.#around.workflows.taken.includes(workflow);
  }

  /** Keeps places for as many due tasks as this process takes at once; the task `ending` leaves its place to a due task. */
  reserve(due: readonly TaskRecord[], ending: string | undefined): Reservation {
    const takeable = this.#looks.isRunning ? this.#around.workflows.takenAmong(due) : [];
    return this.#places.reserve(takeable, ending, elapsed(this.#around.clock));
  }

  /**
   * The lease of what a commit takes in hand, from now on: the lease is asked for after `reserve`, so that this process never
   * overestimates it.
   */
  lease(): ArmLease {
    const { clock, holder, leaseMs } = this.#around;
    return { holder, until: clock.now() + leaseMs, leaseMs };
  }

  /** The commit is durable: the ending task leaves its place, the leased tasks are begun; no more than were reserved. */
  fill(reserved: Reservation, tasks: readonly ClaimedTask[]): void {
    this.#places.release(reserved);
    this.#inHand.leavePlace(reserved.ending);
    for (const task of tasks) {
      // Stopped while the commit was on its way: no loop would wait for these.
      if (this.#looks.isRunning) this.#inHand.begin(task, reserved.at);
      else void this.#inHand.giveBack(task);
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

  /** One look for work; 0 where there may be more. */
  async #look(): Promise<number> {
    const waiters = this.#lookWaiters.splice(0);
    let ms: number = this.#around.limits.pollMs;
    try {
      ms = await this.#taken();
      return ms;
    } catch (err) {
      this.#outage.missed(elapsed(this.#around.clock));
      throw err;
    } finally {
      for (const resolve of waiters) resolve();
      const isQuiet = !this.#looks.isWoken && this.#inHand.isEmpty && !this.#places.hasReserved;
      if (ms > 0 && isQuiet) this.#tellQuiet();
    }
  }

  /** Takes in hand what is due, and resolves with the pause behind that. */
  async #taken(): Promise<number> {
    const outageMs = await this.#outageMs();
    if (outageMs > 0) return outageMs;
    if (this.#asksFirst || (await this.#claim()) === 0) return this.#restMs();
    this.#nextDue = "unknown";
    this.#missed = 0;
    return 0;
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
    if (!this.#looks.isRunning) {
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
    // The due time of a waiting task does not tell when other tasks are due.
    if (this.#isFull || !hasClaimed) this.#nextDue = "unknown";
    if (this.#nextDue === "unknown") {
      const found = await storage.nextDue(workflows.taken, open);
      if (this.#looks.isWoken) return 0; // something was armed while we asked; the answer may be from before it
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

  async #finish(timeoutMs: number): Promise<void> {
    this.#isFinishing = true;
    this.#asksFirst = false;
    await Promise.all(this.#loops.map((loop) => loop.stop()));
    for (const resolve of this.#lookWaiters.splice(0)) resolve();
    await this.#inHand.letGo(timeoutMs);
    this.#isFinishing = false;
    this.#tellQuiet();
    if (!this.#runsBehind) return;
    this.#runsBehind = false;
    this.#begin();
  }
}
