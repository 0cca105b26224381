/** Quotes: a price that is promised for a short while, and with a sender the transaction to sign. */
import { createHash } from "node:crypto";
import type { QuoteRecord } from "../../storage/records.ts";
import type { PaymentStorage, PaymentWrite } from "../../storage/storage.ts";
import type { Address } from "../address.ts";
import { formatAmount } from "../amount.ts";
import { PaymentError } from "../errors.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Clock, Random } from "../runtime.ts";
import { answerOnce } from "./answer-once.ts";
import type { Answer, RequestOptions } from "./answer-once.ts";
import { ledgerMint, smallestAmount } from "./assets.ts";
import type { Assets, Token } from "./assets.ts";
import type { Caller } from "./caller.ts";
import { newId } from "./ids.ts";
import { isoTime } from "./iso-time.ts";
import { readAmount, readTransfers } from "./recipients.ts";
import { parseRequest, quoteRequest } from "./requests.ts";
import type { QuoteRequest } from "./requests.ts";

/** How long a wallet quote lives (CONTRACT section 3). */
const WALLET_QUOTE_MS = 30_000;
/** How long after its expiry a quote can still be refreshed (CONTRACT section 3). */
const REFRESH_GRACE_MS = 10 * 60_000;

/** Fees as decimal strings in whole units of `feeAsset`. */
export interface QuoteFees {
  readonly network: string;
  readonly routing: string;
  readonly rent: string;
}

/** What refreshing a quote answers: SPEC's four fields and what else changed. */
export interface RefreshedQuoteBody {
  readonly quoteId: string;
  readonly outputAmount: string;
  readonly priceImpact: number;
  readonly expiresAt: string;
  readonly inputAmount: string;
  readonly fee: string;
  readonly fees: QuoteFees;
  /** The unsigned transaction in base64, when the quote has a sender and recipients. */
  readonly transaction?: string;
}

/** A quote as its caller sees it. */
export interface QuoteBody extends RefreshedQuoteBody {
  readonly inputAsset: string;
  readonly outputAsset: string;
  readonly minOutputAmount: string;
  readonly feeAsset: string;
  readonly mode: "wallet" | "private";
  readonly slippageBps: number;
  readonly createdAt: string;
}

