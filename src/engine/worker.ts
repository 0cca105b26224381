/** Finds due tasks and takes a bounded number of them in hand; rests exactly until there is more to do. */
import type { Commit, EngineStorage } from "../../storage/storage.ts";
import type { Clock, Logger } from "../runtime.ts";
import type { PerformTask } from "./perform-task.ts";
import { createDeadLetterReport } from "./report-dead-letters.ts";
import type { Hands, Places } from "./steps.ts";
import { createTasksInHand } from "./tasks-in-hand.ts";

/** How a worker divides its time; every field has a default in `createEngine`. */
export interface WorkerLimits {
  /** Tasks without a lane in hand at once. */
  readonly slots: number;
  /** Tasks with a lane in hand at once, so that slow receivers never take the places of payments. */
  readonly lanedSlots: number;
  readonly leaseMs: number;
  /** The longest time between two looks at the storage; also how late work of another process may be seen. */
  readonly pollMs: number;
  readonly maxCrashes: number;
}

export interface Worker {
  readonly hands: Hands;
  run(): void;
  /** Takes nothing new, waits up to `timeoutMs` for the work in hand, then gives back what is left. */
  stop(timeoutMs: number): Promise<void>;
  /** Aborts what a durable commit has disarmed of the invocations in hand. */
  disarm(commit: Pick<Commit<unknown>, "disarms" | "ends" | "arms">): void;
  /** Resolves when nothing is due and nothing is in hand. */
  quiet(): Promise<void>;
  /** Another process may have made something due. */
  wake(): void;
}

// A task is set aside only after several leases have run out over it: nobody waits for this by the second.
const DEAD_LETTER_LOOK_MS = 60_000;

// Handed to every abort of a sleep: a reason of its own for each would cost more than the sleep.
const AWAKE = "awake";

const NO_PLACES: Places = { count: 0, fill() {}, giveUp() {} };

