/** Taking a transaction: everything is checked before anything is kept, and what is kept is kept in one commit. */
import { commitOne } from "../../../storage/decided.ts";
import type { QuoteRecord } from "../tables/orders.ts";
import type { PaymentWrite } from "../payment-storage.ts";
import { isPaymentError, routingOff, PaymentError } from "../../errors.ts";
import { answerOnce, type Answer, type Decision, type RequestOptions } from "../accounts/answer-once.ts";
import type { Caller } from "../accounts/caller.ts";
import { sha256Hex } from "../ids.ts";
import type { AmountLimitCheck } from "../intake/amounts.ts";
import type { IntakeResult, IntakeCheck } from "../intake/intake-check.ts";
import { type CreatedOrderBody, createdOrderBody } from "../private/accept-order.ts";
import { checkQuote, checkShares } from "../quotes/quote-body.ts";
import {
  closedQuote,
  type AcceptHandler,
  type CheckedRequest,
  type DeclaredTransaction,
} from "../quotes/checked-request.ts";
import { invalidRecipient, readTransfers } from "../recipients/recipients.ts";
import { parseRequest, transactionRequest, type TransactionRequest } from "../requests.ts";
import { type ServiceContext, storageTime } from "../service-context.ts";
import { type CreatedTransferBody, createdTransferBody } from "../wallet/accept-signed.ts";
import { isSameTransaction } from "../../ledger/wire-format.ts";

/** The answer to POST /v1/transactions. */
export type CreatedTransactionBody = CreatedTransferBody | CreatedOrderBody;

/** The ways to take a transaction; every way has its own checks. */
interface TransactionAcceptanceParts extends ServiceContext {
  readonly acceptTransfer: AcceptHandler<CreatedTransferBody>;
  readonly acceptSwap: AcceptHandler<CreatedTransferBody>;
  /** Null while private mode is off. */
  readonly acceptOrder: AcceptHandler<CreatedOrderBody> | null;
  readonly intake: IntakeCheck;
  readonly amounts: AmountLimitCheck;
}

/**
 * Takes transactions of both modes. Runs its checks in the order that the API promises, so that a refused request
 * always gets the same error.
 */
export class TransactionAcceptance {
  readonly #with: TransactionAcceptanceParts;

  constructor(parts: TransactionAcceptanceParts) {
    this.#with = parts;
  }

