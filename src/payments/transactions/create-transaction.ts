/** Taking a transaction: everything is checked before anything is kept, and what is kept is kept in one commit. */
import type {
  AttemptRecord,
  PaymentTables,
  QuoteRecord,
  RecipientRecord,
  TransactionRecord,
} from "../records.ts";
import type { CommitResult } from "../../../storage/storage.ts";
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import type { Address } from "../../address.ts";
import { PaymentError } from "../../errors.ts";
import type { Companions, StartRequest } from "../../engine/index.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { isSameTransaction } from "../../ledger/wire-format.ts";
import type { Clock, Random } from "../../runtime.ts";
import { answerOnce } from "../accounts/answer-once.ts";
import type { Answer, Decision, RequestOptions } from "../accounts/answer-once.ts";
import { ledgerMint } from "../assets/assets.ts";
import type { Assets } from "../assets/assets.ts";
import type { Caller } from "../accounts/caller.ts";
import { checkQuote, checkShares } from "../quotes/check-quote.ts";
import type { DeclaredTransaction } from "../quotes/check-quote.ts";
import { newId, sha256Hex } from "../ids.ts";
import { isoTime } from "../iso-time.ts";
import type { AmountChecks } from "../intake/amounts.ts";
import type { Admission, Intake } from "../intake/intake.ts";
import { checkRecipientsOnChain, invalidRecipient, readTransfers } from "../recipients/recipients.ts";
import { parseRequest, transactionRequest } from "../requests.ts";
import type { TransactionRequest } from "../requests.ts";
import { createdOrderBody } from "../private/accept-order.ts";
import type { AcceptOrder, CreatedOrderBody } from "../private/accept-order.ts";
import { referenceOf } from "../quotes/price-transfer.ts";
import { simulationError } from "./simulation-error.ts";
import type { ExaminedExchange, ExchangeExamination } from "../swap/examine-exchange.ts";
import { carriedReference } from "../wallet/own-reference.ts";

/** The answer to POST /v1/transactions. */
export type CreatedTransactionBody = CreatedTransferBody | CreatedOrderBody;

/** The answer in wallet mode. */
export interface CreatedTransferBody {
  readonly transactionId: string;
  readonly status: string;
  readonly mode: "wallet";
  readonly signature: string;
  readonly createdAt: string;
}

/** A transaction that its sender has signed, and the quote that it is of. */
interface WalletRequest {
  readonly signedTransaction: string;
  readonly quote: QuoteRecord;
  readonly declared: DeclaredTransaction;
  /** Throws for an amount that the operator's limits refuse. */
  readonly checkAmounts: () => Promise<void>;
}

/** Takes a transaction and answers with its id; see `PaymentService.createTransaction`. */
export type CreateTransaction = (
  caller: Caller,
  request: TransactionRequest,
  options?: RequestOptions,
) => Promise<Answer<CreatedTransactionBody>>;

