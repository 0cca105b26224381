/** The price of a swap: what the provider offers, what it costs to carry out, and in wallet mode the transaction. */
import { createHash } from "node:crypto";
import { addressOf, type Address } from "../../address.ts";
import { agingTime } from "../../clock-trust.ts";
import { routingOff } from "../../errors.ts";
import type { UnsignedTransaction } from "../../ledger/routing.ts";
import { joinTransaction } from "../../ledger/wire-format.ts";
import { ledgerMint, smallestAmount, type Token } from "../assets/assets.ts";
import type { ServiceContext } from "../service-context.ts";
import { offerOf } from "../swap-provider/price-check.ts";
import { promisesAt, releaseReserved, reserve, type ReservationResult } from "../swap-provider/reserve.ts";
import type { Swapper, WantedReservation } from "../swap-provider/swap-provider.ts";
import { type PricedQuote, type QuoteInput, readSwap, writeSwap } from "./priced-quote.ts";
import { BPS, tooSmall, type PrivateFees, type PrivatePricing } from "./private-pricing.ts";

/** However often a quote is refreshed, inventory is set aside for it this long at most. */
const MAX_HOLD_MS = 2 * 60_000;

interface SwapPricingParts extends Pick<ServiceContext, "storage" | "ledger" | "clock"> {
  /** Null while no provider is configured. */
  readonly swapper: Swapper | null;
  /** Null while private mode is off. */
  readonly pricing: PrivatePricing | null;
}

interface SwapPair {
  readonly give: Token;
  readonly get: Token;
}

/** A swap to be priced, at a time, with the provider that is asked. */
interface SwapPriceRequest extends SwapPair {
  readonly provider: Swapper;
  readonly inputs: QuoteInput;
  readonly now: number;
}

/** The price at the time `now`. Throws `ROUTING_UNAVAILABLE` off without a provider to swap with. */
export async function priceSwap(
  parts: SwapPricingParts,
  inputs: QuoteInput,
  pair: SwapPair & { readonly now: number },
): Promise<PricedQuote> {
  const { swapper: provider } = parts;
  if (provider === null) throw routingOff();
  const asked = { ...pair, provider, inputs };
  return inputs.mode === "private" ? pricePrivate(parts, asked) : priceWallet(parts, asked);
}

/**
 * Wallet mode: the transaction says exactly what is given and what is got at least: the output is the least output. The spread is
 * in the price; the network is paid in SOL on top. Without a sender it is an indication, and nothing is set aside.
 */
async function priceWallet(
  { storage, ledger, clock }: SwapPricingParts,
  { provider, give, get, inputs, now }: SwapPriceRequest,
): Promise<PricedQuote> {
  const { id, version, amount, sender, accountId, slippageBps } = inputs;
  const previous = readSwap(inputs)?.reservations.map((each) => each.id) ?? [];
  const promises = promisesAt(storage, agingTime(clock, now), previous);
  const wanted = {
    give,
    get,
    amount,
    accountId,
    slippageBps,
    ...(sender === null ? {} : { taker: sender }),
  };
  const offer = await offerOf(provider, wanted, promises.promised);
  const { outputAmount, priceImpact, reservations, ticket = null } = offer;
  const exact = { inputAmount: amount, outputAmount, minOutputAmount: outputAmount };
  const common = { ...exact, routingFee: 0n, pricedAccounts: 0 };
  if (sender === null) return { ...(await indication(ledger, get, common)), priceImpact };
  const built = await provider.build({
    give,
    get,
    inputAmount: amount,
    outputAmount,
    sender,
    reference: referenceOf(id, version),
    ticket,
  });
  const held = holdFor(inputs, reservations, now);
  const { networkFee } = built.unsigned;
  const swap = writeSwap({ ...built, reservations: held.names });
  return {
    priced: { ...common, networkFee, rent: built.rent, swap },
    priceImpact,
    transaction: unsignedText(built.unsigned),
    writes: [...releaseReserved(previous, now), ...promises.releaseLapsed(), ...held.writes],
  };
}

