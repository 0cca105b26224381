/** Quotes: a price that is promised for a short while, and with a sender the transaction to sign. */
import type { QuoteRecord } from "../tables/orders.ts";
import type { FrameWrite } from "../frame-storage.ts";
import { KeyedQueue } from "../../../engine/kernel/keyed-queue.ts";
import { PaymentError, fieldError, routingOff } from "../../../errors/errors.ts";
import { answerOnce, type Answer, type Decision, type RequestOptions } from "../accounts/answer-once.ts";
import { type Token, smallestAmount, type Assets } from "../assets/assets.ts";
import type { Caller } from "../accounts/caller.ts";
import { newId } from "../ids.ts";
import { isoTime } from "../iso-time.ts";
import type { AmountLimitCheck } from "../intake/amounts.ts";
import type { IntakeCheck, IntakeRequest } from "../intake/intake-check.ts";
import { parseRequest } from "../request-fields.ts";
import { quoteRequest, type QuoteRequest } from "../requests.ts";
import { type ServiceContext, storageTime } from "../service-context.ts";
import type { PricedQuote, QuoteInput } from "./priced-quote.ts";
import { allPass, countParties } from "./quote-parties.ts";
import type { Asked, QuoteWay } from "./quote-way.ts";
import {
  quoteBody,
  refreshedBody,
  shownQuoteBody,
  type QuoteBody,
  type RefreshedQuoteBody,
  type ShownQuoteBody,
} from "./quote-body.ts";
import type { z } from "zod";
import { formatAmount } from "../../../core/amount.ts";
import { refuseTooLarge, totalOf } from "../assets/amount-errors.ts";
import { readAmount, readTransfers } from "../recipients/recipients.ts";

/** The time after its expiry in which a quote can still be refreshed. */
const REFRESH_GRACE_MS = 10 * 60_000;

interface QuoteParts extends ServiceContext {
  readonly commit: (writes: readonly FrameWrite[]) => Promise<boolean>;
  /** The pricing of every way to pay that is on. */
  readonly ways: readonly QuoteWay[];
  readonly intake: IntakeCheck;
  readonly amounts: Pick<AmountLimitCheck, "refuseTooLarge">;
}

/** The caller of a quote, and the manner of the request. */
interface Request {
  readonly caller: Caller;
  readonly options: RequestOptions;
}

/** Makes, shows and refreshes quotes. */
export class QuoteService {
  readonly #with: QuoteParts;
  readonly #turns = new KeyedQueue();

  constructor(parts: QuoteParts) {
    this.#with = parts;
  }

  /** See `PaymentService.createQuote`. */
  async create(caller: Caller, body: QuoteRequest, options: RequestOptions = {}): Promise<Answer<QuoteBody>> {
    // Not checked yet: the schema reports its faults.
    const { mode, inputAsset, outputAsset } = (body ?? {}) as Partial<QuoteRequest>;
    const asked = { caller, path: "/v1/quotes", request: body, options };
    return this.#oneByOne(mode, [inputAsset, outputAsset], () =>
      answerOnce(this.#with, asked, () => this.#decide(asked, body)),
    );
  }

