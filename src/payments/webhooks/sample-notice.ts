/** Makes the notice that a receiver is tried with: shaped like a real one, and about no money. */
import type { Notice, NoticeEvent } from "./sending/notice-body.ts";

/** The system program, which no wallet signs for: a sample that is mistaken for a real notice names no person. */
const NO_WALLET = "11111111111111111111111111111111";
/** 64 bytes of 0 in base58. */
const NO_SIGNATURE = "1".repeat(64);

const STATUS_OF = {
  "transaction.pending": "pending",
  "transaction.confirmed": "confirmed",
  "transaction.completed": "completed",
  "transaction.failed": "failed",
} as const satisfies Record<NoticeEvent, Notice["data"]["status"]>;

/** A sample notice of each event, as in a wallet's own send of 1 SOL. */
export function sampleNotice(event: NoticeEvent, transactionId: string, now: number): Notice {
  const isFinal = event === "transaction.completed" || event === "transaction.failed";
  return {
    event,
    transactionId,
    timestamp: now,
    data: {
      transactionId,
      status: STATUS_OF[event],
      mode: "wallet",
      type: "send",
      signature: NO_SIGNATURE,
      blockTime: isFinal ? Math.floor(now / 1_000) : null,
      fee: isFinal ? "0.000005" : null,
      recipients: [{ address: NO_WALLET, amount: "1" }],
      reason: event === "transaction.failed" ? "transaction_error" : null,
      reference: null,
    },
  };
}
