/** A request for a transaction, once it fits its quote and before it is taken. */
import type { PaymentWrite } from "../payment-storage.ts";
import type { Caller } from "../accounts/caller.ts";
import type { Decision } from "../accounts/answer-once.ts";
import type { Address } from "../../address.ts";
import type { Transfer } from "../../ledger/ledger.ts";
import type { QuoteRecord, RecipientRecord, TransactionRecord } from "../tables/orders.ts";

/** What the caller says it wants to pay. */
export interface DeclaredTransaction {
  readonly accountId: string;
  readonly quoteId: string;
  readonly type: "send" | "swap" | "payroll";
  readonly mode: "wallet" | "private";
  readonly sender: Address;
  readonly transfers: readonly Transfer[];
  readonly reference: string | null;
}

/** What is declared, the quote that it is of, and what came with it. */
export interface CheckedRequest {
  readonly caller: Caller;
  readonly quote: QuoteRecord;
  readonly declared: DeclaredTransaction;
  /** Tells this request from another one under the same quote. */
  readonly requestHash: string;
  /** Base64; empty in private mode. */
  readonly signedTransaction: string;
  /** Throws for an amount that the operator's limits refuse. */
  readonly checkAmounts: () => Promise<void>;
}

/** Checks everything that is left to check, and decides what to commit. Throws a `PaymentError`; then nothing is kept. */
export type AcceptHandler<Body> = (request: CheckedRequest) => Promise<Decision<Body>>;

/** The rows that every transaction begins with. */
interface BegunTransaction {
  readonly transaction: TransactionRecord;
  readonly recipients: readonly RecipientRecord[];
}

/** The rows of a transaction that was taken at this moment: nothing has happened to it yet. */
export function begunTransaction(
  { quote, declared, requestHash }: CheckedRequest,
  { id, createdAt }: Pick<TransactionRecord, "id" | "createdAt">,
): BegunTransaction {
  const { accountId, type, mode, sender, transfers, reference } = declared;
  const transaction: TransactionRecord = {
    id,
    accountId,
    quoteId: quote.id,
    type,
    mode,
    sender,
    reference,
    requestHash,
    createdAt,
    mint: quote.outputMint,
    feeMint: quote.feeMint,
    depositAddress: null,
    status: "pending",
    reason: null,
    signature: null,
    blockTime: null,
    fee: null,
    landedAfterCancel: false,
    attention: null,
    landedSignature: null,
    broadcastAt: null,
    cancelledAt: null,
  };
  const recipients = transfers.map(({ recipient, amount }, index): RecipientRecord => {
    const share = { transactionId: id, accountId, createdAt, index, address: recipient, amount };
    return { ...share, id: `${id}:${index}`, status: "unpaid", signature: null };
  });
  return { transaction, recipients };
}

/**
 * Closes the quote before its caller is told that it has expired. A process that had read it and was held up since then
 * cannot use it any more: the caller, who was refused, may have paid with another quote.
 */
export function closedQuote({ id, version }: QuoteRecord, closedAt: number): PaymentWrite {
  return { table: "quotes", id, set: { closedAt }, expectedVersion: version };
}

/** What becomes of a quote: which transaction uses it, and when on the clock of this process. */
interface QuoteUse {
  readonly usedBy: string;
  readonly now: number;
}

/**
 * Uses the quote up. The commit is refused when another request has used or refreshed it since it was read, and when it has
 * expired meanwhile by the clock of the storage.
 */
export function usedQuote({ id, version }: QuoteRecord, { usedBy, now }: QuoteUse): PaymentWrite {
  const unexpired = { field: "expiresAt", now } as const;
  return { table: "quotes", id, set: { usedBy }, expectedVersion: version, unexpired };
}
