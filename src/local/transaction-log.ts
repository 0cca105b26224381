/** The transactions that landed, found by signature, by message and by account. */
import type { Execution } from "./bank.ts";
import type { DecodedTransaction } from "./transaction-bytes.ts";
import type { TokenBalance } from "./token-balances.ts";

/** A landed transaction and everything a node tells about it. */
export interface LandedTransaction extends DecodedTransaction, Execution {
  readonly slot: number;
  /** Unix milliseconds at which its slot began. */
  readonly time: number;
  /** Its place among all transactions of the chain: 0 for the first. */
  readonly position: number;
  readonly tokenBalances: {
    readonly before: readonly TokenBalance[];
    readonly after: readonly TokenBalance[];
  };
}

/** Remembers every landed transaction. */
export class TransactionLog {
  readonly #all: LandedTransaction[] = [];
  readonly #bySignature = new Map<string, LandedTransaction>();
  readonly #byMessage = new Map<string, LandedTransaction>();
  readonly #byAddress = new Map<string, LandedTransaction[]>();

  /** How many transactions landed so far. */
  get length(): number {
    return this.#all.length;
  }

  /** Adds the newest transaction. */
  add(landed: LandedTransaction): void {
    this.#all.push(landed);
    this.#bySignature.set(landed.signature, landed);
    this.#byMessage.set(landed.messageHash, landed);
    for (const { address } of landed.keys.all) {
      const known = this.#byAddress.get(address);
      if (known === undefined) this.#byAddress.set(address, [landed]);
      else known.push(landed);
    }
  }

  /** The transaction with this id. */
  withSignature(signature: string): LandedTransaction | undefined {
    return this.#bySignature.get(signature);
  }

  /** The transaction with this message, under any signatures. */
  withMessage(messageHash: string): LandedTransaction | undefined {
    return this.#byMessage.get(messageHash);
  }

  /** The transactions that name the address, oldest first. */
  naming(address: string): readonly LandedTransaction[] {
    return this.#byAddress.get(address) ?? [];
  }

  /** The transactions of the slots `from` to `to`, both included, oldest first. */
  inSlots(from: number, to: number): LandedTransaction[] {
    const newestFirst: LandedTransaction[] = [];
    for (let index = this.#all.length - 1; index >= 0; index -= 1) {
      const landed = this.#all[index];
      if (landed === undefined || landed.slot < from) break;
      if (landed.slot <= to) newestFirst.push(landed);
    }
    return newestFirst.toReversed();
  }

  /** How many transactions landed up to and including `slot`. */
  lengthUpTo(slot: number): number {
    return this.#all.findLastIndex((landed) => landed.slot <= slot) + 1;
  }

  /** The transactions from `position` on, up to and including `slot`, oldest first. */
  from(position: number, slot: number): readonly LandedTransaction[] {
    return this.#all.slice(position, Math.max(position, this.lengthUpTo(slot)));
  }

  /** Takes back the transactions of all slots after `slot`: their fork was abandoned. */
  forgetAfter(slot: number): void {
    for (let last = this.#all.at(-1); last !== undefined && last.slot > slot; last = this.#all.at(-1)) {
      this.#all.pop();
      this.#bySignature.delete(last.signature);
      this.#byMessage.delete(last.messageHash);
      for (const { address } of last.keys.all) this.#byAddress.get(address)?.pop();
    }
  }
}
