/** The price of a swap: what the provider offers, what it costs to carry out, and in wallet mode the transaction. */
import { createHash } from "node:crypto";
import bs58 from "bs58";
import type { PaymentStorage } from "../payment-storage.ts";
import type { Address } from "../../address.ts";
import { SOL_MINT } from "../../address.ts";
import { formatAmount } from "../../amount.ts";
import { PaymentError } from "../../errors.ts";
import { LedgerUnavailable } from "../../ledger/ledger.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { joinTransaction } from "../../ledger/wire-format.ts";
import { ledgerMint, smallestAmount } from "../assets/assets.ts";
import type { Token } from "../assets/assets.ts";
import { refuseTooLarge } from "../assets/largest-sum.ts";
import type { PricedQuote, QuoteInputs } from "./priced-quote.ts";
import type { PrivatePricing } from "./private-pricing.ts";
import { worthAtMost } from "../prices/prices.ts";
import { exchangeCost } from "../outgoing/plans/exchange-cost.ts";
import { promisesAt, releaseReserved, reserve } from "../swap-provider/reserve.ts";
import { readExchange, writeExchange } from "./stored-exchange.ts";
import type { ExchangeOffer, Exchanger, Promised, WantedExchange } from "../swap-provider/swap-provider.ts";

/** However often a quote is refreshed, inventory is set aside for it this long at most. */
const LONGEST_HOLD_MS = 2 * 60_000;
const BPS = 10_000n;

/** What pricing swaps needs. */
export interface SwapPricing {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  /** Null while no provider is configured. */
  readonly exchanger: Exchanger | null;
  /** Null while private mode is off. */
  readonly pricing: Pick<PrivatePricing, "terms"> | null;
}

/** Prices a quote of two different assets at the time `now`. */
export type PriceSwap = (give: Token, get: Token, inputs: QuoteInputs, now: number) => Promise<PricedQuote>;