export function createTransactionIntake(deps: {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly random: Random;
  readonly assets: Assets;
  readonly commit: (companions: Companions<PaymentTables>) => Promise<CommitResult>;
  readonly startTransfer: (id: string, signature: string, reservations: readonly string[]) => StartRequest;
  /** Null while private mode is off. */
  readonly acceptOrder: AcceptOrder | null;
  readonly exchanges: ExchangeExamination;
  readonly intake: Intake;
  readonly amounts: AmountChecks;
}): CreateTransaction {
  const { storage, ledger, clock, random, assets, commit, startTransfer, acceptOrder, exchanges } = deps;
  const { intake, amounts } = deps;

  /** Proves the caller's bytes and looks at what they would do, in the contract's order of checks. */
  const examine = async ({
    signedTransaction,
    quote,
    declared: { sender, transfers, accountId },
    checkAmounts,
  }: WalletRequest): Promise<ExaminedExchange> => {
    const asset = assets.named(quote.outputMint);
    const { decimals } = asset;
    const payment = { sender: sender as Address, mint: ledgerMint(asset), decimals, transfers };
    const examined = await ledger.verifyPayment(signedTransaction, payment);
    if ("refused" in examined) throw new PaymentError("INVALID_SIGNATURE", { reason: examined.refused });
    const { verified } = examined;

    const known = await storage.attemptLike(verified.signature, verified.messageHash);
    if (known !== null) throw await duplicate(known, accountId);

    const recipients = transfers.map(({ recipient }) => recipient);
    await checkRecipientsOnChain(ledger, recipients);
    await checkAmounts();
    // Also finds bytes that have landed already: while their blockhash lives, every node still remembers them.
    const fault = await ledger.simulatePayment(verified, payment);
    if (fault !== null) throw simulationError(fault, assets);
    const reference = carriedReference(verified.bytes, referenceOf(quote.id));
    return { verified, reference, reservations: [], writes: [] };
  };

  /** As `examine`, for a swap, which must be the transaction that the quote gave out. */
  const examineSwap = async ({
    signedTransaction,
    quote,
    declared: { sender, accountId },
    checkAmounts,
  }: WalletRequest): Promise<ExaminedExchange> => {
    const signed = exchanges.readSigned(signedTransaction, quote);
    const known = await storage.attemptLike(signed.verified.signature, signed.verified.messageHash);
    if (known !== null) throw await duplicate(known, accountId);
    await checkRecipientsOnChain(ledger, [sender as Address]);
    await checkAmounts();
    return exchanges.examine(signed, quote);
  };

  /** The id of a duplicate is told to its owner and to nobody else. */
  const duplicate = async ({ transactionId }: AttemptRecord, accountId: string): Promise<PaymentError> => {
    const owner = (await storage.transaction(transactionId))?.transaction.accountId;
    return new PaymentError("DUPLICATE_TRANSACTION", owner === accountId ? { transactionId } : {});
  };

  /** The answer this very request was given before, in case that answer was lost. */
  const answeredBefore = async (
    quote: QuoteRecord | null,
    accountId: string,
    requestHash: string,
    signedTransaction: string,
  ): Promise<Answer<CreatedTransactionBody> | null> => {
    if (quote === null || quote.usedBy === null || quote.accountId !== accountId) return null;
    const view = await storage.transaction(quote.usedBy);
    if (view === null) return null;
    if (view.transaction.requestHash === requestHash) {
      // What was answered then, and not what has become of it since: the same request, the same answer.
      const [deposit] = await storage.deposits([view.transaction.depositAddress ?? ""]);
      const body =
        deposit === undefined
          ? createdBody(view.transaction)
          : createdOrderBody(view.transaction, deposit, assets);
      return { body, text: JSON.stringify(body), replayed: true };
    }
    const [attempt] = await storage.attempts([view.transaction.signature ?? ""]);
    const given = Buffer.from(signedTransaction, "base64");
    const isSame = attempt !== undefined && isSameTransaction(attempt.bytes, given);
    if (isSame) throw new PaymentError("DUPLICATE_TRANSACTION", { transactionId: view.transaction.id });
    return null;
  };

  /** The rules of the operator for what is asked for, read before anything of it is checked. */
  const admit = (caller: Caller, body: unknown, quote: QuoteRecord | null): Promise<Admission> => {
    const { mode = "wallet", type } = (body ?? {}) as Partial<Record<keyof TransactionRequest, unknown>>;
    const isOwn = quote !== null && quote.accountId === caller.accountId;
    const mints = isOwn ? [quote.inputMint, quote.outputMint] : [];
    return intake.admit(caller, { mode, type, mints });
  };

  const decide = async (
    caller: Caller,
    body: TransactionRequest,
  ): Promise<Decision<CreatedTransactionBody> | Answer<CreatedTransactionBody>> => {
    // Not checked yet: whatever it is, the schema will say.
    const { quoteId: asked } = (body ?? {}) as Partial<Record<keyof TransactionRequest, unknown>>;
    const quote = typeof asked === "string" ? await storage.quote(asked) : null;
    const admission = await admit(caller, body, quote);

    const request = parseRequest(transactionRequest, body);
    const { type, quoteId, mode, sender, signedTransaction = "", reference = null } = request;
    const { accountId } = caller;
    const requestHash = sha256Hex(JSON.stringify(request));

    const before = await answeredBefore(quote, accountId, requestHash, signedTransaction);
    if (before !== null) return before;

    // Decimals are those of the quoted asset; without a quote any number of them is as good as another.
    const decimals = assets.ofMint(quote?.outputMint ?? "")?.decimals ?? 9;
    const transfers = readTransfers(request.recipients, decimals);
    const declared: DeclaredTransaction = { accountId, quoteId, type, mode, sender, transfers, reference };
    refuseOtherReceiver(declared);
    const checked = checkQuote(quote, declared, clock.now());
    checkShares(checked, transfers, assets.named(checked.outputMint));
    const checkAmounts = (): Promise<void> => amounts.check(admission, checked);
    if (mode === "private") {
      if (acceptOrder === null) {
        throw new PaymentError("ROUTING_UNAVAILABLE", { reason: "paused", retryAfter: 60 });
      }
      const decision = await acceptOrder(caller, checked, declared, requestHash);
      await checkAmounts();
      return underRules(admission, checked, decision);
    }
    const asking = { signedTransaction, quote: checked, declared, checkAmounts };
    const examined = await (type === "swap" ? examineSwap : examine)(asking);
    return underRules(admission, checked, accept(checked, declared, examined, requestHash));
  };

  /** The same decision, counted against the day, and kept only while the rules hold that it was let in by. */
  const underRules = (
    admission: Admission,
    quote: QuoteRecord,
    { body, commit: keep }: Decision<CreatedTransactionBody>,
  ): Decision<CreatedTransactionBody> => {
    const counted = amounts.volumes(admission, body.transactionId, quote);
    return { body, commit: (more) => keep([...counted, ...admission.guards, ...more]) };
  };

  return (caller, body, options = {}) =>
    answerOnce(deps, { caller, path: "/v1/transactions", request: body, options }, () =>
      decide(caller, body),
    );

  function accept(
    quote: QuoteRecord,
    { accountId, type, sender, transfers, reference }: DeclaredTransaction,
    examined: ExaminedExchange,
    requestHash: string,
  ): Decision<CreatedTransferBody> {
    const { signature, messageHash, bytes, blockhash, lastValidBlockHeight, firstSlot } = examined.verified;
    const createdAt = clock.now();
    const id = newId("tx", createdAt, random);
    const transaction: TransactionRecord = {
      id,
      accountId,
      quoteId: quote.id,
      type,
      mode: "wallet",
      sender,
      mint: quote.outputMint,
      feeMint: quote.feeMint,
      depositAddress: null,
      reference,
      requestHash,
      status: "pending",
      reason: null,
      signature,
      blockTime: null,
      fee: null,
      landedAfterCancel: false,
      attention: null,
      landedSignature: null,
      broadcastAt: null,
      cancelledAt: null,
      createdAt,
    };
    const recipients = transfers.map(({ recipient, amount }, index): RecipientRecord => {
      const share = { transactionId: id, accountId, createdAt, index, address: recipient, amount };
      return { ...share, id: `${id}:${index}`, status: "unpaid", signature: null };
    });
    // Committed before the first byte leaves (of a swap the provider's signature is still to come): raw bytes, signature, message hash, blockhash and the last valid height.
    const attempt: AttemptRecord = {
      id: signature,
      messageHash,
      transactionId: id,
      bytes,
      blockhash,
      lastValidBlockHeight,
      firstSlot,
      reference: examined.reference,
      createdAt,
    };
    const writes: PaymentWrite[] = [
      { table: "quotes", id: quote.id, set: { usedBy: id }, expectedVersion: quote.version },
      ...examined.writes,
      { table: "attempts", insert: attempt },
      { table: "transactions", insert: transaction },
      ...recipients.map((insert) => ({ table: "recipients" as const, insert })),
    ];
    const starts = [startTransfer(id, signature, examined.reservations)];
    return {
      body: createdBody(transaction),
      // Refused means that another request took the quote, the bytes or the key first: deciding anew finds out which.
      commit: async (more) => (await commit({ starts, writes: [...writes, ...more] })).ok,
    };
  }
}

/** A swap pays whoever gives. */
function refuseOtherReceiver({ type, sender, transfers }: DeclaredTransaction): void {
  const [receiver] = transfers;
  if (type === "swap" && receiver !== undefined && receiver.recipient !== sender) {
    throw invalidRecipient(0, receiver.recipient, "not_sender");
  }
}

function createdBody({ id, signature, createdAt }: TransactionRecord): CreatedTransferBody {
  return {
    transactionId: id,
    status: "pending",
    mode: "wallet",
    signature: signature ?? "",
    createdAt: isoTime(createdAt),
  };
}
