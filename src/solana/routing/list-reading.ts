/** Remembers how far one endpoint's list of an account's transactions was read, so that the next look goes on there. */
import type { TransactionListEntry } from "../rpc/rpc-node.ts";

/** A stretch of a list that is left to read, newest first, between two signatures. */
export interface ListWindow {
  /** Left out at the newest end of the list. */
  readonly before?: string;
  /** Left out where the stretch goes to the oldest end. */
  readonly until?: string;
  /** No transaction of it is of a later slot; left out where that is not known. */
  readonly latest?: number;
}

/**
 * One list of signatures. A look opens the entries listed since the look before; a stretch read to its end is dropped.
 */
export class ListReading {
  /** The oldest stretch first. */
  #left: readonly ListWindow[] = [];
  #newest: Pick<ListWindow, "until"> = {};
  #isOldestNext = false;

  /** Whether a stretch is left to read. */
  get hasMore(): boolean {
    return this.#left.length > 0;
  }

  /** Whether a transaction of a later slot may be left to read. */
  hasMoreAfter(slot: number): boolean {
    return this.#left.some(({ latest = Infinity }) => latest > slot);
  }

  /** Adds the stretch above the newest transaction that was read. */
  open(): void {
    const last = this.#left.at(-1);
    if (last === undefined || last.before !== undefined) this.#left = [...this.#left, this.#newest];
  }

  /**
   * The stretch to read from now: the newest and the oldest take turns. So new money is found at once, and what is listed
   * meanwhile, however much, does not keep the reading from older money.
   */
  next(): ListWindow | undefined {
    const stretch = this.#isOldestNext ? this.#left[0] : this.#left.at(-1);
    this.#isOldestNext = !this.#isOldestNext;
    return stretch;
  }

  /** Moves on behind a page of this stretch, which is over when the page is not full. */
  passed(stretch: ListWindow, page: readonly TransactionListEntry[], isFull: boolean): void {
    // Another look may have read the same page.
    if (!this.#left.includes(stretch)) return;
    const [first] = page;
    if (stretch.before === undefined && first !== undefined) this.#newest = { until: first.signature };
    const last = page.at(-1);
    const rest =
      isFull && last !== undefined ? [{ ...stretch, before: last.signature, latest: last.slot }] : [];
    this.#left = this.#left.flatMap((each) => (each === stretch ? rest : [each]));
  }
}
