/** The tasks this process is doing now: each under a lease that is kept alive, and given back when it cannot be done. */
import type { ClaimedTask, EngineStorage } from "../../storage/storage.ts";
import type { Clock, Logger } from "../runtime.ts";
import type { PerformTask } from "./perform-task.ts";

export interface TasksInHand {
  size(): number;
  /** Those with a lane. */
  laned(): number;
  /** Does a task whose lease is ours; a failure gives it back with a growing pause. */
  begin(task: ClaimedTask): void;
  /** Gives a task back as if it had never been taken. Never rejects. */
  giveBack(task: ClaimedTask): Promise<void>;
  /** Begins to keep leases alive. */
  keepLeases(): void;
  /** Waits up to `timeoutMs` for everything in hand, then gives back what is left and lets the leases go. */
  letGo(timeoutMs: number): Promise<void>;
}

interface InHand {
  readonly task: ClaimedTask;
  readonly abort: AbortController;
  readonly done: Promise<void>;
}

// A task that throws comes back after 1 s, 2 s, 4 s … and never later than a minute: what it waits for may be back.
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

export function createTasksInHand<W>({
  storage,
  clock,
  log,
  leaseMs,
  perform,
  onEnded,
}: {
  readonly storage: EngineStorage<W>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly leaseMs: number;
  readonly perform: PerformTask;
  /** Called after each task has left the hand, whatever became of it. */
  readonly onEnded: () => void;
}): TasksInHand {
  const inHand = new Map<string, InHand>();
  let doing = 0;
  let laned = 0;
  let lettingGo = false;
  /** Leases are kept until the last task in hand has ended, which is later than the last one is taken. */
  let leases = new AbortController();
  let keeping: Promise<void> = Promise.resolve();

  const release = async (task: ClaimedTask, dueAt: number, error?: string): Promise<void> => {
    const { id, token } = task;
    try {
      await storage.release({ id, token, dueAt, ...(error === undefined ? {} : { error }) });
    } catch (err) {
      // Then the lease runs out by itself and the task is claimed again all the same.
      log.error({ task: id, err }, "a task could not be given back");
    }
  };

  const doTask = async (task: ClaimedTask, signal: AbortSignal): Promise<void> => {
    try {
      await perform(task, signal);
    } catch (error) {
      if (signal.aborted && lettingGo) return; // `letGo` gives it back, and that is no failure
      const { id, name, instance, failures } = task;
      log.warn({ task: id, instance, name, err: error }, "a task failed and will be tried again");
      const pause = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
      await release(task, clock.now() + pause, error instanceof Error ? error.message : String(error));
    }
  };

  const heartbeats = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await clock.sleep(leaseMs / 3, signal);
      const held = [...inHand.values()].map(({ task: { id, token } }) => ({ id, token }));
      if (held.length === 0 || signal.aborted) continue;
      try {
        const lost = await storage.heartbeat({ tasks: held, now: clock.now(), leaseMs });
        for (const id of lost) inHand.get(id)?.abort.abort();
      } catch (err) {
        log.error({ err }, "leases could not be extended");
      }
    }
  };

  return {
    size: () => doing,
    laned: () => laned,

    begin(task) {
      // Claimed again while in hand: its lease ran out unnoticed, as in a process that was frozen for a while.
      inHand.get(task.id)?.abort.abort();
      const abort = new AbortController();
      const places = task.lane === null ? 0 : 1;
      doing += 1;
      laned += places;
      const done = doTask(task, abort.signal).finally(() => {
        if (inHand.get(task.id) === held) inHand.delete(task.id);
        doing -= 1;
        laned -= places;
        onEnded();
      });
      const held: InHand = { task, abort, done };
      inHand.set(task.id, held);
    },

    giveBack: (task) => release(task, clock.now()),

    keepLeases() {
      lettingGo = false;
      leases = new AbortController();
      keeping = heartbeats(leases.signal);
    },

    async letGo(timeoutMs) {
      lettingGo = true;
      const finished = Promise.allSettled([...inHand.values()].map(({ done }) => done));
      const patience = new AbortController();
      await Promise.race([finished, clock.sleep(timeoutMs, patience.signal)]);
      patience.abort();
      leases.abort();
      await keeping;
      const left = [...inHand.values()];
      for (const { abort } of left) abort.abort();
      await Promise.all(left.map(({ task }) => release(task, clock.now())));
    },
  };
}
