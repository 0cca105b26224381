/** Taking a transaction: everything is checked before anything is kept, and what is kept is kept in one commit. */
import { commitOne } from "../../../../storage/decided.ts";
import type { QuoteRecord } from "../tables/orders.ts";
import type { FrameWrite } from "../frame-storage.ts";
import { KeyedQueue } from "../../../engine/kernel/keyed-queue.ts";
import { isPaymentError, routingOff, PaymentError } from "../../../errors/errors.ts";
import { asksForAnotherQuote } from "../../../errors/remedies.ts";
import { answerOnce, type Answer, type Decision, type RequestOptions } from "../accounts/answer-once.ts";
import type { Caller } from "../accounts/caller.ts";
import { sha256Hex } from "../ids.ts";
import type { AmountLimitCheck } from "../intake/amounts.ts";
import type { IntakeResult, IntakeCheck } from "../intake/intake-check.ts";
import { checkAssets, checkQuote, checkShares } from "../quotes/quote-body.ts";
import { closedQuote, type CheckedRequest, type DeclaredTransaction } from "../quotes/checked-request.ts";
import { invalidRecipient, readTransfers } from "../recipients/recipients.ts";
import { parseRequest } from "../request-fields.ts";
import { transactionRequest, type TransactionRequest } from "../requests.ts";
import { type ServiceContext, storageTime } from "../service-context.ts";
import { checkRefund } from "./refunds.ts";
import { modeOf, type CreatedBody, type TransactionMode, type TransactionWay } from "./transaction-mode.ts";
import { isSameTransaction } from "../../../ledger/wire-format.ts";

/** The modules that take transactions and show them again. */
interface TransactionAcceptanceParts<Body extends CreatedBody> extends ServiceContext {
  /** The modes that are on. */
  readonly ways: readonly TransactionWay<Body>[];
  readonly modes: readonly TransactionMode<Body>[];
  readonly intake: IntakeCheck;
  readonly amounts: AmountLimitCheck;
}

/**
 * Takes transactions of both modes. Runs its checks in the order that the API promises, so that a refused request
 * always gets the same error.
 */
export class TransactionAcceptance<Body extends CreatedBody> {
  readonly #with: TransactionAcceptanceParts<Body>;
  /** By account and quote: two requests for one quote would ask the chain about each other's payment. */
  readonly #turns = new KeyedQueue();

  constructor(parts: TransactionAcceptanceParts<Body>) {
    this.#with = parts;
  }

