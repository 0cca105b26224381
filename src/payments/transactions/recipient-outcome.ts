/** What became of each recipient, and by which transaction. */
import type { TransactionBody } from "./transaction-schema.ts";
import type { AttemptRecord } from "../frame/tables/attempts.ts";
import {
  isFinalStatus,
  type RecipientRecord,
  type TransactionRecord,
  type TransactionView,
} from "../frame/tables/orders.ts";
import type { ChunkRecord, OrderView } from "../frame/tables/private.ts";
import { isRefused } from "../private/order-books.ts";

/** With the signature of the transaction that pays the recipient, null while there is none. */
type RecipientOutcome = Pick<TransactionBody["recipients"][number], "status" | "signature">;

/** A transaction with the attempts of its order's transfers. */
export interface AttemptedView extends TransactionView {
  readonly attempts: readonly AttemptRecord[];
}

export function recipientOutcome(share: RecipientRecord, view: AttemptedView): RecipientOutcome {
  const { transaction, order } = view;
  return order === null ? ofBytes(transaction) : ofOrder(share, { ...view, order });
}

/** Whether a recipient has the money for good. */
export function isPaid(share: RecipientRecord, { mode, ...bytes }: TransactionRecord): boolean {
  return mode === "private" ? share.status === "paid" : statusOfBytes(bytes) === "paid";
}

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

function ofBytes(transaction: TransactionRecord): RecipientOutcome {
  const { signature, landedSignature } = transaction;
  const status = statusOfBytes(transaction);
  const hasLanded = status === "confirmed" || status === "paid";
  return { status, signature: hasLanded ? (landedSignature ?? signature) : null };
}

/** In private mode the marker of a recipient's chunk decides. */
function ofOrder(
  share: RecipientRecord,
  { transaction: { status }, order, attempts }: AttemptedView & { readonly order: OrderView },
): RecipientOutcome {
  if (share.status === "paid") return { status: "paid", signature: share.signature };
  const chunk = chunkOf(order, share);
  if (isDecided(order, chunk)) return { status: "unpaid", signature: null };
  if (status === "confirmed") return { status: "confirmed", signature: onlyAttempt(order, chunk, attempts) };
  // A go that is found after the end pays on.
  const isOver = isFinalStatus(status) && order.order.overState !== "paying";
  return { status: isOver ? "unpaid" : "pending", signature: null };
}

/** The chunk of a recipient: chunks take recipients in their stored order. */
function chunkOf({ order, chunks }: OrderView, { index }: RecipientRecord): ChunkRecord | undefined {
  let before = 0;
  const k = order.cut.findIndex((size) => {
    before += size;
    return index < before;
  });
  return chunks.find((chunk) => chunk.k === k);
}

/** Whether it is final whom the chunk pays; of another copy's marker that is known once its transactions are. */
function isDecided(order: OrderView, chunk: ChunkRecord | undefined): boolean {
  if (isRefused(order)) return true;
  return chunk !== undefined && chunk.length !== null && (chunk.isOwn || chunk.paid !== null);
}

/** A chunk's only attempt is the one that landed; which of several attempts landed is seen when the chunk is final. */
function onlyAttempt(
  { transfers }: OrderView,
  chunk: ChunkRecord | undefined,
  attempts: readonly AttemptRecord[],
): string | null {
  const transfer = transfers.find(({ kind, n }) => kind === "chunk" && n === chunk?.k);
  const own = attempts.filter((each) => each.transfer === transfer?.id && each.error === null);
  return own.length === 1 ? (own[0]?.id ?? null) : null;
}

/** Signatures of the transactions that have paid recipients of an order, then of those that are out to pay some. */
export function payingSignatures(
  recipients: readonly RecipientRecord[],
  { transfers }: OrderView,
  attempts: readonly AttemptRecord[],
): readonly string[] {
  const paid = recipients.flatMap(({ status, signature }) => (status === "paid" ? (signature ?? []) : []));
  const out = transfers
    .filter(({ kind, state }) => kind === "chunk" && state === "out")
    .flatMap(({ id }) => {
      const newest = attempts.findLast(({ transfer, error }) => transfer === id && error === null);
      return newest?.legs?.some(({ as }) => as === "payee") === true ? newest.id : [];
    });
  return [...new Set([...paid, ...out])];
}
