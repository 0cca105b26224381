/** The transactions that landed, found by signature, by message and by account. */
import type { ExecutedTransaction } from "./bank.ts";
import { memosOf } from "./memo.ts";
import { HistoryFile } from "./history-file.ts";
import type { TokenBalance } from "./token-balances.ts";
import { decodeTransaction, type DecodedTransaction } from "./transaction-bytes.ts";

/** A landed transaction and everything a node tells about it. */
export interface LandedTransaction extends DecodedTransaction, Omit<ExecutedTransaction, "accounts"> {
  readonly slot: number;
  /** Unix milliseconds at which its slot began. */
  readonly time: number;
  /** The transaction's place among all transactions of the chain: 0 for the first. */
  readonly position: number;
  /** Lamports, in the order of the transaction's account indices. */
  readonly balances: { readonly before: readonly bigint[]; readonly after: readonly bigint[] };
  readonly tokenBalances: {
    readonly before: readonly TokenBalance[];
    readonly after: readonly TokenBalance[];
  };
}

/** The stored form of a transaction in the history; the rest follows from the bytes. */
type Told = Pick<
  LandedTransaction,
  | "bytes"
  | "logs"
  | "computeUnits"
  | "innerInstructions"
  | "returnData"
  | "keys"
  | "fee"
  | "balances"
  | "tokenBalances"
>;

/** The part of a landed transaction that stays in memory. */
export interface NotedTransaction extends Pick<
  LandedTransaction,
  "signature" | "messageHash" | "slot" | "time" | "position" | "err"
> {
  /** All its memos as nodes list them; kept, because long lists show them. */
  readonly memo: string | null;
}

/** Remembers every landed transaction: a short note of each in memory, and what else is told of it on disk. */
export class TransactionHistory {
  readonly #all: NotedTransaction[] = [];
  readonly #bySignature = new Map<string, NotedTransaction>();
  readonly #byMessage = new Map<string, NotedTransaction>();
  readonly #byAddress = new Map<string, NotedTransaction[]>();
  readonly #history = new HistoryFile<Told>();

  /** How many transactions landed so far. */
  get length(): number {
    return this.#all.length;
  }

  /** Adds the newest transaction. */
  add(landed: LandedTransaction): void {
    const { signature, messageHash, slot, time, position, err } = landed;
    const kept = { signature, messageHash, slot, time, position, err, memo: memosOf(landed) };
    const addresses = landed.keys.all.map(({ address }) => address);
    const { bytes, logs, computeUnits, innerInstructions, returnData, keys, fee, balances, tokenBalances } =
      landed;
    const told = {
      bytes,
      logs,
      computeUnits,
      innerInstructions,
      returnData,
      keys,
      fee,
      balances,
      tokenBalances,
    };
    this.#history.set(position, told);
    this.#index(kept, addresses);
  }

  /** A transaction with what is kept of it on disk. */
  told(noted: NotedTransaction): NotedTransaction & Told {
    return { ...this.#history.get(noted.position), ...noted };
  }

  /** All of a transaction. */
  whole(noted: NotedTransaction): LandedTransaction {
    const told = this.told(noted);
    return { ...decodeTransaction(told.bytes), ...told };
  }

  /** The transaction with this id. */
  withSignature(signature: string): NotedTransaction | undefined {
    return this.#bySignature.get(signature);
  }

  /** The transaction with this message, under any signatures. */
  withMessage(messageHash: string): NotedTransaction | undefined {
    return this.#byMessage.get(messageHash);
  }

  /** The transactions that name the address, oldest first. */
  naming(address: string): readonly NotedTransaction[] {
    return this.#byAddress.get(address) ?? [];
  }

  /** The transactions of the slots `from` to `to`, both included, oldest first. */
  inSlots(from: number, to: number): NotedTransaction[] {
    const newestFirst: NotedTransaction[] = [];
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

  /** Takes back the transactions of all slots after `slot`: their fork was abandoned. */
  forgetAfter(slot: number): void {
    this.#shortenTo(this.lengthUpTo(slot));
  }

  /** Ends the history; what is only noted can still be asked for. */
  close(): void {
    this.#history.close();
  }

  #index(recorded: NotedTransaction, addresses: readonly string[]): void {
    this.#all.push(recorded);
    this.#bySignature.set(recorded.signature, recorded);
    this.#byMessage.set(recorded.messageHash, recorded);
    for (const address of addresses) {
      const known = this.#byAddress.get(address);
      if (known === undefined) this.#byAddress.set(address, [recorded]);
      else known.push(recorded);
    }
  }

  #shortenTo(length: number): void {
    while (this.#all.length > length) {
      const last = this.#all.pop();
      if (last === undefined) return;
      this.#bySignature.delete(last.signature);
      this.#byMessage.delete(last.messageHash);
      for (const { address } of this.told(last).keys.all) this.#byAddress.get(address)?.pop();
      this.#history.delete(last.position);
    }
  }
}
