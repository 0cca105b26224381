/** Quotes of private mode: what routing an order costs, on top of what its recipients get, or out of what is swapped. */
import type { PrivateContext } from "./private-storage.ts";
import type { Address } from "../../core/address.ts";
import { agingTime } from "../../core/clock-trust.ts";
import { fieldError, routingOff } from "../../errors/errors.ts";
import { refuseTooLarge } from "../frame/assets/amount-errors.ts";
import { ledgerMint, smallestAmount, type Token } from "../frame/assets/assets.ts";
import { offerOf } from "../frame/exchange/price-check.ts";
import type { Swapper } from "../frame/exchange/swap-provider.ts";
import { promisesAt } from "../frame/purses/reserve.ts";
import {
  payeesOf,
  priceOfTransfer,
  type PricedQuote,
  type QuoteFees,
  type QuoteInput,
} from "../frame/quotes/priced-quote.ts";
import {
  accountsOf,
  accountWarnings,
  type QuoteWarning,
  receiversOf,
  transfersOf,
  unchecked,
} from "../frame/quotes/quote-parties.ts";
import type { PricedPair, QuoteWay } from "../frame/quotes/quote-way.ts";
import { screenParties } from "../frame/recipients/recipients.ts";
import { refuseLessThanRent } from "../frame/recipients/rent-checks.ts";
import { checkOrderParties } from "./order-parties.ts";
import { BPS, tooSmall, type PrivatePricing } from "./private-pricing.ts";

interface OrderQuoteDeps extends Pick<PrivateContext, "storage" | "ledger" | "clock" | "assets"> {
  readonly pricing: PrivatePricing;
  /** Null while no swap provider is configured. */
  readonly swapper: Swapper | null;
  /** Sponsor, treasury and desk: no customer's money goes there. */
  readonly ownAddresses: readonly Address[];
}

export function orderQuotes(deps: OrderQuoteDeps): QuoteWay {
  const { mostRecipients } = deps.pricing.terms;
  return {
    takes: ({ mode }) => mode === "private",
    lifeMs: 60_000,
    feeMint: ({ give }) => give.mint,
    // A private swap sets nothing aside, and would have the others wait for the screening of its sender.
    queueOf: () => null,
    checkCount(recipients) {
      if (recipients > mostRecipients) throw fieldError("recipients", `at most ${mostRecipients} recipients`);
    },
    checkParties: (inputs) => checkParties(deps, inputs),
    price: async (inputs, pair, parties) => {
      await parties;
      const price = pair.give.mint === pair.get.mint ? priceTransfer : priceSwap;
      return price(deps, inputs, pair);
    },
    checkSender: async (inputs, price) => checkSwapper(deps, inputs, await price).catch(unchecked),
  };
}

/** As the chain tells, and as the host's screening tells. */
async function checkParties(deps: OrderQuoteDeps, inputs: QuoteInput): Promise<readonly QuoteWarning[]> {
  const warnings = await checkOnChain(deps, inputs).catch(unchecked);
  await screenParties(deps.pricing.terms.screen, inputs.sender, receiversOf(inputs));
  return warnings;
}

async function checkOnChain(deps: OrderQuoteDeps, inputs: QuoteInput): Promise<readonly QuoteWarning[]> {
  const { sender, senderAllowOffCurve: allowOffCurve } = inputs;
  const refunded = sender === null ? null : { recipient: sender, allowOffCurve };
  const asset = deps.assets.named(inputs.outputMint);
  await checkOrderParties(deps, { sender: refunded, transfers: transfersOf(inputs), asset });
  return accountWarnings(await deps.ledger.tokenAccountStates(accountsOf(asset, receiversOf(inputs))));
}

/** Throws for a swap to SOL that its sender could not keep. */
async function checkSwapper(
  { ledger, assets }: OrderQuoteDeps,
  { sender, senderAllowOffCurve: allowOffCurve, inputMint, outputMint }: QuoteInput,
  { minOutputAmount: amount }: PricedQuote["priced"],
): Promise<readonly QuoteWarning[]> {
  if (sender === null || inputMint === outputMint) return [];
  const payee = { recipient: sender, amount, allowOffCurve };
  await refuseLessThanRent(ledger, assets.named(outputMint), [payee]);
  return [];
}

/** The fee is paid in the asset itself, on top of the amount. */
async function priceTransfer(
  { pricing }: OrderQuoteDeps,
  inputs: QuoteInput,
  { give }: PricedPair,
): Promise<PricedQuote> {
  const { amount } = inputs;
  const fees = await pricing.price(give, amount, payeesOf(inputs));
  const inputAmount = amount + fees.networkFee + fees.routingFee + fees.rent;
  refuseTooLarge(inputAmount, give);
  return { ...priceOfTransfer(amount, inputAmount, fees), transaction: null };
}

/**
 * The deposit pays the fee first, and the rest is swapped at the price of that moment. Nothing is set aside before the
 * deposit.
 */
async function priceSwap(
  deps: OrderQuoteDeps,
  inputs: QuoteInput,
  { give, get, now }: PricedPair,
): Promise<PricedQuote> {
  const { swapper, storage, clock, pricing } = deps;
  if (swapper === null || swapper.direct === null) throw routingOff();
  const { amount, accountId, slippageBps } = inputs;
  const payee = inputs.sender;
  const pricedAccounts = await accountsToMake(deps.ledger, { give, get }, payee);
  const fees = await pricing.fees(amount, { give, get, recipients: 1, pricedAccounts });
  const swapped = amount - fees.networkFee - fees.rent - fees.routingFee;
  refuseTooSmall({ give, swapped }, { ...fees, feeBps: pricing.terms.feeBps });
  const wanted = { give, get, amount: swapped, accountId };
  const { promised } = promisesAt(storage, agingTime(clock, now));
  const { outputAmount, priceImpact } = await offerOf(swapper, wanted, promised);
  const minOutputAmount = (outputAmount * (BPS - BigInt(slippageBps)) + BPS - 1n) / BPS;
  return {
    priced: { ...fees, inputAmount: amount, outputAmount, minOutputAmount, swap: null },
    priceImpact,
    transaction: null,
    writes: [],
  };
}

/**
 * How many token accounts the price includes. A deposit address with SOL could be made to pay for an account out of
 * its fee, so an account is always included then; an address with tokens has nothing to pay with.
 */
async function accountsToMake(
  ledger: PrivateContext["ledger"],
  { give, get }: Pick<PricedPair, "give" | "get">,
  payee: Address | null,
): Promise<number> {
  const mint = ledgerMint(get);
  if (mint === null) return 0;
  if (ledgerMint(give) === null || payee === null) return 1;
  const [state] = await ledger.tokenAccountStates([{ owner: payee, mint }]);
  return state === "absent" ? 1 : 0;
}

/** Throws `AMOUNT_TOO_SMALL` if less than the least amount of the asset is left after the fees. */
function refuseTooSmall(
  { give, swapped }: { readonly give: Token; readonly swapped: bigint },
  { networkFee, rent, feeBps }: Omit<QuoteFees, "routingFee"> & { readonly feeBps: number },
): void {
  const least = smallestAmount(give);
  if (swapped >= least) return;
  throw tooSmall(give, ((networkFee + rent + least) * BPS) / (BPS - BigInt(feeBps)) + 1n);
}
