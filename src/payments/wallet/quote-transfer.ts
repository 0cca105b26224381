/** Quotes of sends and payrolls that their sender signs. */
import { createHash } from "node:crypto";
import { SOL_MINT } from "../../core/address.ts";
import { type PaymentError, fieldError } from "../../errors/errors.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { ledgerMint, type Token } from "../frame/assets/assets.ts";
import {
  payeesOf,
  priceOfTransfer,
  type PricedQuote,
  type QuoteInput,
} from "../frame/quotes/priced-quote.ts";
import { checkSigningParties, warnOfShortage } from "../frame/quotes/quote-parties.ts";
import type { QuoteWay } from "../frame/quotes/quote-way.ts";
import type { ServiceContext } from "../frame/service-context.ts";

export function transferQuotes(deps: Pick<ServiceContext, "ledger" | "assets">): QuoteWay {
  const { ledger } = deps;
  return {
    takes: ({ mode, isSwap }) => mode === "wallet" && !isSwap,
    lifeMs: 30_000,
    feeMint: () => SOL_MINT,
    queueOf: () => null,
    // How many fit into one transaction is known once it is built.
    checkCount: () => undefined,
    checkParties: (inputs) => checkSigningParties(deps, inputs),
    // Beside the checks of its parties: a node reads their accounts once for both.
    price: (inputs, { give }) => priceTransfer(ledger, give, inputs),
    checkSender: (inputs, price) =>
      warnOfShortage(deps, inputs, { price, least: () => ledger.rentMinimum(0) }),
  };
}

/** The price of a quote's inputs now, and the transaction that pays it where there is enough to build one. */
async function priceTransfer(ledger: Ledger, asset: Token, inputs: QuoteInput): Promise<PricedQuote> {
  const { id, amount, sender, recipients, transactionVersion } = inputs;
  const mint = ledgerMint(asset);
  if (transactionVersion === 1) await expectVersion1(ledger, asset, inputs);
  const free = { routingFee: 0n, pricedAccounts: 0 };
  if (sender === null || recipients === null) {
    const cost = await ledger.paymentCost(mint, payeesOf(inputs)).catch(tooManyRecipients);
    return { ...priceOfTransfer(amount, amount, { ...cost, ...free }), transaction: null };
  }
  const transfers = recipients.map((leg) => ({ recipient: leg.address, amount: leg.amount }));
  const version = transactionVersion === null ? {} : { transactionVersion };
  const payment = { sender, mint, decimals: asset.decimals, transfers, ...version };
  const built = await ledger.buildPayment(payment, referenceOf(id)).catch(tooManyRecipients);
  const { networkFee, rent, bytes } = built;
  const transaction = Buffer.from(bytes).toString("base64");
  return { ...priceOfTransfer(amount, amount, { networkFee, rent, ...free }), transaction };
}

async function expectVersion1(ledger: Ledger, asset: Token, { recipients }: QuoteInput): Promise<void> {
  const most = ledger.mostRecipients(ledgerMint(asset));
  if ((recipients?.length ?? 0) > most) {
    throw badRecipients(`at most ${most} recipients in a transaction of version 1 in ${asset.symbol}`);
  }
  if (await ledger.takesVersion1()) return;
  throw fieldError("transactionVersion", "the chain does not take transactions of version 1");
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
