/** The tasks this process is doing now: each under a lease that is kept alive, and given back when it cannot be done. */
import type { ClaimedTask, Commit, EngineStorage } from "../../storage/storage.ts";
import { redactionOf } from "../redacting-log.ts";
import type { Clock, Logger } from "../runtime.ts";
import { Hold } from "./hold.ts";
import type { PerformTask } from "./perform-task.ts";

export interface TasksInHand {
  isEmpty(): boolean;
  /** How many places are taken by tasks without a lane, and how many by tasks with one. */
  taken(): { readonly free: number; readonly laned: number };
  /** Whether this task is in hand and has no lane. */
  isWithoutLane(id: string | undefined): boolean;
  /** The end of this task is committed: its place is free, though it may still be in hand for a moment. */
  leavePlace(id: string | undefined): void;
  /** Does a task whose lease is ours; a failure gives it back with a growing pause. */
  begin(task: ClaimedTask): void;
  /** Aborts what a durable commit has disarmed of the invocations in hand. */
  disarm(commit: Pick<Commit<unknown>, "disarms" | "ends" | "arms">): void;
  /** Gives a task back as if it had never been taken. Never rejects. */
  giveBack(task: ClaimedTask): Promise<void>;
  /** Begins to keep leases alive. */
  keepLeases(): void;
  /** Waits up to `timeoutMs` for everything in hand, then gives back what is left and lets the leases go. */
  letGo(timeoutMs: number): Promise<void>;
}

interface InHand {
  readonly task: ClaimedTask;
  readonly hold: Hold;
  readonly done: Promise<void>;
  readonly leavePlace: () => void;
}

// A task that throws comes back after 1 s, 2 s, 4 s … and never later than a minute: what it waits for may be back.
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

export function createTasksInHand({
  storage,
  clock,
  log,
  leaseMs,
  perform,
  onEnded,
}: {
  readonly storage: EngineStorage;
  readonly clock: Clock;
  readonly log: Logger;
  readonly leaseMs: number;
  readonly perform: PerformTask;
  /** Called after each task has left the hand: done, or to be done again. */
  readonly onEnded: (task: ClaimedTask, isDone: boolean) => void;
}): TasksInHand {
  const inHand = new Map<string, InHand>();
  /** Runs that are not over, among them those whose task was claimed anew meanwhile. */
  let running = 0;
  /** How many of them are invocations: most commits disarm timers only, and need not look. */
  let invocations = 0;
  const taken = { free: 0, laned: 0 };
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

  /** Whether it is done; never rejects. */
  const doTask = async (task: ClaimedTask, hold: Hold): Promise<boolean> => {
    try {
      await perform(task, hold);
      return true;
    } catch (error) {
      if (hold.isLost && lettingGo) return false; // `letGo` gives it back, and that is no failure
      if (hold.isDisarmed) return true; // its row is gone
      const { id, name, instance, failures } = task;
      log.warn({ task: id, instance, name, err: error }, "a task failed and will be tried again");
      const pause = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
      // What is kept beside the task is read by others than it is meant for, like a log.
      const said = redactionOf(log)(error instanceof Error ? error.message : String(error));
      await release(task, clock.now() + pause, said);
      return false;
    }
  };

  const heartbeats = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await clock.sleep(leaseMs / 3, signal);
      const held = [...inHand.values()].map(({ task: { id, token } }) => ({ id, token }));
      if (held.length === 0 || signal.aborted) continue;
      try {
        const lost = await storage.heartbeat({ tasks: held, now: clock.now(), leaseMs });
        for (const id of lost) inHand.get(id)?.hold.lose();
      } catch (err) {
        log.error({ err }, "leases could not be extended");
      }
    }
  };

  return {
    isEmpty: () => running === 0,
    taken: () => taken,
    isWithoutLane: (id) => id !== undefined && inHand.get(id)?.task.lane === null,
    leavePlace(id) {
      if (id !== undefined) inHand.get(id)?.leavePlace();
    },

    begin(task) {
      // Claimed again while in hand: its lease ran out unnoticed, as in a process that was frozen for a while.
      inHand.get(task.id)?.hold.lose();
      const hold = new Hold();
      const kind = task.lane === null ? "free" : "laned";
      let place = 1;
      running += 1;
      if (task.kind === "invocation") invocations += 1;
      taken[kind] += 1;
      const leavePlace = (): void => {
        taken[kind] -= place;
        place = 0;
      };
      const done = doTask(task, hold).then((isDone) => {
        if (inHand.get(task.id) === held) inHand.delete(task.id);
        running -= 1;
        if (task.kind === "invocation") invocations -= 1;
        leavePlace();
        onEnded(task, isDone);
      });
      const held: InHand = { task, hold, done, leavePlace };
      inHand.set(task.id, held);
    },

    disarm({ disarms = [], ends = [], arms = [] }) {
      if (invocations === 0 || (disarms.length === 0 && ends.length === 0)) return;
      for (const { task, hold } of [...inHand.values()]) {
        // A state that is left and entered again arms one of the same name, which is in hand already.
        if (task.kind !== "invocation" || arms.some((armed) => armed.task.id === task.id)) continue;
        const isDisarmed =
          ends.includes(task.instance) ||
          disarms.some(({ instance, timer }) => instance === task.instance && timer === task.name);
        if (isDisarmed) hold.disarm();
      }
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
      for (const { hold } of left) hold.lose();
      await Promise.all(left.map(({ task }) => release(task, clock.now())));
    },
  };
}
