/** Quotes, and the orders that used them, as their readers see them; the state of an order's machine is its instance. */
import type { Address } from "../../../core/address.ts";
import { column, ownTable, type Row } from "../../../../storage/table.ts";
import { rowOf, groupedBy, newestFirst, type NewestPageQuery, type TableReader, rowsOf } from "./read.ts";

/** The share of a recipient, in base units. */
export interface RecipientShare {
  readonly address: Address;
  readonly amount: bigint;
}

/** The public status of a transaction. */
export type TransactionStatus = "pending" | "confirmed" | "processing" | "completed" | "failed" | "cancelled";

/** Whether a status never changes. */
export function isFinalStatus(status: TransactionStatus): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

/** The reason why a transaction needs an operator. `unprovable`: no evidence tells whether its bytes landed. */
export type TransactionAttention = "unprovable";

/** A recipient that a quote binds. */
export interface QuotedRecipient extends RecipientShare {
  /** Whether the address may be one that no private key signs for. */
  readonly allowOffCurve: boolean;
}

/** Prices that were promised. */
export const quotes = ownTable("quotes", {
  columns: {
    id: "text",
    /** Guards the quote's single use and its refreshes. */
    version: "integer",
    accountId: "text",
    mode: column<"wallet" | "private">("text"),
    /** Mint addresses; SOL is its wrapped mint. */
    inputMint: "text",
    outputMint: "text",
    inputAmount: "amount",
    outputAmount: "amount",
    minOutputAmount: "amount",
    feeMint: "text",
    networkFee: "amount",
    routingFee: "amount",
    rent: "amount",
    /** Private mode: how many token accounts of recipients the price includes. */
    pricedAccounts: "integer",
    slippageBps: "integer",
    /** The price impact in percent, as decimal text. */
    priceImpact: "text",
    /** Wallet mode: 1 where the transaction to sign is of version 1; null for a legacy one. */
    transactionVersion: column<1 | null>("integer?"),
    sender: column<Address | null>("text?"),
    /** Private mode: whether the sender may be an address that no private key signs for. */
    senderAllowOffCurve: "boolean",
    /** Bound recipients, null when the quote left them open. */
    recipients: column<readonly QuotedRecipient[] | null>("json?"),
    /** A swap in wallet mode: the transaction that was last given out to be signed, as JSON text. */
    swap: "text?",
    createdAt: "integer",
    expiresAt: "integer",
    /**
     * When a caller was first told that the quote has expired: requests that read the quote before cannot use the quote any
     * more. A refresh opens the quote again.
     */
    closedAt: "integer?",
    /** The transaction that used the quote up. */
    usedBy: "text?",
  },
});

export interface QuoteRecord extends Row<typeof quotes> {}

