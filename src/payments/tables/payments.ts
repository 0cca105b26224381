/** Tables of signed bytes: payments out of deposit addresses, and all attempts, the caller's included. */
import type { Address } from "../../address.ts";
import { column, ownTable, type Row } from "../../../storage/table.ts";
import { type TableReader, rowsOf } from "./read.ts";

/** The share of a recipient, in base units. */
export interface RecipientShare {
  readonly address: Address;
  readonly amount: bigint;
}

/** On-chain transactions out of deposit addresses that the service itself signs; the machine of each has the same id. */
export const payments = ownTable("payments", {
  columns: {
    id: "text",
    transactionId: "text",
    /** The deposit address it pays from. */
    address: column<Address>("text"),
    /** `plan` pays no one: it replaces a marker by new payments. */
    kind: column<"payout" | "swap" | "plan" | "refund" | "sweep" | "collect">("text"),
    status: column<"planned" | "broadcast" | "confirmed" | "finalized" | "failed">("text"),
    /** Names the payment within its address, such as `order`, `refund 1`. The plan names the marker. */
    mark: "text",
    mint: "text",
    legs: column<readonly RecipientShare[]>("json"),
    /**
     * The moves of the transaction, as JSON text: rebuilt over a new blockhash for each attempt, otherwise unchanged.
     */
    plan: "text",
    signature: "text?",
    reason: "text?",
    createdAt: "integer",
    /** Since when three attempts or more have not landed that an endpoint took; null otherwise, and once it is over. */
    stuckSince: "integer?",
  },
  indexes: {
    ofTransaction: ["transactionId", "createdAt", "id"],
    stuck: { on: ["stuckSince", "id"], present: ["stuckSince"] },
  },
  migrations: [{ add: { stuckSince: null }, beside: true }],
});

export interface PaymentRecord extends Row<typeof payments> {}

/** Sets of signed bytes. `id` is the first signature; the message hash is unique too, as it is on the chain. */
export const attempts = ownTable("attempts", {
  columns: {
    id: "text",
    messageHash: "text",
    transactionId: "text",
    bytes: "bytes",
    blockhash: "text",
    lastValidBlockHeight: "integer",
    /** No block of an earlier slot can hold it: a node whose ledger begins later does not know whether it landed. */
    firstSlot: "integer",
    /** The key by which a transaction of our own making is listed besides its accounts, base58; null for others. */
    reference: column<Address | null>("text?"),
    createdAt: "integer",
    /** When an endpoint took the bytes of a payment; null before, and for a caller's bytes. */
    takenAt: "integer?",
    /** Lamports that the bytes tip a relay; null where they tip nobody, and in a row from before. */
    tip: "amount?",
  },
  unique: ["messageHash"],
  migrations: [
    { beside: true },
    { add: { takenAt: null }, beside: true },
    { add: { tip: null }, beside: true },
  ],
  settled: true,
});

export interface AttemptRecord extends Row<typeof attempts> {}

export const signedReads = (read: TableReader) => ({
  payment: (id: string) => read.get(payments, id),
  /** Up to `limit` of those that are stuck, the longest first. */
  stuckPayments: (limit: number) => read.find({ table: payments, index: "stuck", limit }),
  /** Attempts by their signatures, in any order; unknown ones are left out. */
  attempts: (signatures: readonly string[]) => rowsOf(read, attempts, signatures),
  async attemptLike(signature: string, messageHash: string) {
    const [bySignature, [byHash]] = await Promise.all([
      read.get(attempts, signature),
      read.find({ table: attempts, index: "messageHash", equals: { messageHash } }),
    ]);
    return bySignature ?? byHash ?? null;
  },
});
