/** Remembers what was found out about the payers of addresses: a flood of transactions is read once, over many looks. */
import type { Address } from "../../address.ts";
import type { Evidence } from "../../ledger/belief.ts";
import type { Inflow } from "../../ledger/routing.ts";
import type { TransactionListEntry } from "../rpc/rpc-node.ts";

// A forgotten address is read again from its newest transaction.
const MAX_ADDRESSES = 1_000;
// About 50 MB. A stranger pays the chain's fee for each.
const MAX_INFLOWS = 100_000;

/** The known payers of an address, as this number of witnesses reports them. */
export class PayerReading {
  readonly witnesses: number;
  /** The lists of each account by endpoint; the account read longest ago first. */
  readonly #lists = new Map<Address, Map<string, ListReading>>();
  /** Inflows of transactions, by signature. */
  readonly #inflows = new Map<string, Evidence<readonly Inflow[]>>();

  constructor(witnesses: number) {
    this.witnesses = witnesses;
  }

  get inflows(): Evidence<readonly Inflow[]> {
    return [...this.#inflows.values()].flat();
  }

  get size(): number {
    return this.#inflows.size;
  }

  /** The accounts to look at, the one read longest ago first. */
  get accounts(): readonly Address[] {
    return [...this.#lists.keys()];
  }

  /** Adds accounts to look at; known ones stay where they are. */
  add(accounts: readonly Address[]): void {
    for (const account of accounts) if (!this.#lists.has(account)) this.#lists.set(account, new Map());
  }

  listOf(account: Address, endpoint: string): ListReading {
    const lists = this.#lists.get(account) ?? new Map<string, ListReading>();
    const list = lists.get(endpoint) ?? new ListReading();
    lists.set(endpoint, list);
    this.#lists.set(account, lists);
    return list;
  }

  postpone(account: Address): void {
    const lists = this.#lists.get(account);
    if (lists === undefined) return;
    this.#lists.delete(account);
    this.#lists.set(account, lists);
  }

  has(signature: string): boolean {
    return this.#inflows.has(signature);
  }

  keep(signature: string, inflows: Evidence<readonly Inflow[]>): void {
    if (inflows.length > 0) this.#inflows.set(signature, inflows);
  }
}

export class PayerReadingCache {
  /** Readings by owner and mints, the longest unused first. */
  readonly #byKey = new Map<string, PayerReading>();

  /** The reading to go on with. What fewer witnesses told is not believed later. */
  of(key: string, witnesses: number): PayerReading {
    const known = this.#byKey.get(key);
    const reading = known !== undefined && known.witnesses >= witnesses ? known : new PayerReading(witnesses);
    this.#byKey.delete(key);
    this.#byKey.set(key, reading);
    this.#forget();
    return reading;
  }

  #forget(): void {
    let inflows = [...this.#byKey.values()].reduce((sum, { size }) => sum + size, 0);
    for (const [key, { size }] of this.#byKey) {
      if (this.#byKey.size <= 1 || (this.#byKey.size <= MAX_ADDRESSES && inflows <= MAX_INFLOWS)) return;
      this.#byKey.delete(key);
      inflows -= size;
    }
  }
}

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

  get hasMore(): boolean {
    return this.#left.length > 0;
  }

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
