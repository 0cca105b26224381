/** Quotes: a price that is promised for a short while, and with a sender the transaction to sign. */
import type { QuoteRecord } from "../records.ts";
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import { formatAmount } from "../../amount.ts";
import { createTurns } from "../../engine/turns.ts";
import { PaymentError } from "../../errors.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Clock, Random } from "../../runtime.ts";
import { answerOnce } from "../accounts/answer-once.ts";
import type { Answer, RequestOptions } from "../accounts/answer-once.ts";
import { smallestAmount } from "../assets/assets.ts";
import type { Assets, Token } from "../assets/assets.ts";
import type { Caller } from "../accounts/caller.ts";
import { newId } from "../ids.ts";
import { isoTime } from "../iso-time.ts";
import { refuseTooLarge, totalOf } from "../assets/largest-sum.ts";
import { createTransferPricing } from "./price-transfer.ts";
import type { AmountChecks } from "../intake/amounts.ts";
import type { Asked, Intake } from "../intake/intake.ts";
import type { PricedQuote, QuoteInputs } from "./priced-quote.ts";
import type { PrivatePricing } from "./private-pricing.ts";
import { quoteBody, refreshedBody, shownQuoteBody } from "./quote-body.ts";
import type { QuoteBody, RefreshedQuoteBody, ShownQuoteBody } from "./quote-body.ts";
import { readAmount, readTransfers } from "../recipients/recipients.ts";
import { parseRequest, quoteRequest } from "../requests.ts";
import type { QuoteRequest } from "../requests.ts";
import { createSwapPricing } from "./price-swap.ts";
import type { Exchanger } from "../swap-provider/swap-provider.ts";

/** How long a quote lives. */
const LIFE_MS = { wallet: 30_000, private: 60_000 } as const;
/** How long after its expiry a quote can still be refreshed. */
const REFRESH_GRACE_MS = 10 * 60_000;

export interface Quotes {
  readonly create: (
    caller: Caller,
    request: QuoteRequest,
    options?: RequestOptions,
  ) => Promise<Answer<QuoteBody>>;
  readonly read: (caller: Caller, quoteId: string) => Promise<ShownQuoteBody>;
  readonly refresh: (
    caller: Caller,
    quoteId: string,
    options?: RequestOptions,
  ) => Promise<Answer<RefreshedQuoteBody>>;
}