  /** See `PaymentService.createTransaction`. */
  async create(
    caller: Caller,
    body: TransactionRequest,
    options: RequestOptions = {},
  ): Promise<Answer<CreatedTransactionBody>> {
    const asked = { caller, path: "/v1/transactions", request: body, options };
    return answerOnce<CreatedTransactionBody>(this.#with, asked, () => this.#decideOrClose(caller, body));
  }

  /** Null where the quote was used or refreshed while its caller was about to be told that it has expired. */
  async #decideOrClose(
    caller: Caller,
    body: TransactionRequest,
  ): Promise<Decision<CreatedTransactionBody> | Answer<CreatedTransactionBody> | null> {
    try {
      return await this.#decide(caller, body);
    } catch (refusal) {
      const isExpired = isPaymentError(refusal, "INVALID_QUOTE") && refusal.details.reason === "expired";
      if (isExpired && !(await this.#mayRefuse(refusal.details.quoteId))) return null;
      throw refusal;
    }
  }

  /** Closes the quote where its time is over. False where it was used or changed meanwhile: then there may be an answer. */
  async #mayRefuse(quoteId: string): Promise<boolean> {
    const { storage } = this.#with;
    const [quote, now] = await Promise.all([storage.quote(quoteId), storageTime(this.#with)]);
    if (quote === null || quote.closedAt !== null) return true;
    if (quote.usedBy !== null) return false;
    if (quote.expiresAt > now) return false;
    return (await commitOne(storage, { writes: [closedQuote(quote, now)] })).ok;
  }

  async #decide(
    caller: Caller,
    body: TransactionRequest,
  ): Promise<Decision<CreatedTransactionBody> | Answer<CreatedTransactionBody>> {
    const { storage, assets } = this.#with;
    // The rest is not checked yet. A value that can be no id is not looked up; the schema reports its faults.
    const { data: asked } = transactionRequest.shape.quoteId.safeParse(((body ?? {}) as Unchecked).quoteId);
    const quote = asked === undefined ? null : await storage.quote(asked);
    const admission = await this.#admit(caller, body, quote);

    const request = parseRequest(transactionRequest, body);
    const { type, quoteId, mode, signedTransaction = "", reference = null } = request;
    const { accountId } = caller;
    const requestHash = sha256Hex(JSON.stringify(request));
    const said = await answeredBefore(this.#with, quote, { accountId, requestHash, signedTransaction });
    if (said !== null) return said;

    // Decimals are those of the quoted asset; without a quote any number of decimals will do.
    const decimals = assets.ofMint(quote?.outputMint ?? "")?.decimals ?? 9;
    const transfers = readTransfers(request.recipients, decimals);
    const { sender, senderAllowOffCurve } = request;
    const parties = { sender, senderAllowOffCurve, transfers };
    const declared: DeclaredTransaction = { accountId, quoteId, type, mode, ...parties, reference };
    refuseOtherReceiver(declared);
    const checked = checkQuote(quote, declared, await storageTime(this.#with));
    checkShares(checked, transfers, assets.named(checked.outputMint));
    const checkAmounts = (): Promise<void> => this.#with.amounts.check(admission, checked);
    const taken = { caller, quote: checked, declared, requestHash, signedTransaction, checkAmounts };
    return this.#underRules(admission, checked, await this.#accept(taken));
  }

  async #accept(request: CheckedRequest): Promise<Decision<CreatedTransactionBody>> {
    const { acceptOrder, acceptSwap, acceptTransfer } = this.#with;
    const { mode, type } = request.declared;
    if (mode === "wallet") return (type === "swap" ? acceptSwap : acceptTransfer)(request);
    if (acceptOrder === null) throw routingOff();
    return acceptOrder(request);
  }

  /** The rules of the operator for what is asked for, read before anything of it is checked. */
  #admit(caller: Caller, body: unknown, quote: QuoteRecord | null): Promise<IntakeResult> {
    const { mode = "wallet", type } = (body ?? {}) as Unchecked;
    const isOwn = quote !== null && quote.accountId === caller.accountId;
    const mints = isOwn ? [quote.inputMint, quote.outputMint] : [];
    return this.#with.intake.admit(caller, { mode, type, mints });
  }

  /** The decision, counted against the day, and kept only while the rules that admitted it hold. */
  #underRules(
    admission: IntakeResult,
    quote: QuoteRecord,
    { body, commit: keep }: Decision<CreatedTransactionBody>,
  ): Decision<CreatedTransactionBody> {
    const counted: readonly PaymentWrite[] = this.#with.amounts.volumes(admission, body.transactionId, quote);
    return { body, commit: (more) => keep([...counted, ...admission.guards, ...more]) };
  }
}

/** A body that no schema has seen. */
type Unchecked = Partial<Record<keyof TransactionRequest, unknown>>;

/** A swap pays the one who gives. */
function refuseOtherReceiver({ type, sender, transfers }: DeclaredTransaction): void {
  const [receiver] = transfers;
  if (type === "swap" && receiver !== undefined && receiver.recipient !== sender) {
    throw invalidRecipient(0, receiver.recipient, "not_sender");
  }
}

interface RepeatedRequest extends Pick<CheckedRequest, "requestHash" | "signedTransaction"> {
  readonly accountId: string;
}

/**
 * The answer that this request already got, in case the client has lost the answer; null for a new request. Throws
 * `DUPLICATE_TRANSACTION` for the same signed bytes in a different request.
 */
async function answeredBefore(
  { storage, assets }: Pick<ServiceContext, "storage" | "assets">,
  quote: QuoteRecord | null,
  { accountId, requestHash, signedTransaction }: RepeatedRequest,
): Promise<Answer<CreatedTransferBody | CreatedOrderBody> | null> {
  if (quote === null || quote.usedBy === null || quote.accountId !== accountId) return null;
  const view = await storage.transaction(quote.usedBy);
  if (view === null) return null;
  const { transaction } = view;
  if (transaction.requestHash === requestHash) {
    // The original answer, not the present state of the transaction: the same request gets the same answer.
    const [deposit] = await storage.deposits([transaction.depositAddress ?? ""]);
    const body =
      deposit === undefined
        ? createdTransferBody(transaction)
        : createdOrderBody(transaction, deposit, assets);
    return { body, text: JSON.stringify(body), replayed: true };
  }
  const [attempt] = await storage.attempts([transaction.signature ?? ""]);
  const given = Buffer.from(signedTransaction, "base64");
  if (attempt !== undefined && isSameTransaction(attempt.bytes, given)) {
    throw new PaymentError("DUPLICATE_TRANSACTION", { transactionId: transaction.id });
  }
  return null;
}