async function indication(
  ledger: SwapPricingParts["ledger"],
  get: Token,
  common: Omit<PricedQuote["priced"], "networkFee" | "rent" | "swap">,
): Promise<Omit<PricedQuote, "priceImpact">> {
  const { networkFee, rent } = await ledger.paymentCost(ledgerMint(get), null);
  // Two have to sign, and the network charges for each.
  const priced = { ...common, networkFee: networkFee * 2n, rent, swap: null };
  return { priced, transaction: null, writes: [] };
}

/**
 * Private mode: what is deposited pays the fee first, and the rest is swapped at the price of that moment. Nothing is
 * set aside before the deposit.
 */
async function pricePrivate(parts: SwapPricingParts, asked: SwapPriceRequest): Promise<PricedQuote> {
  const { provider, give, get, inputs, now } = asked;
  const { amount, accountId, slippageBps } = inputs;
  const fees = await privateFees(parts, asked);
  const swapped = amount - fees.networkFee - fees.rent - fees.routingFee;
  refuseTooSmall({ give, swapped }, { ...fees, feeBps: parts.pricing?.terms.feeBps ?? 0 });
  const wanted = { give, get, amount: swapped, accountId };
  const { promised } = promisesAt(parts.storage, agingTime(parts.clock, now));
  const { outputAmount, priceImpact } = await offerOf(provider, wanted, promised);
  const minOutputAmount = (outputAmount * (BPS - BigInt(slippageBps)) + BPS - 1n) / BPS;
  return {
    priced: { ...fees, inputAmount: amount, outputAmount, minOutputAmount, swap: null },
    priceImpact,
    transaction: null,
    writes: [],
  };
}

/** The fees of a private swap, in base units of the given asset. */
async function privateFees(
  { ledger, pricing }: SwapPricingParts,
  { provider, give, get, inputs }: SwapPriceRequest,
): Promise<PrivateFees> {
  if (pricing === null || provider.direct === null) throw routingOff();
  const pricedAccounts = await accountsToMake(ledger, { give, get }, inputs.sender);
  return pricing.fees(inputs.amount, { give, get, recipients: 1, pricedAccounts });
}

/**
 * How many token accounts the price includes. A deposit address with SOL could be made to pay for an account out of
 * its fee, so an account is always included then; an address with tokens has nothing to pay with.
 */
async function accountsToMake(
  ledger: SwapPricingParts["ledger"],
  { give, get }: SwapPair,
  payee: Address | null,
): Promise<number> {
  const mint = ledgerMint(get);
  if (mint === null) return 0;
  if (ledgerMint(give) === null || payee === null) return 1;
  const [hasAccount] = await ledger.haveTokenAccounts([payee], mint);
  return hasAccount === true ? 0 : 1;
}

/** Holds the offer's reservations until the quote ends, and no longer than `MAX_HOLD_MS` in all. */
function holdFor(
  { id, version, createdAt, expiresAt }: QuoteInput,
  reservations: readonly WantedReservation[],
  now: number,
): ReservationResult {
  const lapsesAt = Math.min(expiresAt, createdAt + MAX_HOLD_MS);
  if (lapsesAt <= now) return { names: [], writes: [] };
  return reserve(`${id}:${version}`, reservations, { createdAt: now, lapsesAt });
}

/** Throws `AMOUNT_TOO_SMALL` if less than the least amount of the asset is left after the fees. */
function refuseTooSmall(
  { give, swapped }: { readonly give: Token; readonly swapped: bigint },
  { networkFee, rent, feeBps }: Omit<PrivateFees, "routingFee"> & { readonly feeBps: number },
): void {
  const least = smallestAmount(give);
  if (swapped >= least) return;
  throw tooSmall(give, ((networkFee + rent + least) * BPS) / (BPS - BigInt(feeBps)) + 1n);
}

/** The unsigned transaction in base64, with blank signatures. */
function unsignedText({ message, signers }: UnsignedTransaction): string {
  const unsigned = joinTransaction(
    message,
    signers.map(() => null),
  );
  return Buffer.from(unsigned).toString("base64");
}

/** Every version of every quote has a transaction of its own, also within one block and at one price. */
function referenceOf(quoteId: string, version: number): Address {
  return addressOf(createHash("sha256").update(`${quoteId}:${version}`).digest());
}