/** The payment orders of the API. */
export const transactions = ownTable("transactions", {
  columns: {
    id: "text",
    accountId: "text",
    quoteId: "text",
    type: column<"send" | "swap" | "payroll">("text"),
    mode: column<"wallet" | "private">("text"),
    sender: column<Address>("text"),
    /** Private mode: whether the sender may be an address that no private key signs for. */
    senderAllowOffCurve: "boolean",
    /** As quoted, in base units: what is given, and what the recipients get. SOL is its wrapped mint. */
    inputMint: "text",
    inputAmount: "amount",
    outputMint: "text",
    outputAmount: "amount",
    /** Mint of what the fee is paid in: SOL in wallet mode, what is deposited in private mode. */
    feeMint: "text",
    /** The owner's name for the transaction; not unique. */
    reference: "text?",
    /** The payment that this one refunds. */
    refundOf: "text?",
    /** SHA-256 of the request that created it, hex: the same request again is answered with the same transaction. */
    requestHash: "text",
    status: column<TransactionStatus>("text"),
    reason: "text?",
    signature: "text?",
    /** Unix seconds, once final. */
    blockTime: "integer?",
    /** Base units of the fee's asset, once final. */
    fee: "amount?",
    /** True for a landing although the transaction had been cancelled, or judged to be past landing. */
    landedAfterCancel: "boolean",
    /** The reason why the transaction needs an operator; null without a reason. */
    attention: column<TransactionAttention | null>("text?"),
    /** The signature under which the message landed, when its sender signed the same message again. */
    landedSignature: "text?",
    /** The time of the point of no return: "broadcast started" was committed before the first byte left. */
    broadcastAt: "integer?",
    cancelledAt: "integer?",
    /** When its end was written down, or afterwards that its bytes have landed all the same; null while it is open. */
    finalAt: "integer?",
    createdAt: "integer",
  },
  indexes: {
    ofAccount: ["accountId", "createdAt", "id"],
    ofFinality: { on: ["accountId", "finalAt", "id"], present: ["finalAt"] },
    ofStatus: ["accountId", "status", "createdAt", "id"],
    ofSender: ["accountId", "sender", "createdAt", "id"],
    ofReference: { on: ["accountId", "reference", "createdAt", "id"], present: ["reference"] },
    ofRefunded: { on: ["refundOf", "createdAt", "id"], present: ["refundOf"] },
    ofType: ["accountId", "type", "createdAt", "id"],
    ofMode: ["accountId", "mode", "createdAt", "id"],
  },
});

export interface TransactionRecord extends Row<typeof transactions> {}

/**
 * The recipients of transactions. `id` is `transactionId:index`. Account and time of creation are those of the
 * transaction, so that an account's payments to one address are found in their order.
 */
export const recipients = ownTable("recipients", {
  columns: {
    id: "text",
    transactionId: "text",
    accountId: "text",
    createdAt: "integer",
    index: "integer",
    address: column<Address>("text"),
    /** Whether the address may be one that no private key signs for. */
    allowOffCurve: "boolean",
    amount: "amount",
    status: column<"unpaid" | "paid">("text"),
    signature: "text?",
  },
  indexes: {
    ofTransaction: ["transactionId", "index"],
    paidTo: ["accountId", "address", "createdAt", "transactionId"],
  },
});

export interface RecipientRecord extends Row<typeof recipients> {}

/** A transaction with its recipients. */
export interface TransactionView {
  readonly transaction: TransactionRecord;
  /** Ordered by index. */
  readonly recipients: readonly RecipientRecord[];
}

/** A filter for a list of transactions, whose rows are found without a look at others. */
export type TransactionLookup =
  | { readonly quoteId: string }
  | { readonly refundOf: string }
  | { readonly sender: Address }
  | { readonly status: TransactionStatus }
  | { readonly type: TransactionRecord["type"] }
  | { readonly mode: TransactionRecord["mode"] }
  | { readonly reference: string }
  | { readonly recipient: Address };

const TIMES = { createdAt: "ofAccount", finalAt: "ofFinality" } as const;

/** A part of a list that begins with the oldest: up to `limit` rows behind a time and an id. */
export interface TimePageQuery {
  readonly by: keyof typeof TIMES;
  readonly after: readonly [time: number, id: string];
  readonly limit: number;
}

