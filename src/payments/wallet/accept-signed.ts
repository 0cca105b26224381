/** Taking a send, a payroll or a swap that its sender has signed: the bytes are kept before the first of them leaves. */
import { type Address, addressOf, SOL_MINT } from "../../core/address.ts";
import type { PaymentTables } from "../frame/tables.ts";
import type { TransactionRecord } from "../frame/tables/orders.ts";
import type { AttemptRecord } from "../frame/tables/attempts.ts";
import type { CommitResult } from "../../../storage/storage.ts";
import type { PaymentStorage, PaymentWrite } from "../frame/payment-storage.ts";
import type { CommitAdditions, StartRequest } from "../../engine/index.ts";
import { PaymentError } from "../../errors/errors.ts";
import type { VerifiedPayment, DeclaredPayment, SimulationFault } from "../../ledger/ledger.ts";
import type { Decision } from "../frame/accounts/answer-once.ts";
import { newId } from "../frame/ids.ts";
import { isoTime } from "../frame/iso-time.ts";
import { factsOf } from "../frame/quotes/transaction-facts.ts";
import type { TransactionFacts } from "../frame/notices/notice-body.ts";
import { begunTransaction, usedQuote, type CheckedRequest } from "../frame/quotes/checked-request.ts";
import type { ServiceContext } from "../frame/service-context.ts";
import type { TransactionPlan } from "../../ledger/routing.ts";
import { ledgerMint, type Assets } from "../frame/assets/assets.ts";
import { referenceOf } from "./quote-transfer.ts";
import { checkPayees } from "../frame/recipients/recipients.ts";
import { formatAmount } from "../../core/amount.ts";
import type { Evidence } from "../../ledger/belief.ts";

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
interface ExaminedTransaction {
  readonly verified: VerifiedBytes;
  /** The reference key of the transaction; null for a transaction that a swap provider built. */
  readonly reference: Address | null;
  /** Reservations that last until the transaction has landed or is proved dead. */
  readonly reservations: readonly string[];
  readonly writes: readonly PaymentWrite[];
}

/** Dependencies besides the context. */
export interface SignedTransactionParts extends Pick<
  ServiceContext,
  "storage" | "clock" | "random" | "assets"
> {
  readonly commit: (companions: CommitAdditions<PaymentTables>) => Promise<CommitResult>;
  /** The first step of a transfer. */
  readonly startTransfer: (transaction: TransactionRecord, reservations: readonly string[]) => StartRequest;
}

/**
 * Throws `DUPLICATE_TRANSACTION` for bytes or a message that were taken before. The id of the other transaction is shown
 * to its owner only.
 */
export async function refuseKnown(
  storage: PaymentStorage,
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
  const writes: PaymentWrite[] = [
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

/** The key when a transfer of the payment names it; null when the caller built a transaction without it. */
function carriedReference({ references }: VerifiedPayment, reference: Address): Address | null {
  return references.includes(reference) ? reference : null;
}

/** The key of a plan's first transfer that has one; null for a plan without, or that only its provider knows. */
export function plannedReference(plan: TransactionPlan | null): Address | null {
  const references = plan?.moves.map((move) => (move.does === "transfer" ? move.reference : undefined)) ?? [];
  return references.find((reference) => reference !== undefined) ?? null;
}

interface TransferAcceptanceParts extends SignedTransactionParts, Pick<ServiceContext, "ledger"> {}

export async function acceptTransfer(
  parts: TransferAcceptanceParts,
  request: CheckedRequest,
): Promise<Decision<CreatedTransferBody>> {
  return acceptSigned(parts, request, await examine(parts, request));
}

async function examine(
  { storage, ledger, assets }: TransferAcceptanceParts,
  { signedTransaction, quote, declared, checkAmounts }: CheckedRequest,
): Promise<ExaminedTransaction> {
  const payment = paymentOf(assets, quote.outputMint, declared);
  const examined = await ledger.verifyPayment(signedTransaction, payment);
  if ("refused" in examined) throw new PaymentError("INVALID_SIGNATURE", { reason: examined.refused });
  const { verified } = examined;
  await refuseKnown(storage, verified, declared.accountId);
  await checkPayees({ ledger, assets }, declared.transfers, declared.sender);
  await checkAmounts();
  // Also finds bytes that have landed already: while their blockhash lives, every node still remembers them.
  const fault = await ledger.simulatePayment(verified, payment);
  // Another request may have taken and sent them since they were looked up.
  if (fault?.kind === "already_processed") await refuseKnown(storage, verified, declared.accountId);
  if (fault !== null) throw simulationError(fault, assets);
  const reference = carriedReference(verified, addressOf(referenceOf(quote.id)));
  return { verified, reference, reservations: [], writes: [] };
}

function paymentOf(
  assets: Assets,
  quotedMint: string,
  { sender, transfers }: CheckedRequest["declared"],
): DeclaredPayment {
  const asset = assets.named(quotedMint);
  return { sender, mint: ledgerMint(asset), decimals: asset.decimals, transfers };
}

export function simulationError(fault: Evidence<SimulationFault>, assets: Assets): PaymentError {
  switch (fault.kind) {
    case "insufficient_balance": {
      const mint = fault.mint ?? SOL_MINT;
      const { symbol, decimals } = assets.named(mint);
      const { required, available, component } = fault;
      const missing = required > available ? required - available : 0n;
      return new PaymentError("INSUFFICIENT_BALANCE", {
        asset: symbol,
        mint,
        required: formatAmount(required, decimals),
        available: formatAmount(available, decimals),
        shortfall: formatAmount(missing, decimals),
        component,
      });
    }
    case "recipient_below_rent":
      return new PaymentError("AMOUNT_TOO_SMALL", {
        minimum: formatAmount(fault.minimum, assets.named(SOL_MINT).decimals),
        ...(fault.transfer === null ? {} : { index: fault.transfer }),
      });
    case "would_fail":
      return new PaymentError("TRANSACTION_WOULD_FAIL", { reason: fault.reason, logs: fault.logs });
    case "already_processed":
      return new PaymentError("DUPLICATE_TRANSACTION", {});
    case "blockhash_expired":
      return new PaymentError("INVALID_SIGNATURE", { reason: "blockhash_expired" });
  }
}
