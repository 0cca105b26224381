/** Keeps bytes that a caller has signed: with their transaction, in one commit, before the first of them leaves. */
import type { Address } from "../../../core/address.ts";
import type { FrameTables } from "../tables.ts";
import type { TransactionRecord } from "../tables/orders.ts";
import type { AttemptRecord } from "../tables/attempts.ts";
import type { CommitResult } from "../../../../storage/storage.ts";
import type { FrameStorage, FrameWrite } from "../frame-storage.ts";
import type { CommitAdditions, StartRequest } from "../../../engine/index.ts";
import { PaymentError } from "../../../errors/errors.ts";
import type { VerifiedPayment } from "../../../ledger/ledger.ts";
import type { Decision } from "../accounts/answer-once.ts";
import { newId } from "../ids.ts";
import { isoTime } from "../iso-time.ts";
import { factsOf } from "../quotes/transaction-facts.ts";
import type { TransactionFacts } from "../notices/notice-body.ts";
import { begunTransaction, usedQuote, type CheckedRequest } from "../quotes/checked-request.ts";
import type { ServiceContext } from "../service-context.ts";
import type { TransactionPlan } from "../../../ledger/routing.ts";
import type { Assets } from "../assets/assets.ts";

/** The answer to POST /v1/transactions in wallet mode. */
export interface CreatedTransferBody extends TransactionFacts {
  readonly transactionId: string;
  readonly status: string;
  readonly mode: "wallet";
  readonly signature: string;
  readonly createdAt: string;
}

/** Verified bytes of a payment or a swap. */
export type VerifiedBytes = Omit<VerifiedPayment, "references">;

/** Signed bytes that the chain would carry out, and further parts of the commit that takes them. */
export interface ExaminedTransaction {
  readonly verified: VerifiedBytes;
  /** The reference key of the transaction; null for a transaction that a swap provider built. */
  readonly reference: Address | null;
  /** Reservations that last until the transaction has landed or is proved dead. */
  readonly reservations: readonly string[];
  readonly writes: readonly FrameWrite[];
}

/** Dependencies besides the context. */
export interface SignedTransactionParts extends Pick<
  ServiceContext,
  "storage" | "clock" | "random" | "assets"
> {
  readonly commit: (companions: CommitAdditions<FrameTables>) => Promise<CommitResult>;
  /** The first step of a transfer. */
  readonly startTransfer: (transaction: TransactionRecord, reservations: readonly string[]) => StartRequest;
}

/**
 * Throws `DUPLICATE_TRANSACTION` for bytes or a message that were taken before. The id of the other transaction is shown
 * to its owner only.
 */
export async function refuseKnown(
  storage: FrameStorage,
  { signature, messageHash }: VerifiedBytes,
  accountId: string,
): Promise<void> {
  const known = await storage.attemptLike(signature, messageHash);
  if (known === null) return;
  const { transactionId } = known;
  const owner = (await storage.transaction(transactionId))?.transaction.accountId;
  throw new PaymentError("DUPLICATE_TRANSACTION", owner === accountId ? { transactionId } : {});
}

export function acceptSigned(
  parts: SignedTransactionParts,
  request: CheckedRequest,
  examined: ExaminedTransaction,
): Decision<CreatedTransferBody> {
  const { clock, random, assets, commit, startTransfer } = parts;
  const createdAt = clock.now();
  const { signature } = examined.verified;
  const begun = begunTransaction(request, { id: newId("tx", createdAt, random), createdAt });
  const transaction = { ...begun.transaction, signature };
  const writes: FrameWrite[] = [
    usedQuote(request.quote, { usedBy: transaction.id, now: createdAt }),
    ...examined.writes,
    { table: "attempts", insert: attemptOf(transaction, examined) },
    { table: "transactions", insert: transaction },
    ...begun.recipients.map((insert) => ({ table: "recipients" as const, insert })),
  ];
  const starts = [startTransfer(transaction, examined.reservations)];
  return {
    body: createdTransferBody(transaction, assets),
    // Refused means that another request took the quote, the bytes or the key first: deciding again finds out which.
    commit: async (more) => (await commit({ starts, writes: [...writes, ...more] })).ok,
  };
}

/** The answer to a new transaction; the same at every replay. */
export function createdTransferBody(transaction: TransactionRecord, assets: Assets): CreatedTransferBody {
  return {
    transactionId: transaction.id,
    status: "pending",
    mode: "wallet",
    signature: transaction.signature ?? "",
    createdAt: isoTime(transaction.createdAt),
    ...factsOf(transaction, assets),
  };
}

/** The attempt; for a swap the provider's signature is still missing. */
function attemptOf(
  { id: transactionId, createdAt }: TransactionRecord,
  { verified, reference }: ExaminedTransaction,
): AttemptRecord {
  const { signature, messageHash, bytes, blockhash, lastValidBlockHeight, firstSlot } = verified;
  const sent = { bytes, blockhash, lastValidBlockHeight, firstSlot };
  const ofTransfer = { transfer: null, takenAt: null, legs: null, bid: null, error: null };
  return { id: signature, messageHash, transactionId, ...sent, reference, createdAt, ...ofTransfer };
}

/** The key of a plan's first transfer that has one; null for a plan without, or that only its provider knows. */
export function plannedReference(plan: TransactionPlan | null): Address | null {
  const references = plan?.moves.map((move) => (move.does === "transfer" ? move.reference : undefined)) ?? [];
  return references.find((reference) => reference !== undefined) ?? null;
}