export const orderReads = (read: TableReader) => ({
  quote: (id: string) => rowOf(read, quotes, id),
  async transaction(id: string): Promise<TransactionView | null> {
    const [view = null] = await transactionViews(read, [id]);
    return view;
  },
  /** Transactions in the order given; those that are gone are left out. */
  transactionViews: (ids: readonly string[]) => transactionViews(read, ids),
  /** The refunds that were taken for any of these payments, oldest first for each. */
  refundsOf: (ids: readonly string[]) =>
    read.find({ table: transactions, index: "ofRefunded", anyOf: ["refundOf", ids] }),
  /** An account's transactions, newest first, filtered by `only`. */
  transactionsOf(accountId: string, only: TransactionLookup | null, page: NewestPageQuery) {
    if (only !== null && "recipient" in only) {
      return transactionsPaidTo(read, { accountId, address: only.recipient }, page);
    }
    if (only !== null && "refundOf" in only) return refundsPage(read, { accountId, ...only }, page);
    if (only !== null && "quoteId" in only) return transactionOfQuote(read, { accountId, ...only }, page);
    return read.find({ table: transactions, ...indexOf(accountId, only), ...newestFirst(page) });
  },
  /** An account's transactions by the time of their beginning or of their end, oldest first, from a place on. */
  transactionsBeyond: (accountId: string, { by, after, limit }: TimePageQuery) =>
    read.find({ table: transactions, index: TIMES[by], equals: { accountId }, after, limit }),
  /** Every account's transactions, by id from `after` on; the empty string is before the first. */
  transactionsAfter: (after: string, limit: number) =>
    read.find({ table: transactions, index: "key", after: [after], limit }),
});

/** Asks for all facts in one turn. */
export async function transactionViews(
  read: TableReader,
  ids: readonly string[],
): Promise<readonly TransactionView[]> {
  const [rows, paid] = await Promise.all([
    rowsOf(read, transactions, ids),
    read.find({ table: recipients, index: "ofTransaction", anyOf: ["transactionId", ids] }),
  ]);
  const [byId, paidBy] = [groupedBy(rows, "id"), groupedBy(paid, "transactionId")];
  return ids.flatMap((id) =>
    (byId.get(id) ?? []).map((transaction) => ({
      transaction,
      recipients: paidBy.get(id) ?? [],
    })),
  );
}

/** A filter whose index begins with the account. */
type IndexedLookup = Exclude<
  TransactionLookup,
  { readonly recipient: Address } | { readonly refundOf: string } | { readonly quoteId: string }
>;

function indexOf(
  accountId: string,
  only: IndexedLookup | null,
): { readonly index: string; readonly equals: Partial<TransactionRecord> } {
  const indexes = {
    sender: "ofSender",
    reference: "ofReference",
    status: "ofStatus",
    type: "ofType",
    mode: "ofMode",
  };
  const [index = "ofAccount"] = Object.entries(indexes).flatMap(([field, name]) =>
    only !== null && field in only ? [name] : [],
  );
  return { index, equals: { accountId, ...only } };
}

/** The index of refunds names no account: a refund is of the account of its payment. */
async function refundsPage(
  read: TableReader,
  { accountId, refundOf }: { readonly accountId: string; readonly refundOf: string },
  page: NewestPageQuery,
): Promise<readonly TransactionRecord[]> {
  const found = await read.find({
    table: transactions,
    index: "ofRefunded",
    equals: { refundOf },
    ...newestFirst(page),
  });
  return found.filter((row) => row.accountId === accountId);
}

/** A quote names the transaction that has used it up, and is kept as long: it needs no index. */
async function transactionOfQuote(
  read: TableReader,
  { accountId, quoteId }: { readonly accountId: string; readonly quoteId: string },
  { below }: NewestPageQuery,
): Promise<readonly TransactionRecord[]> {
  const quote = await rowOf(read, quotes, quoteId);
  const found = await rowOf(read, transactions, quote?.usedBy ?? "");
  if (found === null || found.accountId !== accountId) return [];
  const { createdAt, id } = found;
  const isBelow =
    below === null || createdAt < below.createdAt || (createdAt === below.createdAt && id < below.id);
  return isBelow ? [found] : [];
}

async function transactionsPaidTo(
  read: TableReader,
  equals: { readonly accountId: string; readonly address: Address },
  page: NewestPageQuery,
): Promise<readonly TransactionRecord[]> {
  const paid = await read.find({ table: recipients, index: "paidTo", equals, ...newestFirst(page) });
  const ids = paid.map(({ transactionId }) => transactionId);
  const found = new Map((await rowsOf(read, transactions, ids)).map((row) => [row.id, row]));
  return ids.map((id) => found.get(id)).filter((row) => row !== undefined);
}