  /** See `PaymentService.quote`. */
  async read(caller: Caller, quoteId: string): Promise<ShownQuoteBody> {
    const [quote, now] = await Promise.all([this.#owned(caller, quoteId), storageTime(this.#with)]);
    return shownQuoteBody(this.#with.assets, quote, now);
  }

  /** See `PaymentService.refreshQuote`. */
  async refresh(
    caller: Caller,
    quoteId: string,
    options: RequestOptions = {},
  ): Promise<Answer<RefreshedQuoteBody>> {
    const found = await this.#with.storage.quote(quoteId);
    const asked = { caller, path: `/v1/quotes/${quoteId}/refresh`, request: null, options };
    return this.#oneByOne(found?.mode, [found?.inputMint, found?.outputMint], () =>
      answerOnce(this.#with, asked, () => this.#decideRefresh(asked, quoteId)),
    );
  }

  async #decide({ caller, options }: Request, body: QuoteRequest): Promise<Decision<QuoteBody>> {
    const { assets, random, intake, amounts, commit } = this.#with;
    const now = await storageTime(this.#with);
    const request = parseRequest(quoteRequest, body);
    const { amount, ...asked } = readQuoteInputs(assets, request);
    const admission = await intake.admit(caller, askedBy(asked));
    const way = this.#wayFor(asked);
    const bound = {
      ...asked,
      id: newId("quote", now, random),
      accountId: caller.accountId,
      version: 1,
      createdAt: now,
      expiresAt: now + way.lifeMs,
      swap: null,
    };
    const { priced, writes, ...told } = await this.#checkAndPrice(way, { ...bound, amount, now }, options);
    const feeMint = way.feeMint({ give: assets.named(bound.inputMint) });
    const priceImpact = String(told.priceImpact);
    const quote: QuoteRecord = { ...bound, ...priced, priceImpact, feeMint, closedAt: null, usedBy: null };
    amounts.refuseTooLarge(admission, quote);
    return {
      body: quoteBody(assets, quote, told),
      commit: (more) => commit([{ table: "quotes", insert: quote }, ...writes, ...admission.guards, ...more]),
    };
  }

  async #decideRefresh({ caller, options }: Request, quoteId: string): Promise<Decision<RefreshedQuoteBody>> {
    const { assets, intake, amounts, commit } = this.#with;
    const now = await storageTime(this.#with);
    const quote = await this.#owned(caller, quoteId);
    const admission = await intake.admit(caller, askedBy(quote));
    refuseUsedUp(quote, now);
    const way = this.#wayFor(quote);
    const { version, inputMint, outputMint, inputAmount, outputAmount } = quote;
    const amount = inputMint === outputMint ? outputAmount : inputAmount;
    const expiresAt = now + way.lifeMs;
    const again = { ...quote, amount, version: version + 1, expiresAt };
    const { priced, writes, ...told } = await this.#checkAndPrice(way, { ...again, now }, options);
    const set = { ...priced, priceImpact: String(told.priceImpact), expiresAt, closedAt: null };
    amounts.refuseTooLarge(admission, { ...quote, ...set });
    const update: FrameWrite = { table: "quotes", id: quoteId, set, expectedVersion: version };
    return {
      body: refreshedBody(assets, { ...quote, ...set }, told),
      commit: (more) => commit([update, ...writes, ...admission.guards, ...more]),
    };
  }

  /** Throws what a transaction over this quote would be refused for. */
  async #checkAndPrice(
    way: QuoteWay,
    { now, ...inputs }: QuoteInput & { readonly now: number },
    { onParties }: RequestOptions,
  ): Promise<PricedQuote & Pick<QuoteBody, "warnings">> {
    const { assets } = this.#with;
    way.checkCount(inputs.recipients?.length ?? 0);
    const count = countParties(inputs);
    if (count > 0) onParties?.(count);
    const pair = { give: assets.named(inputs.inputMint), get: assets.named(inputs.outputMint), now };
    const parties = count > 0 ? way.checkParties(inputs) : Promise.resolve([]);
    const pricing = way.price(inputs, pair, parties);
    const price = pricing.then(({ priced }) => priced);
    const sender = way.checkSender(inputs, price);
    await allPass([parties, pricing, price, sender]);
    // Both may have met the same silence.
    return { ...(await pricing), warnings: [...new Set([...(await parties), ...(await sender)])] };
  }

  /** Throws `ROUTING_UNAVAILABLE` off where no way takes it. */
  #wayFor({ mode, inputMint, outputMint }: Pick<QuoteInput, "mode" | "inputMint" | "outputMint">): QuoteWay {
    const way = this.#wayOf({ mode, isSwap: inputMint !== outputMint });
    if (way === undefined) throw routingOff();
    return way;
  }

  #wayOf(asked: Asked): QuoteWay | undefined {
    return this.#with.ways.find((way) => way.takes(asked));
  }

