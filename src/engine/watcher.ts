/** What a host gives the engine so that something outside is polled on behalf of instances. */
import type { EventObject } from "xstate";
import type { WatchRecord } from "../../storage/storage.ts";

/** What a look found out for one instance. Levels, never deltas: hearing it twice must change nothing. */
export interface WatchEvent {
  readonly instance: string;
  readonly event: EventObject;
}

/** One look at a batch of watches, as the engine hands it to a watcher. */
export interface PollContext {
  /**
   * Aborts after 750 ms, and when the engine stops: ask nothing more, tell the answers that are on their way, and
   * return. Finish at least one question in each look, or a slow answer keeps the look from ever getting on.
   */
  readonly signal: AbortSignal;
  /**
   * Hands events to their instances at once; resolves when each step is durable. What was told stays told, however the
   * look ends. Resolves with the events that could not be handed over, which may be told again at a later look; never
   * rejects. After the look has ended nothing is handed over any more.
   */
  tell(events: readonly WatchEvent[]): Promise<readonly WatchEvent[]>;
  /**
   * Says that nothing was found out about these watches. Their age in `Engine.watching` goes on growing. They have
   * their turn again at once where the look's time was over, else after `intervalMs`.
   */
  missed(watches: readonly WatchRecord[]): void;
}

/** Asks the outside world about watched keys, a batch at a time. */
export interface Watcher {
  /** A watch is looked at so often, in milliseconds; later where there are more watches than looks can take. */
  readonly intervalMs: number;
  /** Watches in one look, 1 to 10,000: what one question to the outside can hold. Default 256. */
  readonly batchSize?: number;
  /**
   * One look at up to `batchSize` watches; up to four looks of a kind run at once. Resolves with what is left to be told.
   * Throwing means that nothing was found out about what was not told, and neither does a look that has not ended
   * after a minute: it is given up.
   */
  readonly poll: (watches: readonly WatchRecord[], look: PollContext) => Promise<readonly WatchEvent[]>;
}

/** How one kind of watches is followed by this process. */
export interface WatchStatus {
  /** Watches of this kind in the shards that this process polls. */
  readonly watched: number;
  /** Milliseconds since the watch that has waited longest was looked at successfully, or was first seen; 0 without watches. */
  readonly oldestMs: number;
  /** By how much `oldestMs` exceeds the kind's `intervalMs`; 0 while it does not. */
  readonly lateMs: number;
}
