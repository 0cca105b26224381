/** The price of moving an asset as it is: a send or a payroll. */
import { createHash } from "node:crypto";
import type { Address } from "../../address.ts";
import { type PaymentError, routingOff, fieldError } from "../../errors.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { ledgerMint, type Token } from "../assets/assets.ts";
import { refuseTooLarge } from "../assets/amount-errors.ts";
import type { PricedQuote, QuoteInput } from "./priced-quote.ts";
import type { PrivateFees, PrivatePricing } from "./private-pricing.ts";

interface TransferPricingParts {
  readonly ledger: Ledger;
  /** Null while private mode is off. */
  readonly pricing: PrivatePricing | null;
}

/** Prices transfers of an asset to the recipients of a quote, or to one unknown one. */
export async function priceTransfer(
  { ledger, pricing }: TransferPricingParts,
  asset: Token,
  inputs: QuoteInput,
): Promise<PricedQuote> {
  return inputs.mode === "private"
    ? pricePrivate(pricing, asset, inputs)
    : priceWallet(ledger, asset, inputs);
}

/** A private order's fee is paid in the asset itself, on top of the amount. */
async function pricePrivate(
  pricing: TransferPricingParts["pricing"],
  asset: Token,
  inputs: QuoteInput,
): Promise<PricedQuote> {
  const { amount } = inputs;
  if (pricing === null) throw routingOff();
  const fees = await pricing.price(asset, amount, addressesOf(inputs));
  const inputAmount = amount + fees.networkFee + fees.routingFee + fees.rent;
  refuseTooLarge(inputAmount, asset);
  return { ...sameAsset(amount, inputAmount, fees), transaction: null };
}

/** The price of a quote's inputs now, and the transaction that pays it where there is enough to build one. */
async function priceWallet(ledger: Ledger, asset: Token, inputs: QuoteInput): Promise<PricedQuote> {
  const { id, amount, sender, recipients, transactionVersion } = inputs;
  const mint = ledgerMint(asset);
  if (transactionVersion === 1) await expectVersion1(ledger, asset, inputs);
  const free = { routingFee: 0n, pricedAccounts: 0 };
  if (sender === null || recipients === null) {
    const cost = await ledger.paymentCost(mint, addressesOf(inputs)).catch(tooManyRecipients);
    return { ...sameAsset(amount, amount, { ...cost, ...free }), transaction: null };
  }
  const transfers = recipients.map((leg) => ({ recipient: leg.address, amount: leg.amount }));
  const version = transactionVersion === null ? {} : { transactionVersion };
  const payment = { sender, mint, decimals: asset.decimals, transfers, ...version };
  const built = await ledger.buildPayment(payment, referenceOf(id)).catch(tooManyRecipients);
  const { networkFee, rent, bytes } = built;
  const transaction = Buffer.from(bytes).toString("base64");
  return { ...sameAsset(amount, amount, { networkFee, rent, ...free }), transaction };
}

async function expectVersion1(ledger: Ledger, asset: Token, { recipients }: QuoteInput): Promise<void> {
  const most = ledger.mostRecipients(ledgerMint(asset));
  if ((recipients?.length ?? 0) > most) {
    throw badRecipients(`at most ${most} recipients in a transaction of version 1 in ${asset.symbol}`);
  }
  if (await ledger.takesVersion1()) return;
  throw fieldError("transactionVersion", "the chain does not take transactions of version 1");
}

function addressesOf({ recipients }: QuoteInput): readonly Address[] | null {
  return recipients?.map(({ address }) => address) ?? null;
}

function sameAsset(
  amount: bigint,
  inputAmount: bigint,
  { networkFee, routingFee, rent, pricedAccounts }: PrivateFees,
): Omit<PricedQuote, "transaction"> {
  const fees = { networkFee, routingFee, rent, pricedAccounts };
  return {
    priced: { ...fees, inputAmount, outputAmount: amount, minOutputAmount: amount, swap: null },
    priceImpact: 0,
    writes: [],
  };
}

/** The reference key of a quote, by which its payment is found on the chain. */
export function referenceOf(quoteId: string): Uint8Array {
  return createHash("sha256").update(quoteId).digest();
}

/** Amounts were checked before, so what the ledger finds out of range is the number of recipients. */
function tooManyRecipients(error: unknown): never {
  if (!(error instanceof RangeError)) throw error;
  throw badRecipients("these recipients do not fit in one transaction");
}

function badRecipients(message: string): PaymentError {
  return fieldError("recipients", message);
}
