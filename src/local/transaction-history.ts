/** The transactions that landed, found by signature, by message and by account. */
import type { ExecutedTransaction } from "./bank.ts";
import { memosOf } from "./memo.ts";
import { HistoryFile } from "./history-file.ts";
import type { TokenBalance } from "./token-balances.ts";
import { decodeTransaction, type DecodedTransaction } from "./transaction-bytes.ts";
import type { TransactionErrorJson } from "./transaction-errors.ts";

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

/** Fields written to the history; other fields follow from the bytes. */
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

/** Fields of a transaction that stay in memory. */
interface KeptOfTransaction {
  readonly signature: string;
  readonly messageHash: string;
  readonly slot: number;
  /** Unix milliseconds at which its slot began. */
  readonly time: number;
  /** The transaction's place among all transactions of the chain. */
  readonly position: number;
  readonly err: TransactionErrorJson | null;
  /** All its memos as nodes list them; kept, because long lists show them. */
  readonly memo: string | null;
}

/** Remembers every landed transaction: a short note of each in memory, and what else is told of it on disk. */
export class TransactionHistory {
  readonly #all: RecordedTransaction[] = [];
  readonly #bySignature = new Map<string, RecordedTransaction>();
  readonly #byMessage = new Map<string, RecordedTransaction>();
  readonly #byAddress = new Map<string, RecordedTransaction[]>();
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
    this.#history.set(position, toldOf(landed));
    this.#index(new RecordedTransaction(kept, this.#history), addresses);
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
  naming(address: string): readonly RecordedTransaction[] {
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
    this.#shortenTo(this.lengthUpTo(slot));
  }

  /** Ends the history; what is only noted can still be asked for. */
  close(): void {
    this.#history.close();
  }

  #index(recorded: RecordedTransaction, addresses: readonly string[]): void {
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
      for (const { address } of last.keys.all) this.#byAddress.get(address)?.pop();
      this.#history.delete(last.position);
    }
  }
}

/** A landed transaction whose bulk is read when somebody asks for it. */
class RecordedTransaction implements LandedTransaction {
  readonly signature: string;
  readonly messageHash: string;
  readonly slot: number;
  readonly time: number;
  readonly position: number;
  readonly err: LandedTransaction["err"];
  /** All its memos as nodes list them; kept, because long lists show them. */
  readonly memo: string | null;
  readonly #history: HistoryFile<Told>;

  constructor(kept: KeptOfTransaction, history: HistoryFile<Told>) {
    this.signature = kept.signature;
    this.messageHash = kept.messageHash;
    this.slot = kept.slot;
    this.time = kept.time;
    this.position = kept.position;
    this.err = kept.err;
    this.memo = kept.memo;
    this.#history = history;
  }

  get bytes(): Uint8Array {
    return this.#told.bytes;
  }

  get transaction(): LandedTransaction["transaction"] {
    return decodeTransaction(this.bytes).transaction;
  }

  get version(): LandedTransaction["version"] {
    return decodeTransaction(this.bytes).version;
  }

  get staticKeys(): LandedTransaction["staticKeys"] {
    return decodeTransaction(this.bytes).staticKeys;
  }

  get logs(): LandedTransaction["logs"] {
    return this.#told.logs;
  }

  get computeUnits(): bigint {
    return this.#told.computeUnits;
  }

  get innerInstructions(): LandedTransaction["innerInstructions"] {
    return this.#told.innerInstructions;
  }

  get returnData(): LandedTransaction["returnData"] {
    return this.#told.returnData;
  }

  get keys(): LandedTransaction["keys"] {
    return this.#told.keys;
  }

  get fee(): bigint {
    return this.#told.fee;
  }

  get balances(): LandedTransaction["balances"] {
    return this.#told.balances;
  }

  get tokenBalances(): LandedTransaction["tokenBalances"] {
    return this.#told.tokenBalances;
  }

  get #told(): Told {
    return this.#history.get(this.position);
  }
}

function toldOf(landed: LandedTransaction): Told {
  const { bytes, logs, computeUnits, innerInstructions, returnData, keys, fee, balances, tokenBalances } =
    landed;
  return { bytes, logs, computeUnits, innerInstructions, returnData, keys, fee, balances, tokenBalances };
}
