/** Decides which watches of one kind are looked at next, and knows how long ago each was looked at. */
import type { WatchRecord } from "../../storage/storage.ts";
import type { WatchStatus } from "./watcher.ts";

interface Turn {
  /** `rest`: not due yet. `queue`: due. `look`: in the hands of a look. */
  at: "rest" | "queue" | "look";
  dueAt: number;
  /** The number of its last turn; 0 before the first. */
  taken: number;
  /** The time of the watch's last successful look; before the first look, the time when the watch was first listed. */
  seenAt: number;
  /** The number of the last listing that held it. */
  listing: number;
}

/** The end of a look, for its watches. */
export interface PollResult {
  readonly batch: readonly WatchRecord[];
  /** Instances that took an event. */
  readonly told: ReadonlySet<string>;
  readonly missed: ReadonlySet<WatchRecord>;
  /** The time of the look was over: missed watches are due again at once. */
  readonly isCutOff: boolean;
}

/** The queue of one kind: new watches first, then the watches that were looked at longest ago. */
export class WatchQueue {
  readonly #intervalMs: number;
  readonly #turns = new Map<string, Turn>();
  #queue: WatchRecord[] = [];
  #listing = 0;
  #lastTurn = 0;

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  /** Updates the queue from the present watches: new and due watches join, vanished watches leave. */
  list(watches: readonly WatchRecord[], now: number, isDue: (dueAt: number) => boolean): void {
    this.#listing += 1;
    const queued: { readonly watch: WatchRecord; readonly taken: number }[] = [];
    for (const watch of watches) {
      const turn = this.#turnOf(watch, now);
      turn.listing = this.#listing;
      if (turn.at === "rest" && isDue(turn.dueAt)) this.#enqueue(turn, now);
      if (turn.at === "queue") queued.push({ watch, taken: turn.taken });
    }
    if (this.#turns.size > watches.length) {
      for (const [id, { listing }] of this.#turns) if (listing !== this.#listing) this.#turns.delete(id);
    }
    this.#queue = queued.toSorted((a, b) => a.taken - b.taken).map(({ watch }) => watch);
  }

  /** The next batch, now in the hands of a look; empty when nothing is due. */
  take(count: number, now: number): readonly WatchRecord[] {
    const batch = this.#queue.splice(0, count);
    for (const watch of batch) {
      const turn = this.#turnOf(watch, now);
      turn.at = "look";
      this.#lastTurn += 1;
      turn.taken = this.#lastTurn;
    }
    return batch;
  }

  /** Takes back what a look was given. */
  end({ batch, told, missed, isCutOff }: PollResult, now: number): void {
    for (const watch of batch) {
      const turn = this.#turns.get(idOf(watch));
      if (turn === undefined) continue;
      turn.at = "rest";
      if (told.has(watch.instance)) {
        turn.seenAt = now;
        // A listing that was read before it was told may still hold it: not a reason to ask again.
        turn.dueAt = now + this.#intervalMs;
      } else if (!missed.has(watch)) {
        turn.seenAt = now;
      } else if (isCutOff) {
        this.#enqueue(turn, now);
        this.#queue.push(watch);
      }
    }
  }

  standing(now: number): WatchStatus {
    let oldest = now;
    for (const { seenAt } of this.#turns.values()) oldest = Math.min(oldest, seenAt);
    const oldestMs = now - oldest;
    return { watched: this.#turns.size, oldestMs, lateMs: Math.max(0, oldestMs - this.#intervalMs) };
  }

  #turnOf(watch: WatchRecord, now: number): Turn {
    const id = idOf(watch);
    const known = this.#turns.get(id);
    if (known !== undefined) return known;
    // Due at once: before every time that a clock tells.
    const fresh: Turn = { at: "rest", dueAt: 0, taken: 0, seenAt: now, listing: this.#listing };
    this.#turns.set(id, fresh);
    return fresh;
  }

  #enqueue(turn: Turn, now: number): void {
    turn.at = "queue";
    turn.dueAt = now + this.#intervalMs;
  }
}

/** Identifies a watch within its kind. A single string serves when the key is the instance itself. */
function idOf({ key, instance }: WatchRecord): string {
  return key === instance ? key : `${key}\n${instance}`;
}
