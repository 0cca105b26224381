/** The price of moving an asset as it is: a send or a payroll. */
import { createHash } from "node:crypto";
import type { Address } from "../../address.ts";
import { PaymentError } from "../../errors.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { ledgerMint } from "../assets/assets.ts";
import type { Token } from "../assets/assets.ts";
import { refuseTooLarge } from "../assets/largest-sum.ts";
import type { PricedQuote, QuoteInputs } from "./priced-quote.ts";
import type { PrivatePricing } from "./private-pricing.ts";

/** Prices transfers of an asset to the recipients of a quote, or to one unknown one. */
export function createTransferPricing({
  ledger,
  pricing,
}: {
  readonly ledger: Ledger;
  /** Null while private mode is off. */
  readonly pricing: PrivatePricing | null;
}): (asset: Token, inputs: QuoteInputs) => Promise<PricedQuote> {
  /** A private order's fee is paid in the asset itself, on top of the amount. */
  const pricePrivate = async (asset: Token, { amount, recipients }: QuoteInputs): Promise<PricedQuote> => {
    if (pricing === null) {
      throw new PaymentError("ROUTING_UNAVAILABLE", { reason: "paused", retryAfter: 60 });
    }
    if ((recipients?.length ?? 1) > pricing.terms.mostRecipients) {
      const message = `at most ${pricing.terms.mostRecipients} recipients`;
      throw new PaymentError("VALIDATION_ERROR", { fields: [{ path: "recipients", message }] });
    }
    const addresses = recipients?.map(({ address }) => address as Address) ?? null;
    const fees = await pricing.price(asset, amount, addresses);
    const inputAmount = amount + fees.networkFee + fees.routingFee + fees.rent;
    refuseTooLarge(inputAmount, asset);
    return sameAsset(amount, fees, inputAmount, null);
  };

  /** The price of a quote's inputs now, and the transaction that pays it where there is enough to build one. */
  const priceWallet = async (
    asset: Token,
    { id, amount, sender, recipients }: QuoteInputs,
  ): Promise<PricedQuote> => {
    const mint = ledgerMint(asset);
    const free = { routingFee: 0n, pricedAccounts: 0 };
    if (sender === null || recipients === null) {
      const addresses = recipients?.map(({ address }) => address as Address) ?? null;
      const cost = await ledger.paymentCost(mint, addresses).catch(tooManyRecipients);
      return sameAsset(amount, { ...cost, ...free }, amount, null);
    }
    const transfers = recipients.map((leg) => ({ recipient: leg.address as Address, amount: leg.amount }));
    const { decimals } = asset;
    const payment = { sender: sender as Address, mint, decimals, transfers };
    const built = await ledger.buildPayment(payment, referenceOf(id)).catch(tooManyRecipients);
    const { networkFee, rent, bytes } = built;
    const transaction = Buffer.from(bytes).toString("base64");
    return sameAsset(amount, { networkFee, rent, ...free }, amount, transaction);
  };

  return (asset, inputs) =>
    inputs.mode === "private" ? pricePrivate(asset, inputs) : priceWallet(asset, inputs);
}

function sameAsset(
  amount: bigint,
  fees: Pick<PricedQuote["priced"], "networkFee" | "routingFee" | "rent" | "pricedAccounts">,
  inputAmount: bigint,
  transaction: string | null,
): PricedQuote {
  const { networkFee, routingFee, rent, pricedAccounts } = fees;
  const priced = { networkFee, routingFee, rent, pricedAccounts };
  return {
    priced: { ...priced, inputAmount, outputAmount: amount, minOutputAmount: amount, exchange: null },
    priceImpact: 0,
    transaction,
    writes: [],
  };
}

/** What a quote's payment is found by on the chain, by those who know the quote. */
export function referenceOf(quoteId: string): Uint8Array {
  return createHash("sha256").update(quoteId).digest();
}

/** Amounts were checked before, so what the ledger finds out of range is the number of recipients. */
function tooManyRecipients(error: unknown): never {
  if (!(error instanceof RangeError)) throw error;
  const message = "these recipients do not fit in one transaction";
  throw new PaymentError("VALIDATION_ERROR", { fields: [{ path: "recipients", message }] });
}