export interface Quotes {
  readonly create: (
    caller: Caller,
    request: QuoteRequest,
    options?: RequestOptions,
  ) => Promise<Answer<QuoteBody>>;
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
}): Quotes {
  const { storage, ledger, clock, random, assets, commit } = deps;

  /** The price of a quote's inputs now, and the transaction that pays it where there is enough to build one. */
  const price = async (
    asset: Token,
    { id, sender, recipients }: Pick<QuoteRecord, "id" | "sender" | "recipients">,
  ): Promise<{ networkFee: bigint; rent: bigint; transaction: string | null }> => {
    const mint = ledgerMint(asset);
    if (sender === null || recipients === null) {
      const addresses = recipients?.map(({ address }) => address as Address) ?? null;
      return { ...(await ledger.paymentCost(mint, addresses)), transaction: null };
    }
    const transfers = recipients.map(({ address, amount }) => ({ recipient: address as Address, amount }));
    const { decimals } = asset;
    const payment = { sender: sender as Address, mint, decimals, transfers };
    const built = await ledger.buildPayment(payment, referenceOf(id)).catch(tooManyRecipients);
    const { networkFee, rent, bytes } = built;
    return { networkFee, rent, transaction: Buffer.from(bytes).toString("base64") };
  };

  return {
    create(caller, body, options = {}) {
      return answerOnce(deps, { caller, path: "/v1/quotes", request: body, options }, async () => {
        const request = parseRequest(quoteRequest, body);
        const asset = assets.named(request.inputAsset);
        if (assets.named(request.outputAsset).mint !== asset.mint) {
          // No swap provider is configured: there is nothing to exchange with.
          throw new PaymentError("INSUFFICIENT_LIQUIDITY", { available: "0" });
        }
        const amount = readAmount(request.amount, asset.decimals, "amount");
        const transfers = request.recipients && readTransfers(request.recipients, asset.decimals);
        if (transfers !== undefined && transfers.reduce((sum, leg) => sum + leg.amount, 0n) !== amount) {
          const message = "the recipients' amounts do not add up to the amount";
          throw new PaymentError("VALIDATION_ERROR", { fields: [{ path: "recipients", message }] });
        }
        if (request.mode === "private") {
          throw new PaymentError("ROUTING_UNAVAILABLE", { reason: "paused", retryAfter: 60 });
        }
        if (amount < smallestAmount(asset)) {
          const minimum = formatAmount(smallestAmount(asset), asset.decimals);
          throw new PaymentError("AMOUNT_TOO_SMALL", { minimum });
        }
        const bound = {
          id: newId("quote", random),
          sender: request.sender ?? null,
          recipients: transfers?.map((leg) => ({ address: leg.recipient, amount: leg.amount })) ?? null,
        };
        const { networkFee, rent, transaction } = await price(asset, bound);
        const createdAt = clock.now();
        const quote: QuoteRecord = {
          ...bound,
          version: 1,
          accountId: caller.accountId,
          mode: "wallet",
          inputMint: asset.mint,
          outputMint: asset.mint,
          inputAmount: amount,
          outputAmount: amount,
          minOutputAmount: amount,
          feeMint: assets.named("SOL").mint,
          networkFee,
          routingFee: 0n,
          rent,
          slippageBps: request.slippageBps,
          createdAt,
          expiresAt: createdAt + WALLET_QUOTE_MS,
          usedBy: null,
        };
        return {
          body: quoteBody(assets, quote, transaction),
          commit: (writes) => commit([{ table: "quotes", insert: quote }, ...writes]),
        };
      });
    },

    refresh(caller, quoteId, options = {}) {
      const path = `/v1/quotes/${quoteId}/refresh`;
      return answerOnce(deps, { caller, path, request: null, options }, async () => {
        const quote = await storage.quote(quoteId);
        if (quote === null || quote.accountId !== caller.accountId) {
          throw new PaymentError("QUOTE_NOT_FOUND", { quoteId });
        }
        const expiresAt = isoTime(quote.expiresAt);
        if (quote.usedBy !== null) throw new PaymentError("INVALID_QUOTE", { quoteId, reason: "used" });
        if (clock.now() > quote.expiresAt + REFRESH_GRACE_MS) {
          throw new PaymentError("INVALID_QUOTE", { quoteId, reason: "expired", expiresAt });
        }
        const { networkFee, rent, transaction } = await price(assets.named(quote.inputMint), quote);
        const set = { networkFee, rent, expiresAt: clock.now() + WALLET_QUOTE_MS };
        const update: PaymentWrite = { table: "quotes", id: quoteId, set, expectedVersion: quote.version };
        return {
          body: refreshedBody(assets, { ...quote, ...set }, transaction),
          commit: (writes) => commit([update, ...writes]),
        };
      });
    },
  };
}

/** What a quote's payment is found by on the chain, by those who know the quote. */
function referenceOf(quoteId: string): Uint8Array {
  return createHash("sha256").update(quoteId).digest();
}

/** Amounts were checked before, so what the ledger finds out of range is the number of recipients. */
function tooManyRecipients(error: unknown): never {
  if (!(error instanceof RangeError)) throw error;
  const message = "these recipients do not fit in one transaction";
  throw new PaymentError("VALIDATION_ERROR", { fields: [{ path: "recipients", message }] });
}

function refreshedBody(assets: Assets, quote: QuoteRecord, transaction: string | null): RefreshedQuoteBody {
  const input = assets.named(quote.inputMint);
  const output = assets.named(quote.outputMint);
  const fees = assets.named(quote.feeMint);
  const fee = (amount: bigint): string => formatAmount(amount, fees.decimals);
  return {
    quoteId: quote.id,
    outputAmount: formatAmount(quote.outputAmount, output.decimals),
    priceImpact: 0,
    expiresAt: isoTime(quote.expiresAt),
    inputAmount: formatAmount(quote.inputAmount, input.decimals),
    fee: fee(quote.networkFee + quote.routingFee + quote.rent),
    fees: { network: fee(quote.networkFee), routing: fee(quote.routingFee), rent: fee(quote.rent) },
    ...(transaction === null ? {} : { transaction }),
  };
}

function quoteBody(assets: Assets, quote: QuoteRecord, transaction: string | null): QuoteBody {
  const output = assets.named(quote.outputMint);
  return {
    ...refreshedBody(assets, quote, transaction),
    inputAsset: assets.named(quote.inputMint).symbol,
    outputAsset: output.symbol,
    minOutputAmount: formatAmount(quote.minOutputAmount, output.decimals),
    feeAsset: assets.named(quote.feeMint).symbol,
    mode: quote.mode,
    slippageBps: quote.slippageBps,
    createdAt: isoTime(quote.createdAt),
  };
}