  async #owned({ accountId }: Caller, quoteId: string): Promise<QuoteRecord> {
    const quote = await this.#with.storage.quote(quoteId);
    if (quote === null || quote.accountId !== accountId) {
      throw new PaymentError("QUOTE_NOT_FOUND", { quoteId });
    }
    return quote;
  }

  /** Runs dependent offers one by one: in parallel, their commits would make each other fail again and again. */
  #oneByOne<T>(
    mode: QuoteRecord["mode"] | undefined,
    putativeAssets: readonly [unknown, unknown],
    act: () => Promise<T>,
  ): Promise<T> {
    const [give, get] = putativeAssets.map((putative) => this.#assetLike(putative));
    if (give === undefined || get === undefined) return act();
    const way = this.#wayOf({ mode: mode ?? "wallet", isSwap: give.mint !== get.mint });
    const queue = way?.queueOf({ give, get }) ?? null;
    return queue === null ? act() : this.#turns.take(queue, act);
  }

  #assetLike(putative: unknown): Token | undefined {
    return this.#with.assets.tokens.find(({ symbol, mint }) => symbol === putative || mint === putative);
  }
}

/** Throws `INVALID_QUOTE` for a quote that cannot be refreshed any more. */
function refuseUsedUp({ id: quoteId, usedBy, expiresAt }: QuoteRecord, now: number): void {
  if (usedBy !== null) throw new PaymentError("INVALID_QUOTE", { quoteId, reason: "used" });
  if (now > expiresAt + REFRESH_GRACE_MS) {
    const expiredAt = isoTime(expiresAt);
    throw new PaymentError("INVALID_QUOTE", { quoteId, reason: "expired", expiresAt: expiredAt });
  }
}

type ParsedQuoteRequest = z.output<typeof quoteRequest>;

/** Throws the refusal that belongs to the field. */
function readQuoteInputs(
  assets: Assets,
  request: ParsedQuoteRequest,
): Omit<QuoteInput, "id" | "accountId" | "version" | "createdAt" | "expiresAt" | "swap"> {
  const give = assets.named(request.inputAsset);
  const get = assets.named(request.outputAsset);
  const amount = readAmount(request.amount, give.decimals, "amount");
  if (give.mint !== get.mint && request.recipients !== undefined) {
    throw badRecipients("a swap pays its sender, and how much is what the quote will tell");
  }
  const { mode, slippageBps, senderAllowOffCurve, transactionVersion = null } = request;
  if (transactionVersion !== null && (mode === "private" || give.mint !== get.mint)) {
    throw fieldError("transactionVersion", "only of a send or a payroll in wallet mode");
  }
  const recipients = readRecipients(give, amount, request);
  if (amount < smallestAmount(give)) {
    const minimum = formatAmount(smallestAmount(give), give.decimals);
    throw new PaymentError("AMOUNT_TOO_SMALL", { minimum });
  }
  const sender = request.sender ?? null;
  const mints = { inputMint: give.mint, outputMint: get.mint };
  return { mode, ...mints, amount, sender, senderAllowOffCurve, recipients, slippageBps, transactionVersion };
}

function readRecipients(
  asset: Token,
  amount: bigint,
  { recipients }: ParsedQuoteRequest,
): QuoteInput["recipients"] {
  if (recipients === undefined) return null;
  const transfers = readTransfers(recipients, asset.decimals);
  const sum = totalOf(transfers);
  refuseTooLarge(sum, asset);
  if (sum !== amount) throw badRecipients("the recipients' amounts do not add up to the amount");
  return transfers.map(({ recipient: address, ...share }) => ({ address, ...share }));
}

/** The facts of a quote for the operator's rules. Without recipients the quote may become a send or a payroll. */
function askedBy({
  mode,
  inputMint,
  outputMint,
  recipients,
}: Pick<QuoteRecord, "mode" | "inputMint" | "outputMint" | "recipients">): IntakeRequest {
  const transfer = recipients === null ? undefined : recipients.length === 1 ? "send" : "payroll";
  const type = inputMint === outputMint ? transfer : "swap";
  return { mode, type, mints: [inputMint, outputMint] };
}

function badRecipients(message: string): PaymentError {
  return fieldError("recipients", message);
}