export function createWorker({
  storage,
  clock,
  log,
  holder,
  workflowKeys,
  limits,
  perform,
}: {
  readonly storage: EngineStorage;
  readonly clock: Clock;
  readonly log: Logger;
  readonly holder: string;
  readonly workflowKeys: readonly string[];
  readonly limits: WorkerLimits;
  readonly perform: PerformTask;
}): Worker {
  let reserved = 0;
  let running: AbortController | null = null;
  let working: Promise<unknown> = Promise.resolve();
  let stopped: Promise<void> = Promise.resolve();
  /** When the earliest task that this process knows of is due; `unknown` after anything that may have changed it. */
  let nextDue: number | null | "unknown" = "unknown";
  /** Whether due tasks without a lane may be waiting in the storage for a place here. */
  let crowded = false;
  let woken = false;
  let wakeUp: () => void = () => {};
  const quietWaiters: (() => void)[] = [];

  const wake = (): void => {
    woken = true;
    wakeUp();
  };

  const mayBeDue = (): boolean => nextDue === "unknown" || (nextDue !== null && nextDue <= clock.now());

  const inHand = createTasksInHand({
    storage,
    clock,
    log,
    leaseMs: limits.leaseMs,
    perform,
    onEnded(task, isDone) {
      // A task that is done leaves a place and nothing else; one given back, or a slot of its lane, makes others due.
      if (!isDone || task.lane !== null) nextDue = "unknown";
      if (mayBeDue() || quietWaiters.length > 0) wake();
    },
  });
  const freePlaces = (): { free: number; laned: number } => {
    const { free, laned } = inHand.taken();
    return { free: limits.slots - reserved - free, laned: limits.lanedSlots - laned };
  };

  const claim = async (): Promise<number> => {
    const { free, laned } = freePlaces();
    if (free <= 0) crowded = true;
    if (free <= 0 && laned <= 0) return 0;
    const { leaseMs, maxCrashes } = limits;
    const tasks = await storage.claim({
      holder,
      now: clock.now(),
      leaseMs,
      workflows: workflowKeys,
      free: Math.max(0, free),
      laned: Math.max(0, laned),
      maxCrashes,
    });
    if (running === null) {
      // Stopped while the claim was on its way: nobody would wait for these.
      await Promise.all(tasks.map((task) => inHand.giveBack(task)));
      return 0;
    }
    if (free > 0) crowded = tasks.filter(({ lane }) => lane === null).length >= free;
    for (const task of tasks) inHand.begin(task);
    return tasks.length;
  };

  /** How long nothing will be due, as far as this process knows. */
  const restMs = async (): Promise<number> => {
    const { free, laned } = freePlaces();
    // Without a place there was no claim, and so no look at what others have armed.
    if (free <= 0 || laned <= 0) nextDue = "unknown";
    if (nextDue === "unknown") {
      const found = await storage.nextDue(workflowKeys);
      if (woken) return 0; // something was armed while we asked; the answer may be from before it
      nextDue = found;
    }
    if (nextDue === null) return limits.pollMs;
    const wait = nextDue - clock.now();
    if (wait > 0) return Math.min(wait, limits.pollMs);
    nextDue = "unknown";
    // Something is due that we had no place for, or that another process took first.
    return free <= 0 || laned <= 0 ? limits.pollMs : 1;
  };

  const rest = async (ms: number, signal: AbortSignal): Promise<void> => {
    if (woken) return;
    const asleep = new AbortController();
    const stopSleeping = (): void => asleep.abort(AWAKE);
    wakeUp = stopSleeping;
    signal.addEventListener("abort", stopSleeping, { once: true });
    if (!signal.aborted) await clock.sleep(ms, asleep.signal);
    signal.removeEventListener("abort", stopSleeping);
    wakeUp = () => {};
  };

  const work = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      woken = false;
      let ms = limits.pollMs;
      try {
        if ((await claim()) > 0) {
          nextDue = "unknown";
          continue;
        }
        ms = await restMs();
      } catch (err) {
        log.error({ err }, "the storage could not be asked for work");
      }
      if (!woken && inHand.isEmpty() && reserved === 0) {
        for (const resolve of quietWaiters.splice(0)) resolve();
      }
      await rest(ms, signal);
    }
  };

  const reportDeadLetters = createDeadLetterReport(storage, log);
  const keepReporting = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      // A storage that cannot be asked is logged by those who need an answer.
      await reportDeadLetters().catch(() => {});
      if (!signal.aborted) await clock.sleep(DEAD_LETTER_LOOK_MS, signal);
    }
  };

  const finish = async (stopping: AbortController, timeoutMs: number): Promise<void> => {
    running = null;
    stopping.abort();
    wake();
    await working;
    await inHand.letGo(timeoutMs);
    for (const resolve of quietWaiters.splice(0)) resolve();
  };

  return {
    wake,
    disarm: (commit) => inHand.disarm(commit),
    hands: {
      holder,
      leaseMs: limits.leaseMs,
      reserve(wanted, ending) {
        if (running === null) return NO_PLACES;
        // A task leaves its place to what follows from it, unless something else may be waiting for one.
        const inherited = wanted > 0 && !crowded && inHand.isWithoutLane(ending) ? 1 : 0;
        const free = Math.min(wanted - inherited, Math.max(0, freePlaces().free));
        const count = inherited + free;
        if (count < wanted) crowded = true;
        reserved += free;
        const giveUp = (): void => {
          reserved -= free;
        };
        return {
          count,
          giveUp,
          fill(tasks) {
            giveUp();
            inHand.leavePlace(ending);
            for (const task of tasks) {
              // Stopped while the commit was on its way: nobody would wait for these.
              if (running === null) void inHand.giveBack(task);
              else inHand.begin(task);
            }
          },
        };
      },
      dueAt(time) {
        if (nextDue === "unknown" || (nextDue !== null && nextDue <= time)) {
          if (nextDue === "unknown") wake();
          return;
        }
        nextDue = time;
        wake();
      },
    },

    run() {
      if (running !== null) return;
      running = new AbortController();
      inHand.keepLeases();
      working = Promise.all([work(running.signal), keepReporting(running.signal)]);
    },

    stop(timeoutMs) {
      if (running !== null) stopped = finish(running, timeoutMs);
      return stopped;
    },

    quiet() {
      if (running === null) return Promise.resolve();
      return new Promise((resolve) => {
        quietWaiters.push(resolve);
        nextDue = "unknown";
        wake();
      });
    },
  };
}
