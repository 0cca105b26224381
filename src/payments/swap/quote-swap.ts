/** Quotes of swaps that their sender signs: what the provider offers, what it costs, and the transaction. */
import { createHash } from "node:crypto";
import { addressOf, type Address, SOL_MINT } from "../../core/address.ts";
import { agingTime } from "../../core/clock-trust.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { UnsignedTransaction } from "../../ledger/routing.ts";
import { joinTransaction } from "../../ledger/wire-format.ts";
import { ledgerMint, type Token } from "../frame/assets/assets.ts";
import type { ServiceContext } from "../frame/service-context.ts";
import { offerOf } from "../frame/exchange/price-check.ts";
import { promisesAt, releaseReserved, reserve, type ReservationResult } from "../frame/purses/reserve.ts";
import type { Swapper, WantedReservation } from "../frame/exchange/swap-provider.ts";
import { type PricedQuote, type QuoteInput, readSwap, writeSwap } from "../frame/quotes/priced-quote.ts";
import { checkSigningParties, warnOfShortage } from "../frame/quotes/quote-parties.ts";
import type { PricedPair, QuoteWay } from "../frame/quotes/quote-way.ts";

/** However often a quote is refreshed, inventory is set aside for it this long at most. */
const MAX_HOLD_MS = 2 * 60_000;

interface SwapQuoteDeps extends Pick<ServiceContext, "storage" | "ledger" | "clock" | "assets"> {
  readonly swapper: Swapper;
}

export function swapQuotes(deps: SwapQuoteDeps): QuoteWay {
  return {
    takes: ({ mode, isSwap }) => mode === "wallet" && isSwap,
    lifeMs: 30_000,
    feeMint: () => SOL_MINT,
    queueOf: (pair) => deps.swapper.queueOf(pair),
    checkCount: () => undefined,
    checkParties: (inputs) => checkSigningParties(deps, inputs),
    price: async (inputs, pair, parties) => {
      await parties;
      return priceSwap(deps, inputs, pair);
    },
    // The run shows the SOL that a swap leaves.
    checkSender: (inputs, price) => warnOfShortage(deps, inputs, { price, least: async () => 0n }),
  };
}

/**
 * The transaction says exactly what is given and what is got at least: the output is the least output. The spread is
 * in the price; the network is paid in SOL on top. Without a sender it is an indication, and nothing is set aside.
 */
async function priceSwap(
  { storage, ledger, clock, swapper }: SwapQuoteDeps,
  inputs: QuoteInput,
  { give, get, now }: PricedPair,
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
  const offer = await offerOf(swapper, wanted, promises.promised);
  const { outputAmount, priceImpact, reservations, ticket = null } = offer;
  const exact = { inputAmount: amount, outputAmount, minOutputAmount: outputAmount };
  const common = { ...exact, routingFee: 0n, pricedAccounts: 0 };
  if (sender === null) return { ...(await indication(ledger, get, common)), priceImpact };
  const built = await swapper.build({
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
  ledger: Ledger,
  get: Token,
  common: Omit<PricedQuote["priced"], "networkFee" | "rent" | "swap">,
): Promise<Omit<PricedQuote, "priceImpact">> {
  const { networkFee, rent } = await ledger.paymentCost(ledgerMint(get), null);
  // Two have to sign, and the network charges for each.
  const priced = { ...common, networkFee: networkFee * 2n, rent, swap: null };
  return { priced, transaction: null, writes: [] };
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
