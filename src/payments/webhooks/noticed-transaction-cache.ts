/** Remembers what notices show of the last transactions, where that never changes. */
import type { PaymentStorage } from "../payment-storage.ts";
import type { TransactionView } from "../tables/orders.ts";

/** The part of a transaction that a notice needs. */
export type NoticedTransaction = Pick<TransactionView, "transaction" | "recipients">;

/** The most recipients of all remembered transactions together. */
const MAX_RECIPIENTS = 4_096;

/**
 * In wallet mode a notice shows of its transaction only what was stored with it for good; what becomes of it is in the row
 * of the notice. In private mode payees change, so those transactions are read each time.
 */
export class NoticedTransactionCache {
  readonly #storage: Pick<PaymentStorage, "noticed">;
  readonly #known = new Map<string, NoticedTransaction>();
  #recipients = 0;

  constructor(storage: Pick<PaymentStorage, "noticed">) {
    this.#storage = storage;
  }

  async read(id: string): Promise<NoticedTransaction | null> {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const found = await this.#storage.noticed(id);
    if (found !== null) this.keep(found);
    return found;
  }

  keep(noticed: NoticedTransaction): void {
    const { id, mode } = noticed.transaction;
    if (mode !== "wallet" || this.#known.has(id)) return;
    this.#known.set(id, noticed);
    this.#recipients += noticed.recipients.length;
    for (const [oldest, { recipients }] of this.#known) {
      if (this.#recipients <= MAX_RECIPIENTS) return;
      this.#known.delete(oldest);
      this.#recipients -= recipients.length;
    }
  }
}
