/** The JSON body of a notice, as receivers get it. Serialised once, then sent byte for byte on every attempt. */
import type { NoticeEvent } from "../../../../machines/notice-events.ts";

export { NOTICE_EVENTS, STATUS_EVENTS, type NoticeEvent } from "../../../../machines/notice-events.ts";

/** A recipient, as the notice shows it. */
export interface NoticeRecipient {
  /** Wallet address, base58. */
  readonly address: string;
  /** Decimal string in whole units of the asset. */
  readonly amount: string;
  /** Private payroll only: whether this payee was paid. Left out of the body when absent. */
  readonly status?: "paid" | "unpaid";
}

/** The terms of a transaction: the same in each answer and notice of it, from the first to the last. */
export interface TransactionFacts {
  /** Wallet address, base58. In private mode where refunds go, whoever has deposited. */
  readonly sender: string;
  readonly quoteId: string;
  /** Symbol of what is given. */
  readonly inputAsset: string;
  /** Null for SOL. */
  readonly inputMint: string | null;
  /** Decimal string in whole units, as quoted; in private mode it includes the fee. */
  readonly inputAmount: string;
  /** Symbol of what the recipients get. */
  readonly outputAsset: string;
  /** Null for SOL. */
  readonly outputMint: string | null;
  /** Decimal string in whole units, as quoted: what the recipients get in all. */
  readonly outputAmount: string;
}

/** The content of a notice. */
export interface Notice {
  readonly event: NoticeEvent;
  readonly transactionId: string;
  /** Time of the commit that changed the status, or that tells the event. Milliseconds since the Unix epoch. */
  readonly timestamp: number;
  readonly data: TransactionFacts & {
    readonly transactionId: string;
    readonly status: "pending" | "confirmed" | "processing" | "completed" | "failed" | "cancelled";
    readonly mode: "wallet" | "private";
    readonly type: "send" | "swap" | "payroll";
    /** On-chain signature, base58; null while unknown. */
    readonly signature: string | null;
    /** Unix seconds; null while unknown. */
    readonly blockTime: number | null;
    /** Decimal string; null while unknown. */
    readonly fee: string | null;
    readonly recipients: readonly NoticeRecipient[];
    /** The reason why a transaction failed; null otherwise. */
    readonly reason: string | null;
    /** The owner's name for the transaction; null without a name. */
    readonly reference: string | null;
    /** Event `transaction.deposit_received` only: the finalized sum of the order's asset, a decimal string. */
    readonly received?: string;
    /** Event `transaction.deposit_received` only: the missing part of the deposit at that time, "0" once it is complete. */
    readonly remaining?: string;
  };
}

/**
 * Serialises a notice: exactly the documented fields in their order, also where the objects hold more.
 * Unknown values are `null`, never left out. Throws RangeError when `timestamp` is not a valid time.
 */
export function noticeBody({ event, transactionId, timestamp, data }: Notice): string {
  return JSON.stringify({
    event,
    transactionId,
    timestamp: new Date(timestamp).toISOString(),
    data: {
      transactionId: data.transactionId,
      status: data.status,
      mode: data.mode,
      type: data.type,
      signature: data.signature,
      blockTime: data.blockTime,
      fee: data.fee,
      // JSON.stringify leaves out what is undefined.
      recipients: data.recipients.map(({ address, amount, status }) => ({ address, amount, status })),
      reason: data.reason,
      reference: data.reference,
      sender: data.sender,
      quoteId: data.quoteId,
      inputAsset: data.inputAsset,
      inputMint: data.inputMint,
      inputAmount: data.inputAmount,
      outputAsset: data.outputAsset,
      outputMint: data.outputMint,
      outputAmount: data.outputAmount,
      received: data.received,
      remaining: data.remaining,
    },
  });
}
