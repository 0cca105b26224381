/** A request for a transaction, once it fits its quote and before it is taken. */
import type { FrameWrite } from "../frame-storage.ts";
import type { Caller } from "../accounts/caller.ts";
import type { Decision } from "../accounts/answer-once.ts";
import type { Address } from "../../../core/address.ts";
import type { PayeeTransfer } from "../recipients/recipients.ts";
import type { QuoteRecord, RecipientRecord, TransactionRecord } from "../tables/orders.ts";

export interface DeclaredTransaction {
  readonly accountId: string;
  readonly quoteId: string;
  readonly type: "send" | "swap" | "payroll";
  readonly mode: "wallet" | "private";
  readonly sender: Address;
  readonly senderAllowOffCurve: boolean;
  readonly transfers: readonly PayeeTransfer[];
  readonly reference: string | null;
  /** The payment that is refunded by it. */
  readonly refundOf: string | null;
}

/** A declared transaction, its quote, and the rest of the request. */
export interface CheckedRequest {
  readonly caller: Caller;
  readonly quote: QuoteRecord;
  readonly declared: DeclaredTransaction;
  /** Distinguishes this request from other requests with the same quote. */
  readonly requestHash: string;
  /** Base64; empty in private mode. */
  readonly signedTransaction: string;
  /** Throws for an amount that the operator's limits refuse. */
  readonly checkAmounts: () => Promise<void>;
}

/** Checks everything that is left to check, and decides what to commit. Throws a `PaymentError`; then nothing is kept. */
export type AcceptHandler<Body> = (request: CheckedRequest) => Promise<Decision<Body>>;

/** The rows of a transaction that was taken at this moment: nothing has happened to it yet. */
export function begunTransaction(
  { quote, declared, requestHash }: CheckedRequest,
  { id, createdAt }: Pick<TransactionRecord, "id" | "createdAt">,
): { readonly transaction: TransactionRecord; readonly recipients: readonly RecipientRecord[] } {
  const { accountId, type, mode, sender, senderAllowOffCurve, transfers, reference, refundOf } = declared;
  const transaction: TransactionRecord = {
    id,
    accountId,
    quoteId: quote.id,
    type,
    mode,
    sender,
    senderAllowOffCurve,
    reference,
    refundOf,
    requestHash,
    createdAt,
    inputMint: quote.inputMint,
    inputAmount: quote.inputAmount,
    outputMint: quote.outputMint,
    outputAmount: quote.outputAmount,
    feeMint: quote.feeMint,
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
    finalAt: null,
  };
  const recipients = transfers.map(
    ({ recipient: address, amount, allowOffCurve }, index): RecipientRecord => {
      const share = { transactionId: id, accountId, createdAt, index, address, allowOffCurve, amount };
      return { ...share, id: `${id}:${index}`, status: "unpaid", signature: null };
    },
  );
  return { transaction, recipients };
}

/**
 * Closes the quote before its caller is told to get another one. A request that read the quote earlier, and still asks
 * the chain about it, can then no longer use it: the refused caller pays with a new quote.
 */
export function closedQuote({ id, version }: QuoteRecord, closedAt: number): FrameWrite {
  return { table: "quotes", id, set: { closedAt }, expectedVersion: version };
}

/** The use of a quote: its transaction, and the time on the clock of this process. */
interface QuoteUse {
  readonly usedBy: string;
  readonly now: number;
}

/**
 * Uses the quote up. The commit is refused when another request has used or refreshed it since it was read; and when it has
 * expired meanwhile by the clock of the storage.
 */
export function usedQuote({ id, version }: QuoteRecord, { usedBy, now }: QuoteUse): FrameWrite {
  const unexpired = { field: "expiresAt", now } as const;
  return { table: "quotes", id, set: { usedBy }, expectedVersion: version, unexpired };
}
