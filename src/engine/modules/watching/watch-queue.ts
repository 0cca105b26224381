/** Decides which watches of one kind are looked at next, and knows how long ago each was looked at. */
import type { WatchRecord } from "../../../workflow/watch-rows.ts";
import type { WatchStatus } from "../../watcher-options.ts";

interface Turn {
  watch: WatchRecord;
  /** `rest`: not due yet. `queue`: due. `look`: in the hands of a look. */
  at: "rest" | "queue" | "look" | "gone";
  dueAt: number;
  /** The number of its last turn; 0 before the first. */
  taken: number;
  /** The time of the watch's last successful look; before the first look, the time when the watch was first listed. */
  seenAt: number;
  /** The number of the last listing that held it. */
  listing: number;
}

/** A place in the queue; void once its watch was looked at before its turn, or has gone. */
interface Place {
  readonly turn: Turn;
  readonly taken: number;
}

/** The question to each watch at its listing. */
interface ListedBy {
  readonly now: number;
  readonly isDue: (dueAt: number) => boolean;
  readonly isUrgent?: ((watch: WatchRecord) => boolean) | undefined;
}

export interface PollResult {
  readonly batch: readonly WatchRecord[];
  /** Instances that took an event. */
  readonly told: ReadonlySet<string>;
  readonly missed: ReadonlySet<WatchRecord>;
  /** The time of the look was over: missed watches are due again at once. */
  readonly isCutOff: boolean;
}

/** The share of a round between two early looks. Half of all looks are for others, which wait 4/3 of a round at most. */
const EARLY_SHARE = 2 / 3;

/** The queue of one kind: new watches first, then the watches that were looked at longest ago. */
export class WatchQueue {
  readonly #intervalMs: number;
  readonly #turns = new Map<string, Turn>();
  #queue: Place[] = [];
  #fresh: Place[] = [];
  /** Watches that come before their turn, the longest unseen first. */
  #urgent: Turn[] = [];
  #listedUrgent: Turn[] = [];
  #listing = 0;
  #listed = 0;
  #lastTurn = 0;
  #isUrgentNext = false;

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  get size(): number {
    return this.#turns.size;
  }

  /** Begins to update the queue from the present watches, which may come in parts. */
  beginListing(): void {
    this.#listing += 1;
    this.#listed = 0;
    this.#listedUrgent = [];
  }

  /** New and due watches join. */
  list(watches: readonly WatchRecord[], { now, isDue, isUrgent }: ListedBy): void {
    this.#listed += watches.length;
    for (const watch of watches) {
      const turn = this.#turnOf(watch, now);
      turn.watch = watch;
      turn.listing = this.#listing;
      if (turn.at === "rest" && isDue(turn.dueAt)) this.#enqueue(turn, now, this.#fresh);
      if (isUrgent?.(watch) === true) this.#listedUrgent.push(turn);
    }
  }

  /** Watches that no part has held leave. */
  endListing(): void {
    if (this.#turns.size > this.#listed) this.#letGo();
    this.#urgent = this.#listedUrgent.toSorted((a, b) => a.taken - b.taken);
    if (this.#fresh.length === 0) return;
    const fresh = this.#fresh.filter(isStanding).toSorted((a, b) => a.taken - b.taken);
    this.#queue = merged(this.#queue.filter(isStanding), fresh);
    this.#fresh = [];
  }

  #letGo(): void {
    for (const [id, turn] of this.#turns) {
      if (turn.listing === this.#listing) continue;
      turn.at = "gone";
      this.#turns.delete(id);
    }
  }

  /** The next batch, now in the hands of a look; empty when nothing is due. */
  take(count: number): readonly WatchRecord[] {
    return this.#taken(this.#inOrder(count));
  }

  /** Every second batch is filled with urgent watches first. */
  takeSpread(count: number): readonly WatchRecord[] {
    this.#isUrgentNext = !this.#isUrgentNext;
    const first = this.#isUrgentNext ? this.#beforeTheirTurn(count) : [];
    for (const turn of first) turn.at = "look";
    return this.#taken([...first, ...this.#inOrder(count - first.length)]);
  }

  /** Takes back what a look was given. While looks are spread each watch goes behind the others at once. */
  end({ batch, told, missed, isCutOff }: PollResult, now: number, isSpread = false): void {
    for (const watch of batch) {
      const turn = this.#turns.get(watch.id);
      if (turn?.at !== "look") continue;
      turn.at = "rest";
      const isMissed = missed.has(watch);
      if (told.has(watch.instance)) {
        turn.seenAt = now;
        // A listing that was read before it was told may still hold it: not a reason to ask again.
        turn.dueAt = now + this.#intervalMs;
      } else if (isSpread || (isMissed && isCutOff)) this.#enqueue(turn, now, this.#queue);
      if (!isMissed) turn.seenAt = now;
    }
  }

  standing(now: number): WatchStatus {
    let oldest = now;
    for (const { seenAt } of this.#turns.values()) oldest = Math.min(oldest, seenAt);
    const oldestMs = now - oldest;
    return { watched: this.#turns.size, oldestMs, lateMs: Math.max(0, oldestMs - this.#intervalMs) };
  }

  #inOrder(count: number): readonly Turn[] {
    const found: Turn[] = [];
    let used = 0;
    for (const place of this.#queue) {
      if (found.length === count) break;
      used += 1;
      if (isStanding(place)) found.push(place.turn);
    }
    this.#queue.splice(0, used);
    return found;
  }

  #beforeTheirTurn(count: number): readonly Turn[] {
    const found: Turn[] = [];
    let used = 0;
    for (const turn of this.#urgent) {
      if (found.length === count || this.#lastTurn - turn.taken < this.#turns.size * EARLY_SHARE) break;
      used += 1;
      if (turn.at === "queue") found.push(turn);
    }
    this.#urgent.splice(0, used);
    // They come again as often in the next half of the round.
    this.#urgent.push(...found);
    return found;
  }

  #taken(turns: readonly Turn[]): readonly WatchRecord[] {
    for (const turn of turns) {
      turn.at = "look";
      this.#lastTurn += 1;
      turn.taken = this.#lastTurn;
    }
    return turns.map(({ watch }) => watch);
  }

  #turnOf(watch: WatchRecord, now: number): Turn {
    const { id } = watch;
    const known = this.#turns.get(id);
    if (known !== undefined) return known;
    // Due at once: before every time that a clock tells.
    const fresh: Turn = { watch, at: "rest", dueAt: 0, taken: 0, seenAt: now, listing: this.#listing };
    this.#turns.set(id, fresh);
    return fresh;
  }

  #enqueue(turn: Turn, now: number, among: Place[]): void {
    turn.at = "queue";
    turn.dueAt = now + this.#intervalMs;
    among.push({ turn, taken: turn.taken });
  }
}

function isStanding({ turn, taken }: Place): boolean {
  return turn.at === "queue" && turn.taken === taken;
}

/** Both are in the order of their last turns. */
function merged(queue: readonly Place[], fresh: readonly Place[]): Place[] {
  if (fresh.length === 0) return [...queue];
  const all: Place[] = [];
  let next = 0;
  for (const place of queue) {
    for (let other = fresh[next]; other !== undefined && other.taken < place.taken; other = fresh[next]) {
      all.push(other);
      next += 1;
    }
    all.push(place);
  }
  return [...all, ...fresh.slice(next)];
}
