/** The content of a transaction that a caller has signed. */
import type { TransactionDetails, RecipientOutcome } from "../transactions/transaction-mode.ts";
import type { TransactionRecord } from "../tables/orders.ts";

type Bytes = Pick<TransactionRecord, "status" | "landedAfterCancel">;

const OF_BYTES: Readonly<Partial<Record<TransactionRecord["status"], RecipientOutcome["status"]>>> = {
  confirmed: "confirmed",
  completed: "paid",
  failed: "unpaid",
  cancelled: "unpaid",
};

/** In wallet mode one transaction pays all recipients or none, so every recipient has the transaction's outcome. */
function statusOfBytes({ status, landedAfterCancel }: Bytes): RecipientOutcome["status"] {
  // A cancelled transaction whose caller broadcast the bytes anyway.
  return landedAfterCancel ? "paid" : (OF_BYTES[status] ?? "pending");
}

export function signedDetails(transaction: TransactionRecord): TransactionDetails {
  const { fee, signature, landedSignature, inputAmount, attention } = transaction;
  const status = statusOfBytes(transaction);
  const hasLanded = status === "confirmed" || status === "paid";
  const outcome = { status, signature: hasLanded ? (landedSignature ?? signature) : null };
  return {
    fee,
    feeSignature: landedSignature ?? signature,
    outcomeOf: () => outcome,
    // That of the given bytes, and that under which the sender had the same message land.
    signatures: [signature, landedSignature].filter((each) => each !== null),
    refunds: [],
    given: inputAmount,
    attention,
    own: {},
  };
}