export function createSwapPricing({ storage, ledger, exchanger, pricing }: SwapPricing): PriceSwap {
  /**
   * Wallet mode: the transaction says exactly what is given and got, so that the least output is the output. The spread is
   * in the price; the network is paid in SOL on top. Without a sender it is an indication, and nothing is set aside.
   */
  const priceWallet = async (
    provider: Exchanger,
    give: Token,
    get: Token,
    { id, version, amount, sender, accountId, createdAt, expiresAt, exchange }: QuoteInputs,
    now: number,
  ): Promise<PricedQuote> => {
    const previous = readExchange({ exchange })?.reservations.map((each) => each.id) ?? [];
    const promises = promisesAt(storage, now, previous);
    const wanted = { give, get, amount, accountId };
    const { outputAmount, priceImpact, reservations } = await offerOf(provider, wanted, promises.promised);
    const exact = { inputAmount: amount, outputAmount, minOutputAmount: outputAmount };
    const common = { ...exact, routingFee: 0n, pricedAccounts: 0 };
    if (sender === null) {
      const mint = ledgerMint(get);
      const { networkFee, rent } = await ledger.paymentCost(mint, null);
      // Two have to sign, and the network charges for each.
      const priced = { ...common, networkFee: networkFee * 2n, rent, exchange: null };
      return { priced, priceImpact, transaction: null, writes: [] };
    }
    const built = await provider.build({
      ...{ give, get, inputAmount: amount, outputAmount },
      sender: sender as Address,
      reference: referenceOf(id, version),
    });
    const { unsigned, rent } = built;
    const heldUntil = Math.min(expiresAt, createdAt + LONGEST_HOLD_MS);
    const held =
      heldUntil <= now
        ? { names: [], writes: [] }
        : reserve(`${id}:${version}`, reservations, { createdAt: now, lapsesAt: heldUntil });
    const kept = writeExchange({ ...built, reservations: held.names });
    const unsignedBytes = joinTransaction(
      unsigned.message,
      unsigned.signers.map(() => null),
    );
    return {
      priced: { ...common, networkFee: unsigned.networkFee, rent, exchange: kept },
      priceImpact,
      transaction: Buffer.from(unsignedBytes).toString("base64"),
      writes: [...releaseReserved(previous, now), ...promises.releaseLapsed(), ...held.writes],
    };
  };

  /**
   * Private mode: what is deposited pays the fee first, and the rest is exchanged at the price of that moment. Nothing is
   * set aside before the deposit.
   */
  const pricePrivate = async (
    provider: Exchanger,
    give: Token,
    get: Token,
    { amount, sender, accountId, slippageBps }: QuoteInputs,
    now: number,
  ): Promise<PricedQuote> => {
    if (pricing === null) {
      throw new PaymentError("ROUTING_UNAVAILABLE", { reason: "paused", retryAfter: 60 });
    }
    if (provider.direct === null) throw new PaymentError("INSUFFICIENT_LIQUIDITY", { available: "0" });
    const { sponsor, treasury, prices, feeBps } = pricing.terms;
    const pricedAccounts = await accountsToMake(give, get, sender as Address | null);
    const parties = { sponsor: sponsor.address, treasury, desk: provider.direct };
    const [cost, rate] = await Promise.all([
      exchangeCost(ledger, parties, { give, get, pricedAccounts }),
      ledgerMint(give) === null ? { give: 1n, get: 1n } : prices.rate(SOL_MINT, give.mint).catch(unpriced),
    ]);
    const networkFee = worthAtMost(cost.networkFees, rate);
    const rent = worthAtMost(cost.accountRent, rate);
    const routingFee = (amount * BigInt(feeBps) + BPS - 1n) / BPS;
    const exchanged = amount - networkFee - rent - routingFee;
    const least = smallestAmount(give);
    if (exchanged < least) {
      const minimum = ((networkFee + rent + least) * BPS) / (BPS - BigInt(feeBps)) + 1n;
      throw new PaymentError("AMOUNT_TOO_SMALL", { minimum: formatAmount(minimum, give.decimals) });
    }
    const wanted = { give, get, amount: exchanged, accountId };
    const { promised } = promisesAt(storage, now);
    const { outputAmount, priceImpact } = await offerOf(provider, wanted, promised);
    const minOutputAmount = (outputAmount * (BPS - BigInt(slippageBps)) + BPS - 1n) / BPS;
    const priced = { inputAmount: amount, outputAmount, minOutputAmount, networkFee, routingFee, rent };
    return {
      priced: { ...priced, pricedAccounts, exchange: null },
      priceImpact,
      transaction: null,
      writes: [],
    };
  };

  /**
   * How many token accounts the price includes. A deposit address that is given SOL could be made to pay for one out of
   * its fee, so there it is always included; one that is given tokens has nothing to pay with.
   */
  const accountsToMake = async (give: Token, get: Token, payee: Address | null): Promise<number> => {
    const mint = ledgerMint(get);
    if (mint === null) return 0;
    if (ledgerMint(give) === null || payee === null) return 1;
    const [hasAccount] = await ledger.haveTokenAccounts([payee], mint);
    return hasAccount === true ? 0 : 1;
  };

  return (give, get, inputs, now) => {
    // Without a provider there is nothing to exchange with.
    if (exchanger === null) throw new PaymentError("INSUFFICIENT_LIQUIDITY", { available: "0" });
    const price = inputs.mode === "private" ? pricePrivate : priceWallet;
    return price(exchanger, give, get, inputs, now);
  };
}

/**
 * The offer; a provider that cannot be asked changes nothing, like a chain that cannot. Throws `AMOUNT_TOO_LARGE` for an
 * offer of more than the ledger can hold.
 */
export async function offerOf(
  exchanger: Exchanger,
  wanted: WantedExchange,
  promised: Promised,
): Promise<ExchangeOffer> {
  try {
    const offer = await exchanger.offer(wanted, promised);
    refuseTooLarge(offer.outputAmount, wanted.get);
    return offer;
  } catch (cause) {
    return unasked(cause);
  }
}

/** For a provider that could not be asked: its own refusals, and the chain's silence, mean what they say. */
export function unasked(cause: unknown): never {
  if (cause instanceof PaymentError || cause instanceof LedgerUnavailable) throw cause;
  throw new PaymentError("UPSTREAM_ERROR", {}, { cause });
}

function unpriced(cause: unknown): never {
  throw new PaymentError("ROUTING_UNAVAILABLE", { reason: "upstream", retryAfter: 30 }, { cause });
}

/** Every version of every quote has a transaction of its own, also within one block and at one price. */
function referenceOf(quoteId: string, version: number): Address {
  return bs58.encode(createHash("sha256").update(`${quoteId}:${version}`).digest()) as Address;
}
