/** Claims due tasks, keeps their leases alive, and does them, a bounded number at a time. */
import type { ClaimedTask, EngineStorage } from "../../storage/storage.ts";
import type { Clock, Logger } from "../runtime.ts";
import type { PerformTask } from "./perform-task.ts";
import type { Hands } from "./steps.ts";

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
  /** Resolves when nothing is due and nothing is in hand. */
  quiet(): Promise<void>;
  /** Another process may have made something due. */
  wake(): void;
  /** Tasks in hand now. */
  inHand(): number;
}

interface InHand {
  readonly task: ClaimedTask;
  readonly abort: AbortController;
  readonly done: Promise<void>;
}

// A task that throws comes back after 1 s, 2 s, 4 s … and never later than a minute: what it waits for may be back.
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

export function createWorker<W>({
  storage,
  clock,
  log,
  holder,
  workflowKeys,
  limits,
  perform,
}: {
  readonly storage: EngineStorage<W>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly holder: string;
  readonly workflowKeys: readonly string[];
  readonly limits: WorkerLimits;
  readonly perform: PerformTask;
}): Worker {
  const inHand = new Map<string, InHand>();
  let reserved = 0;
  let running: AbortController | null = null;
  let working: Promise<unknown> = Promise.resolve();
  let stopped: Promise<void> = Promise.resolve();
  /** Leases are kept until the last task in hand has ended, which is later than the last one is taken. */
  let leases = new AbortController();
  let keeping: Promise<unknown> = Promise.resolve();
  /** When the earliest task that this process knows of is due; `unknown` after anything that may have changed it. */
  let nextDue: number | null | "unknown" = "unknown";
  let woken = false;
  let wakeUp: () => void = () => {};
  const quietWaiters: (() => void)[] = [];

  const lanedInHand = (): number => [...inHand.values()].filter(({ task }) => task.lane !== null).length;
  const freePlaces = (): { free: number; laned: number } => {
    const laned = lanedInHand();
    return { free: limits.slots - reserved - (inHand.size - laned), laned: limits.lanedSlots - laned };
  };

  const wake = (): void => {
    woken = true;
    wakeUp();
  };

  const begin = (task: ClaimedTask): void => {
    // Claimed again while in hand: its lease ran out unnoticed, as in a process that was frozen for a while.
    inHand.get(task.id)?.abort.abort();
    const abort = new AbortController();
    const done = doTask(task, abort.signal).finally(() => {
      if (inHand.get(task.id) === held) inHand.delete(task.id);
      nextDue = "unknown";
      wake();
    });
    const held: InHand = { task, abort, done };
    inHand.set(task.id, held);
  };

  /** Gives a task back as if it had never been taken. */
  const giveBack = ({ id, token }: ClaimedTask): Promise<unknown> =>
    storage
      .release({ id, token, dueAt: clock.now() })
      // Then the lease runs out by itself and the task is claimed again all the same.
      .catch((err: unknown) => log.error({ task: id, err }, "a task could not be given back"));

  const doTask = async (task: ClaimedTask, signal: AbortSignal): Promise<void> => {
    try {
      await perform(task, signal);
    } catch (error) {
      const pause = Math.min(FIRST_PAUSE_MS * 2 ** task.failures, LONGEST_PAUSE_MS);
      const { id, token, name, instance } = task;
      if (signal.aborted && running === null) return; // stopping: `stop` gives it back, and that is no failure
      log.warn({ task: id, instance, name, err: error }, "a task failed and will be tried again");
      const message = error instanceof Error ? error.message : String(error);
      await storage
        .release({ id, token, dueAt: clock.now() + pause, error: message })
        // Then the lease runs out by itself and the task is claimed again all the same.
        .catch((err: unknown) => log.error({ task: id, err }, "a failed task could not be given back"));
    }
  };

  const claim = async (): Promise<number> => {
    const { free, laned } = freePlaces();
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
      await Promise.all(tasks.map(giveBack));
      return 0;
    }
    tasks.forEach(begin);
    return tasks.length;
  };

  /** How long nothing will be due, as far as this process knows. */
  const restMs = async (): Promise<number> => {
    const { free, laned } = freePlaces();
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
    const stopSleeping = (): void => asleep.abort();
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
      if (!woken && inHand.size === 0 && reserved === 0) {
        for (const resolve of quietWaiters.splice(0)) resolve();
      }
      await rest(ms, signal);
    }
  };

  const keepLeases = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await clock.sleep(limits.leaseMs / 3, signal);
      const held = [...inHand.values()].map(({ task: { id, token } }) => ({ id, token }));
      if (held.length === 0 || signal.aborted) continue;
      try {
        const lost = await storage.heartbeat({ tasks: held, now: clock.now(), leaseMs: limits.leaseMs });
        for (const id of lost) inHand.get(id)?.abort.abort();
      } catch (err) {
        log.error({ err }, "leases could not be extended");
      }
    }
  };

  const finish = async (stopping: AbortController, timeoutMs: number): Promise<void> => {
    running = null;
    stopping.abort();
    wake();
    await working;
    const finished = Promise.allSettled([...inHand.values()].map(({ done }) => done));
    const patience = new AbortController();
    await Promise.race([finished, clock.sleep(timeoutMs, patience.signal)]);
    patience.abort();
    leases.abort();
    await keeping;
    const left = [...inHand.values()];
    for (const { abort } of left) abort.abort();
    await Promise.all(left.map(({ task }) => giveBack(task)));
    for (const resolve of quietWaiters.splice(0)) resolve();
  };

  return {
    wake,
    inHand: () => inHand.size,
    hands: {
      holder,
      leaseMs: limits.leaseMs,
      reserve(wanted) {
        if (running === null) return 0;
        const places = Math.max(0, Math.min(wanted, freePlaces().free));
        reserved += places;
        return places;
      },
      begin(tasks) {
        reserved -= tasks.length;
        if (running === null) for (const task of tasks) void giveBack(task);
        else tasks.forEach(begin);
      },
      forgo(places) {
        reserved -= places;
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
      leases = new AbortController();
      working = work(running.signal);
      keeping = keepLeases(leases.signal);
    },

    stop(timeoutMs) {
      if (running !== null) stopped = finish(running, timeoutMs);
      return stopped;
    },

    quiet() {
      if (running === null) return Promise.resolve();
      return new Promise((resolve) => {
        quietWaiters.push(resolve);
        wake();
      });
    },
  };
}