export function createQuotes(deps: {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly random: Random;
  readonly assets: Assets;
  readonly commit: (writes: readonly PaymentWrite[]) => Promise<boolean>;
  /** Null while private mode is off. */
  readonly pricing: PrivatePricing | null;
  /** Null while no swap provider is configured. */
  readonly exchanger: Exchanger | null;
  readonly intake: Intake;
  readonly amounts: Pick<AmountChecks, "refuseTooLarge">;
}): Quotes {
  const { storage, clock, random, assets, commit, exchanger, intake, amounts } = deps;
  const priceTransfer = createTransferPricing(deps);
  const priceSwap = createSwapPricing(deps);
  const inTurn = createTurns();

  const price = (inputs: QuoteInputs, now: number): Promise<PricedQuote> => {
    const give = assets.named(inputs.inputMint);
    const get = assets.named(inputs.outputMint);
    return give.mint === get.mint ? priceTransfer(give, inputs) : priceSwap(give, get, inputs, now);
  };

  /** Offers that depend on one another would make each other's commit fail again and again. */
  const oneByOne = <T>(give: Token | null, get: Token | null, act: () => Promise<T>): Promise<T> => {
    if (give === null || get === null || give.mint === get.mint) return act();
    const queue = exchanger?.queueOf({ give, get }) ?? null;
    return queue === null ? act() : inTurn(queue, act);
  };

  return {
    async create(caller, body, options = {}) {
      const asset = (putativeAsset: unknown): Token | null =>
        assets.tokens.find(({ symbol, mint }) => symbol === putativeAsset || mint === putativeAsset) ?? null;
      // Not checked yet: whatever it is, the schema will say.
      const { inputAsset, outputAsset } = (body ?? {}) as Partial<QuoteRequest>;
      return oneByOne(asset(inputAsset), asset(outputAsset), () =>
        answerOnce(deps, { caller, path: "/v1/quotes", request: body, options }, async () => {
          const now = clock.now();
          const request = parseRequest(quoteRequest, body);
          const { amount, ...asked } = readInputs(assets, request);
          const admission = await intake.admit(caller, askedBy(asked));
          const bound = {
            ...asked,
            id: newId("quote", now, random),
            accountId: caller.accountId,
            version: 1,
            createdAt: now,
            expiresAt: now + LIFE_MS[request.mode],
            exchange: null,
          };
          const { priced, writes, ...shown } = await price({ ...bound, amount }, now);
          const feeMint = request.mode === "private" ? bound.inputMint : assets.named("SOL").mint;
          const priceImpact = String(shown.priceImpact);
          const quote: QuoteRecord = { ...bound, ...priced, priceImpact, feeMint, usedBy: null };
          amounts.refuseTooLarge(admission, quote);
          return {
            body: quoteBody(assets, quote, shown),
            commit: (more) =>
              commit([{ table: "quotes", insert: quote }, ...writes, ...admission.guards, ...more]),
          };
        }),
      );
    },

    async read({ accountId }, quoteId) {
      const quote = await storage.quote(quoteId);
      if (quote === null || quote.accountId !== accountId) {
        throw new PaymentError("QUOTE_NOT_FOUND", { quoteId });
      }
      return shownQuoteBody(assets, quote, clock.now());
    },

    async refresh(caller, quoteId, options = {}) {
      const path = `/v1/quotes/${quoteId}/refresh`;
      const found = await storage.quote(quoteId);
      return oneByOne(assets.ofMint(found?.inputMint ?? ""), assets.ofMint(found?.outputMint ?? ""), () =>
        answerOnce(deps, { caller, path, request: null, options }, async () => {
          const now = clock.now();
          const quote = await storage.quote(quoteId);
          if (quote === null || quote.accountId !== caller.accountId) {
            throw new PaymentError("QUOTE_NOT_FOUND", { quoteId });
          }
          if (quote.usedBy !== null) throw new PaymentError("INVALID_QUOTE", { quoteId, reason: "used" });
          if (now > quote.expiresAt + REFRESH_GRACE_MS) {
            const expiresAt = isoTime(quote.expiresAt);
            throw new PaymentError("INVALID_QUOTE", { quoteId, reason: "expired", expiresAt });
          }
          const admission = await intake.admit(caller, askedBy(quote));
          const { version, inputMint, outputMint, inputAmount, outputAmount } = quote;
          const amount = inputMint === outputMint ? outputAmount : inputAmount;
          const expiresAt = now + LIFE_MS[quote.mode];
          const again = { ...quote, amount, version: version + 1, expiresAt };
          const { priced, writes, ...shown } = await price(again, now);
          const set = { ...priced, priceImpact: String(shown.priceImpact), expiresAt };
          amounts.refuseTooLarge(admission, { ...quote, ...set });
          const update: PaymentWrite = { table: "quotes", id: quoteId, set, expectedVersion: version };
          return {
            body: refreshedBody(assets, { ...quote, ...set }, shown),
            commit: (more) => commit([update, ...writes, ...admission.guards, ...more]),
          };
        }),
      );
    },
  };
}

/** What a quote is for. Without recipients it may become a send or a payroll. */
function askedBy({
  mode,
  inputMint,
  outputMint,
  recipients,
}: Pick<QuoteRecord, "mode" | "inputMint" | "outputMint" | "recipients">): Asked {
  const transfer = recipients === null ? undefined : recipients.length === 1 ? "send" : "payroll";
  const type = inputMint === outputMint ? transfer : "swap";
  return { mode, type, mints: [inputMint, outputMint] };
}

/** What is asked for, in base units. Throws the refusal that belongs to the field. */
function readInputs(
  assets: Assets,
  request: ReturnType<typeof parseRequest<typeof quoteRequest>>,
): Pick<
  QuoteInputs,
  "mode" | "inputMint" | "outputMint" | "amount" | "sender" | "recipients" | "slippageBps"
> {
  const asset = assets.named(request.inputAsset);
  const isSwap = assets.named(request.outputAsset).mint !== asset.mint;
  const amount = readAmount(request.amount, asset.decimals, "amount");
  if (isSwap && request.recipients !== undefined) {
    throw badRecipients("a swap pays its sender, and how much is what the quote will tell");
  }
  const transfers = request.recipients && readTransfers(request.recipients, asset.decimals);
  if (transfers !== undefined) {
    const sum = totalOf(transfers);
    refuseTooLarge(sum, asset);
    if (sum !== amount) throw badRecipients("the recipients' amounts do not add up to the amount");
  }
  if (amount < smallestAmount(asset)) {
    const minimum = formatAmount(smallestAmount(asset), asset.decimals);
    throw new PaymentError("AMOUNT_TOO_SMALL", { minimum });
  }
  return {
    mode: request.mode,
    inputMint: asset.mint,
    outputMint: assets.named(request.outputAsset).mint,
    amount,
    sender: request.sender ?? null,
    recipients: transfers?.map((leg) => ({ address: leg.recipient, amount: leg.amount })) ?? null,
    slippageBps: request.slippageBps,
  };
}

function badRecipients(message: string): PaymentError {
  return new PaymentError("VALIDATION_ERROR", { fields: [{ path: "recipients", message }] });
}