  /** See `PaymentService.createTransaction`. */
  async create(
    caller: Caller,
    body: TransactionRequest,
    options: RequestOptions = {},
  ): Promise<Answer<Body>> {
    const quoteId = quoteIdOf(body);
    const granted = (): Promise<Body | null> => grantedBefore(this.#with, caller, body);
    const inTurn = <T>(act: () => Promise<T>): Promise<T> =>
      quoteId === undefined ? act() : this.#turns.take(`${caller.accountId} ${quoteId}`, act);
    const asked = { caller, path: "/v1/transactions", request: body, options, granted, inTurn };
    return answerOnce<Body>(this.#with, asked, () => this.#decideOrClose(caller, body));
  }

  /** Null where the quote was used or refreshed while its caller was about to be told to quote anew. */
  async #decideOrClose(caller: Caller, body: TransactionRequest): Promise<Decision<Body> | null> {
    const quote = await this.#with.storage.quote(quoteIdOf(body) ?? "");
    try {
      return await this.#decide(caller, body, quote);
    } catch (refusal) {
      const isOwn = quote !== null && quote.accountId === caller.accountId;
      const isAnother = isPaymentError(refusal) && asksForAnotherQuote(refusal);
      if (isOwn && isAnother && !(await this.#closes(quote))) return null;
      throw refusal;
    }
  }

  /** False where the quote was used or refreshed since it was read: then the refusal was decided on what is no longer so. */
  async #closes(quote: QuoteRecord): Promise<boolean> {
    const { storage } = this.#with;
    if (quote.closedAt !== null) return (await storage.quote(quote.id))?.version === quote.version;
    const now = await storageTime(this.#with);
    return (await commitOne(storage, { writes: [closedQuote(quote, now)] })).ok;
  }

  async #decide(
    caller: Caller,
    body: TransactionRequest,
    quote: QuoteRecord | null,
  ): Promise<Decision<Body>> {
    const { storage, assets, clock } = this.#with;
    const admission = await this.#admit(caller, body, quote);

    const request = parseRequest(transactionRequest, body);
    const { type, quoteId, mode, signedTransaction = "", reference = null, refundOf = null } = request;
    const { accountId } = caller;
    const requestHash = hashOf(request);
    await refuseSameBytes(storage, quote, { accountId, signedTransaction });

    // Decimals are those of the quoted asset; without a quote any number of decimals will do.
    const decimals = assets.ofMint(quote?.outputMint ?? "")?.decimals ?? 9;
    const transfers = readTransfers(request.recipients, decimals);
    const { sender, senderAllowOffCurve } = request;
    const parties = { sender, senderAllowOffCurve, transfers };
    const declared: DeclaredTransaction = { accountId, quoteId, type, mode, ...parties, reference, refundOf };
    refuseOtherReceiver(declared);
    const checked = checkQuote(quote, declared, await storageTime(this.#with));
    checkAssets(checked, request, assets);
    checkShares(checked, transfers, assets.named(checked.outputMint));
    const refund = await checkRefund(this.#with, declared, checked);
    const checkAmounts = (): Promise<void> => this.#with.amounts.check(admission, checked);
    const taken = { caller, quote: checked, declared, requestHash, signedTransaction, checkAmounts };
    const { body: answer, commit } = await this.#accept(taken);
    const own: readonly FrameWrite[] = [
      ...this.#with.amounts.volumes(admission, answer.transactionId, checked),
      ...(refund === null ? [] : [refund.reserve(answer.transactionId, clock.now())]),
      // It is kept only while the rules that admitted it hold.
      ...admission.guards,
    ];
    return { body: answer, commit: (more) => commit([...own, ...more]) };
  }

  async #accept(request: CheckedRequest): Promise<Decision<Body>> {
    const { mode, type } = request.declared;
    const way = this.#with.ways.find((each) => each.takes({ mode, isSwap: type === "swap" }));
    if (way === undefined) throw routingOff();
    return way.accept(request);
  }

  /** The rules of the operator for what is asked for, read before anything of it is checked. */
  #admit(caller: Caller, body: unknown, quote: QuoteRecord | null): Promise<IntakeResult> {
    const { mode = "wallet", type } = (body ?? {}) as Unchecked;
    const isOwn = quote !== null && quote.accountId === caller.accountId;
    const mints = isOwn ? [quote.inputMint, quote.outputMint] : [];
    return this.#with.intake.admit(caller, { mode, type, mints });
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

/** The id of the quote that a body names, which no schema has seen; undefined for what can be no id. */
function quoteIdOf(body: unknown): string | undefined {
  return transactionRequest.shape.quoteId.safeParse(((body ?? {}) as Unchecked).quoteId).data;
}

function hashOf(request: TransactionRequest): string {
  return sha256Hex(JSON.stringify(request));
}

/**
 * The stored answer of this very request, for a client that has lost the answer or has not waited for it; null for a new
 * request. It is the original answer, not the present state of the transaction.
 */
async function grantedBefore<Body extends CreatedBody>(
  { storage, modes }: Pick<TransactionAcceptanceParts<Body>, "storage" | "modes">,
  { accountId }: Caller,
  body: unknown,
): Promise<Body | null> {
  const quote = await storage.quote(quoteIdOf(body) ?? "");
  if (quote === null || quote.usedBy === null || quote.accountId !== accountId) return null;
  const { data: request } = transactionRequest.safeParse(body);
  const view = await storage.transaction(quote.usedBy);
  if (view === null || request === undefined || view.transaction.requestHash !== hashOf(request)) return null;
  return modeOf(modes, view.transaction).createdBody(view.transaction);
}

/** Throws `DUPLICATE_TRANSACTION` for the same signed bytes in a different request for the same quote. */
async function refuseSameBytes(
  storage: ServiceContext["storage"],
  quote: QuoteRecord | null,
  {
    accountId,
    signedTransaction,
  }: Pick<CheckedRequest, "signedTransaction"> & { readonly accountId: string },
): Promise<void> {
  if (quote === null || quote.usedBy === null || quote.accountId !== accountId) return;
  const view = await storage.transaction(quote.usedBy);
  const [attempt] = await storage.attempts([view?.transaction.signature ?? ""]);
  const given = Buffer.from(signedTransaction, "base64");
  if (attempt !== undefined && isSameTransaction(attempt.bytes, given)) {
    throw new PaymentError("DUPLICATE_TRANSACTION", { transactionId: quote.usedBy });
  }
}
