/** Polls the ledger, or anything else, on behalf of instances that wait for it. */
import { createHash } from "node:crypto";
import type { EventObject } from "xstate";
import type { EngineStorage, WatchRecord } from "../../storage/storage.ts";
import type { Clock, Logger } from "../runtime.ts";
import type { SendResult } from "./steps.ts";
import { createTurns } from "./turns.ts";

/** What a poll found out for one instance. Levels, never deltas: hearing it twice must change nothing. */
export interface WatchEvent {
  readonly instance: string;
  readonly event: EventObject;
}

/** Asks the outside world about many watched keys at once. Throwing means that nothing was found out this time. */
export interface Watcher {
  /** Pause between two polls, in milliseconds. */
  readonly intervalMs: number;
  /** After a minute it is given up: its signal aborts, and what it still finds out counts for nothing. */
  readonly poll: (watches: readonly WatchRecord[], signal: AbortSignal) => Promise<readonly WatchEvent[]>;
}

/** Keys of one kind are spread over so many shards, and thereby over at most so many processes. */
const SHARDS_PER_KIND = 16;

/** The shard of a key: the same in every process. */
export function shardOf(key: string): number {
  return createHash("sha256").update(key).digest().readUInt32BE(0) % SHARDS_PER_KIND;
}

export interface WatchPolling {
  run(): void;
  /** Waits up to `timeoutMs` for the polls under way; none begins any more. */
  stop(timeoutMs: number): Promise<void>;
  /** Polls every kind once, now; true when any instance moved because of it. */
  pollOnce(): Promise<boolean>;
  /** A watch of this kind was armed here: its poller need not wait to find it. */
  armed(kind: string): void;
}

// How long an idle kind is left alone. A watch armed by this process ends the pause at once; what a vanished process
// left behind is taken over within its lease and this.
const IDLE_LOOK_MS = 15_000;

// Far longer than any poll that bounds its own calls; one that does not would keep its kind from being polled for ever.
const POLL_DEADLINE_MS = 60_000;

export function createWatchPolling<W>({
  storage,
  clock,
  log,
  holder,
  leaseMs,
  watchers,
  send,
}: {
  readonly storage: EngineStorage<W>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly holder: string;
  readonly leaseMs: number;
  readonly watchers: Readonly<Record<string, Watcher>>;
  readonly send: (id: string, event: EventObject) => Promise<SendResult>;
}): WatchPolling {
  let running: AbortController | null = null;
  let loops: Promise<unknown> = Promise.resolve();
  const wakeUps = new Map<string, () => void>();
  // Short leases are asked for by those who want to be quick after a crash.
  const idleLookMs = Math.min(IDLE_LOOK_MS, leaseMs);

  /** What a poll answers; throws when it has not by its deadline. A stop aborts its signal too, but waits for it. */
  const inTime = async <T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const giveUp = new AbortController();
    const ended = new AbortController();
    const abort = (): void => giveUp.abort();
    signal.addEventListener("abort", abort, { once: true });
    const deadline = clock.sleep(POLL_DEADLINE_MS, ended.signal).then((): never => {
      if (!ended.signal.aborted) abort();
      throw new Error(`a poll did not end within ${POLL_DEADLINE_MS} ms`);
    });
    try {
      return await Promise.race([work(giveUp.signal), deadline]);
    } finally {
      signal.removeEventListener("abort", abort);
      ended.abort();
    }
  };

  /** Polls one kind once. Says whether there was anything to poll, and whether an instance moved. */
  const pollKind = async (
    kind: string,
    watcher: Watcher,
    signal: AbortSignal,
  ): Promise<{ watched: boolean; moved: boolean }> => {
    const shards = await storage.claimShards({ kind, holder, now: clock.now(), leaseMs });
    if (shards.length === 0) return { watched: false, moved: false };
    const watches = await storage.watches({ kind, shards });
    if (watches.length === 0) return { watched: false, moved: false };
    const events = await inTime(signal, (poll) => watcher.poll(watches, poll));
    const moved = await Promise.all(
      events.map(async ({ instance, event }) => {
        try {
          return (await send(instance, event)).kind === "stepped";
        } catch (err) {
          log.warn({ kind, instance, err }, "an instance could not be told what a poll found out");
          return false;
        }
      }),
    );
    return { watched: true, moved: moved.includes(true) };
  };

  const inTurn = createTurns();
  /** One poll of a kind at a time: the next begins when the one before has ended. */
  const poll = (kind: string, watcher: Watcher, signal: AbortSignal): ReturnType<typeof pollKind> =>
    inTurn(kind, async () => {
      try {
        return await pollKind(kind, watcher, signal);
      } catch (err) {
        log.warn({ kind, err }, "a poll found nothing out");
        return { watched: true, moved: false };
      }
    });

  const keepPolling = async (kind: string, watcher: Watcher, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const asleep = new AbortController();
      const wake = (): void => asleep.abort();
      wakeUps.set(kind, wake);
      const { watched } = await poll(kind, watcher, signal);
      // While there is something to poll the interval is kept; only an idle kind is woken out of its longer pause.
      const pause = watched ? new AbortController() : asleep;
      const stop = (): void => pause.abort();
      signal.addEventListener("abort", stop, { once: true });
      if (!signal.aborted) await clock.sleep(watched ? watcher.intervalMs : idleLookMs, pause.signal);
      signal.removeEventListener("abort", stop);
    }
  };

  return {
    run() {
      if (running !== null) return;
      const started = new AbortController();
      running = started;
      loops = Promise.all(
        Object.entries(watchers).map(([kind, watcher]) => keepPolling(kind, watcher, started.signal)),
      );
    },
    async stop(timeoutMs) {
      if (running === null) return;
      running.abort();
      running = null;
      const patience = new AbortController();
      await Promise.race([loops, clock.sleep(timeoutMs, patience.signal)]);
      patience.abort();
      await storage.releaseShards(holder);
    },
    async pollOnce() {
      const signal = running?.signal;
      if (signal === undefined) return false;
      const polled = await Promise.all(
        Object.entries(watchers).map(([kind, watcher]) => poll(kind, watcher, signal)),
      );
      return polled.some(({ moved }) => moved);
    },
    armed(kind) {
      wakeUps.get(kind)?.();
    },
  };
}
