/** The slot clock and the journal together: what was answered survives the process, and time goes on from there. */
import type { GenesisEntry, Journal, JournalEntry } from "./journal.ts";
import { SlotClock, type SlotPeriod } from "./slot-clock.ts";

/** While slots follow the clock, seen ones are written ahead in steps of so many: one line per 13 s at 400 ms. */
const SEEN_STEP = 32;

/** Start and length of slots, and their journal. */
export interface SlotJournalOptions {
  readonly journal: Journal;
  readonly genesis: GenesisEntry;
  /** 0 when slots pass by `advance` only. */
  readonly slotMs: number;
  readonly now: () => number;
}

/** Slots that never go back, not even when the process is killed. All writing to the journal goes through here. */
export class SlotJournal {
  readonly #clock: SlotClock;
  readonly #journal: Journal;
  /** Duration of a slot in milliseconds, 0 when slots pass by `advance` only. */
  readonly slotMs: number;
  /** The highest slot that the journal allows to be answered. */
  #seen: number;
  /** How the chain went on after its last stop; written with the first thing that happens. */
  #resumption: SlotPeriod | undefined;

  constructor(options: SlotJournalOptions) {
    this.#clock = new SlotClock(options.now, options.genesis);
    this.#journal = options.journal;
    this.slotMs = options.slotMs;
    this.#seen = options.genesis.slot;
  }

  /** The slot that transactions are executed in now. Throws when it cannot be made to survive the process. */
  current(): number {
    const slot = this.#clock.current();
    if (slot > this.#seen) {
      const seen = slot + SEEN_STEP;
      this.append({ kind: "seen", slot: seen });
      this.#seen = seen;
    }
    return slot;
  }

  /** When `slot` began, in Unix milliseconds. */
  timeOf(slot: number): number {
    return this.#clock.timeOf(slot);
  }

  /** Lets `slots` slots pass at once. */
  advance(slots: number): void {
    if (!Number.isSafeInteger(slots) || slots < 1) {
      throw new RangeError("Slots only advance, by whole numbers.");
    }
    const mark = this.#clock.markAt(this.current() + slots, this.slotMs);
    this.append({ kind: "mark", ...mark });
    this.replayMark(mark);
  }

  /** Writes an entry. It survives the death of the process once this returns. */
  append(entry: JournalEntry): void {
    if (this.#resumption !== undefined) {
      this.#journal.append({ kind: "mark", ...this.#resumption });
      this.#resumption = undefined;
    }
    this.#journal.append(entry);
  }

  /** Replay: from here slots ran on. */
  replayMark(mark: SlotPeriod): void {
    this.#clock.set(mark);
    this.#seen = Math.max(this.#seen, mark.slot);
  }

  /** Replay: up to here slots were answered. The last one counts, since a clean stop takes back what was ahead. */
  replaySeen(slot: number): void {
    this.#seen = slot;
  }

  /** Something happened in `slot`. */
  reach(slot: number): void {
    this.#clock.reach(slot);
  }

  /** After the replay: begins the journal, or goes on at the slot where it stopped, however long ago that was. */
  start(genesis: GenesisEntry): void {
    if (this.#journal.genesis === undefined) {
      this.#journal.append(genesis);
      return;
    }
    this.#resumption = this.#clock.markAt(this.#seen, this.slotMs);
    this.#clock.set(this.#resumption);
  }

  /** Writes where to go on, exactly, and closes the journal. */
  close(): void {
    const slot = this.#clock.current();
    try {
      if (this.#seen > slot) this.append({ kind: "seen", slot });
    } finally {
      this.#journal.close();
    }
  }
}
