/** Tables of deposit addresses: the addresses, their ledgers, and the money that operators have vouched for. */
import type { Address } from "../../address.ts";
import { column, ownTable, type Row } from "../../../storage/table.ts";
import { type TableReader, rowsOf } from "./read.ts";

/**
 * `id` is the address. No key is stored: it is derived from the master secret of this version, the chain's genesis hash
 * and the transaction's id, so a lost database loses no money.
 */
export const deposits = ownTable("deposits", {
  columns: {
    id: column<Address>("text"),
    /** The order of the address: one address for each transaction. */
    transactionId: "text",
    accountId: "text",
    masterVersion: "integer",
    /** Mint and base units of what the caller is asked to deposit. */
    mint: "text",
    amount: "amount",
    /** The end of the deposit window, on the chain's own clock. */
    expiresAt: "integer",
    /** The end of the wait for the deposit: funded, cancelled or over. */
    waitEndedAt: "integer?",
    /** The reason why nothing is signed for the address until an operator has looked; null while nothing is wrong. */
    heldReason: "text?",
    /** The end of the last gap in the lives of the database that the address was checked for, or vouched for; null for none. */
    checkedTo: "integer?",
    createdAt: "integer",
    /** The token account of each token, by mint: to derive them all takes half a minute of 50,000 addresses. Null in a row from before. */
    accounts: column<Readonly<Record<string, Address>> | null>("json?"),
    /** The key that a Solana Pay request for the address names, by which its deposit gets a name. Null in a row from before. */
    referenceKey: column<Address | null>("text?"),
    /** The time when tokens of a mint that is none of the assets last came; null once all have left, or an operator has seen to them. */
    otherMintsAt: "integer?",
    /** Grows with each change of the row: a payment is signed only while the row is as it was when the payment was looked at. */
    version: "integer",
  },
  unique: ["transactionId"],
  migrations: [
    { add: { checkedTo: null } },
    { add: { version: 1 } },
    { add: { accounts: null } },
    { add: { referenceKey: null } },
    { add: { otherMintsAt: null } },
  ],
  indexes: {
    waiting: ["accountId", "waitEndedAt"],
    // What needs a person is seldom, and looked for often.
    held: { on: ["createdAt", "id"], present: ["heldReason"] },
    otherMints: { on: ["createdAt", "id"], present: ["otherMintsAt"] },
  },
  group: { by: ["accountId"], open: "waitEndedAt" },
});

/** The reason that an address is held for once it was written off: it stays held, and is no matter any more. */
export const WRITTEN_OFF = "written_off";

export interface DepositRecord extends Row<typeof deposits> {}

/**
 * The lines of the deposit addresses' ledgers. `deposit` and `loan` come in; `payout`, `refund`, `fee`, `dust` and
 * `repayment` go out. All lines of an address that has come to rest sum to zero, mint by mint, and equal the chain.
 */
export const entries = ownTable("entries", {
  columns: {
    id: "text",
    address: "text",
    at: "integer",
    kind: column<"deposit" | "loan" | "payout" | "refund" | "fee" | "dust" | "repayment">("text"),
    mint: "text",
    /** Base units; always above zero, the kind tells the direction. */
    amount: "amount",
    /** The transaction that moved it. Deposits are seen from balances, and null unless a transaction that names the order's key has brought just that. */
    signature: "text?",
    /** Of a deposit: who has given all of it, as the chain showed when its order was funded; null where that did not tell one wallet. */
    payer: column<Address | null>("text?"),
    /** Of a deposit in a mint that is none of the assets: the mint's decimals, as one node has them; null while unknown. */
    decimals: "integer?",
  },
  indexes: { ofAddress: ["address", "at", "id"] },
});

export interface EntryRecord extends Row<typeof entries> {}

/**
 * Money at a deposit address that an operator's word covers: money received before the word was given, and no later
 * money. `id` consists of the address and the step of its chart that the word follows.
 */
export const vouchings = ownTable("vouchings", {
  columns: {
    id: "text",
    address: "text",
    /** The step of the address's chart that it follows: the newest word has the highest. */
    step: "integer",
    at: "integer",
    /** Later transactions are not covered, whatever the amounts say; null for a word of an earlier version. */
    slot: "integer?",
    /** The transactions that had brought money, as far as the nodes listed them. */
    signatures: column<readonly string[]>("json"),
    /** Base units of all that had ever come in, as decimal strings, by mint. */
    came: column<Readonly<Record<string, string>>>("json"),
    /** The receiver of the money; null for the sender. */
    refundTo: column<Address | null>("text?"),
    /** Base units that may go there, network costs included, as decimal strings, by mint; null for the sender. */
    allowed: column<Readonly<Record<string, string>> | null>("json?"),
  },
  migrations: [{ add: { slot: null } }],
  indexes: { ofAddress: ["address", "step", "id"] },
});

export interface VouchingRecord extends Row<typeof vouchings> {}

/** Transactions that an address has signed and this database did not know of when a node listed them; `id` is the signature. */
export const unknownSignatures = ownTable("unknownSignatures", {
  columns: { id: "text", address: "text" },
  indexes: { ofAddress: ["address", "id"] },
});

export const depositReads = (read: TableReader) => ({
  /** Deposit addresses by themselves, in any order; foreign addresses are left out. */
  deposits: (addresses: readonly string[]) => rowsOf(read, deposits, addresses),
  /** Up to `limit` deposit addresses by ascending id, the first one above `after`: all of them, page by page. */
  depositsAfter: (after: string, limit: number) =>
    read.find({ table: deposits, index: "key", after: [after], limit }),
  /** The ledger of a deposit address, oldest first. */
  entries: (address: string) => read.find({ table: entries, index: "ofAddress", equals: { address } }),
  /** The ledgers of several deposit addresses, the lines of each oldest first. */
  entriesOf: (addresses: readonly string[]) =>
    read.find({ table: entries, index: "ofAddress", anyOf: ["address", addresses] }),
  /** Money that operators have vouched for at a deposit address, oldest word first. */
  vouchings: (address: string) => read.find({ table: vouchings, index: "ofAddress", equals: { address } }),
  /** Every transaction of an address that this database did not know of when a node listed it. */
  async unknownSignatures(address: string): Promise<readonly string[]> {
    const found = await read.find({ table: unknownSignatures, index: "ofAddress", equals: { address } });
    return found.map(({ id }) => id);
  },
  /** Up to `limit` deposit addresses that are held, written off or not, the oldest address first; behind `last` where it is given. */
  heldDeposits(limit: number, last?: Pick<DepositRecord, "createdAt" | "id">) {
    const after = last === undefined ? {} : { after: [last.createdAt, last.id] };
    return read.find({ table: deposits, index: "held", ...after, limit });
  },
  /** Up to `limit` deposit addresses with tokens that are none of the assets, the oldest address first. */
  depositsWithOtherMints: (limit: number) => read.find({ table: deposits, index: "otherMints", limit }),
});
