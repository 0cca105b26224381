/** Signed bytes: the caller's, and those of the service's own transfers. */
import type { Address } from "../../../core/address.ts";
import { column, ownTable, type Row } from "../../../../storage/table.ts";
import { rowOf, type TableReader, rowsOf } from "./read.ts";

/** One sum that a landing of signed bytes takes out of an order's address. */
export interface AttemptLeg {
  readonly mint: string;
  readonly to: Address;
  /** Base units. */
  readonly amount: bigint;
  /** `cost` goes to the sponsor for what the transaction costs, `loan` gives the loan back, `rent` an account's rent. */
  readonly as: "payee" | "fee" | "sender" | "cost" | "loan" | "rent";
}

/** Sets of signed bytes. `id` is the first signature; the message hash is unique too, as it is on the chain. */
export const attempts = ownTable("attempts", {
  columns: {
    id: "text",
    messageHash: "text",
    transactionId: "text",
    /** The transfer that it was signed for; null for a caller's bytes. */
    transfer: "text?",
    bytes: "bytes",
    blockhash: "text",
    lastValidBlockHeight: "integer",
    /** No block of an earlier slot can hold it: a node whose ledger begins later does not know whether it landed. */
    firstSlot: "integer",
    /** The key by which a transaction of our own making is listed besides its accounts, base58; null for others. */
    reference: column<Address | null>("text?"),
    createdAt: "integer",
    /** When an endpoint took the bytes of a transfer; null before, and for a caller's bytes. */
    takenAt: "integer?",
    /** The moves of a transfer's landing; null for a caller's bytes. */
    legs: column<readonly AttemptLeg[] | null>("json?"),
    /** Lamports that a transfer's bytes bid for their place in a block. */
    bid: "amount?",
    /** The chain's error at finalized; null while none is known. */
    error: "text?",
  },
  unique: ["messageHash"],
  indexes: { ofTransfer: { on: ["transfer", "createdAt", "id"], present: ["transfer"] } },
});

export interface AttemptRecord extends Row<typeof attempts> {}

export const attemptReads = (read: TableReader) => ({
  /** The attempts of a transfer, oldest first. */
  attemptsOf: (transfer: string) => read.find({ table: attempts, index: "ofTransfer", equals: { transfer } }),
  /** The attempts of several transfers, those of each oldest first. */
  attemptsOfAny: (transfers: readonly string[]) =>
    read.find({ table: attempts, index: "ofTransfer", anyOf: ["transfer", transfers] }),
  /** Attempts by their signatures, in any order; unknown ones are left out. */
  attempts: (signatures: readonly string[]) => rowsOf(read, attempts, signatures),
  async attemptLike(signature: string, messageHash: string) {
    const [bySignature, [byHash]] = await Promise.all([
      rowOf(read, attempts, signature),
      read.find({ table: attempts, index: "messageHash", equals: { messageHash } }),
    ]);
    return bySignature ?? byHash ?? null;
  },
});
