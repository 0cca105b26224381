/** Tells which slot it is: by the injected clock, or by `advance` alone when slots have no duration. */

/** From `slot`, which began at `time` (Unix milliseconds), a slot lasts `slotMs`; 0: until it is advanced by hand. */
export interface SlotPeriod {
  readonly slot: number;
  readonly time: number;
  readonly slotMs: number;
}

/**
 * Counts slots lazily: nothing ticks, the slot is computed when it is asked for. Neither slots nor their times ever go
 * back, even if the clock does.
 */
export class SlotClock {
  readonly #now: () => number;
  readonly #marks: SlotPeriod[];
  #highest: number;
  /** The start of counting in this process; the clock may have been set since the mark was made. */
  #origin: { readonly slot: number; readonly now: number };
  #lastNow: number;

  /** `now` is in Unix milliseconds; `first` is the mark of the chain's first slot. */
  constructor(now: () => number, first: SlotPeriod) {
    this.#now = now;
    this.#marks = [first];
    this.#highest = first.slot;
    this.#lastNow = now();
    this.#origin = { slot: first.slot, now: this.#lastNow };
  }

  /** The slot that transactions are executed in now. */
  current(): number {
    const now = this.#now();
    // When the clock was set back, counting goes on from here instead of waiting until it has caught up.
    if (now < this.#lastNow) this.#origin = { slot: this.#highest, now };
    this.#lastNow = now;
    const { slotMs } = this.#newestMark();
    const passed = slotMs > 0 ? Math.floor((now - this.#origin.now) / slotMs) : 0;
    this.#highest = Math.max(this.#highest, this.#origin.slot + passed);
    return this.#highest;
  }

  /** When `slot` began, in Unix milliseconds. */
  timeOf(slot: number): number {
    const index = Math.max(
      0,
      this.#marks.findLastIndex((mark) => mark.slot <= slot),
    );
    const mark = this.#marks[index] ?? this.#newestMark();
    const counted = mark.time + (slot - mark.slot) * mark.slotMs;
    // Slots that were skipped over by the next mark took no time beyond it.
    return Math.min(counted, this.#marks[index + 1]?.time ?? counted);
  }

  /** The mark that makes it `slot` from now on, with slots of `slotMs`. Pass it to `set` once it is durable. */
  markAt(slot: number, slotMs: number): SlotPeriod {
    return { slot, time: Math.max(this.#now(), this.timeOf(this.#highest)), slotMs };
  }

  /** Makes `mark` the newest one. */
  set(mark: SlotPeriod): void {
    this.#marks.push(mark);
    this.#origin = { slot: mark.slot, now: this.#now() };
    this.reach(mark.slot);
  }

  /** Something happened in `slot`: it is at least that late. */
  reach(slot: number): void {
    this.#highest = Math.max(this.#highest, slot);
  }

  #newestMark(): SlotPeriod {
    const mark = this.#marks.at(-1);
    if (mark === undefined) throw new Error("A slot clock begins with a mark.");
    return mark;
  }
}
