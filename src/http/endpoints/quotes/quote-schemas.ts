/** A quote as it is answered: a new quote, a quote that is read, and a refreshed quote. */
import { z } from "zod";
import type { QuoteBody, RefreshedQuoteBody, ShownQuoteBody } from "../../../payments/quotes/quote-body.ts";
import { CREATED_AT, EXPIRES_AT, QUOTE_ID, TRANSACTION_BASE64 } from "../../contract/examples.ts";
import { named } from "../../contract/named-schema.ts";
import { amount, text, time } from "../../contract/small-schemas.ts";

const fees = named(
  "QuoteFees",
  z
    .object({
      network: amount("What the network charges."),
      routing: amount("The service's own part; 0 in wallet mode."),
      rent: amount("Token accounts that have to be made for recipients."),
    })
    .describe("In whole units of `feeAsset`."),
);

const price = {
  quoteId: text("The quote's id; a refresh keeps it."),
  outputAmount: amount("What the recipients get in all; of a swap what it is worth now."),
  priceImpact: z.number().describe("Of a swap, in percent; 0 otherwise."),
  expiresAt: time("30 seconds (wallet) or 60 seconds (private) after the quote was made or refreshed."),
  inputAmount: amount("What is given; in private mode it includes the fee, and is what has to be deposited."),
  fee: amount("The sum of `fees`, in `feeAsset`. In private mode the most that is kept, refunds aside."),
  fees,
  transaction: text(
    "Wallet mode, with a sender and, unless it is a swap, recipients: the unsigned transaction in base64, for the wallet to sign.",
  ).exactOptional(),
};

/** A new quote. */
export const quote = named(
  "Quote",
  z.object({
    ...price,
    inputAsset: text("Symbol of what is given."),
    outputAsset: text("Symbol of what is got; another one makes it a swap."),
    minOutputAmount: amount(
      "Of a private swap the least that is paid out; below it the deposit is refunded.",
    ),
    feeAsset: text("SOL in wallet mode, the input asset in private mode."),
    mode: z.enum(["wallet", "private"]),
    slippageBps: z
      .int()
      .describe("How far below `outputAmount` a private swap may end, in hundredths of a percent."),
    createdAt: time("When it was made."),
  }),
) satisfies z.ZodType<QuoteBody>;

/** A quote that is looked at. */
export const shownQuote = named(
  "ShownQuote",
  quote.omit({ transaction: true }).extend({
    status: z
      .enum(["open", "expired", "used"])
      .describe("An expired one can be refreshed until ten minutes after its expiry."),
    transactionId: z.string().nullable().describe("The transaction that used it up."),
  }),
) satisfies z.ZodType<ShownQuoteBody>;

/** A refreshed quote. */
export const refreshedQuote = named(
  "RefreshedQuote",
  z.object({ ...price, minOutputAmount: amount("Of swaps only.").exactOptional() }),
) satisfies z.ZodType<RefreshedQuoteBody>;

/** The example of a refreshed quote. */
export const EXAMPLE_PRICE = {
  quoteId: QUOTE_ID,
  outputAmount: "25",
  priceImpact: 0,
  expiresAt: EXPIRES_AT,
  inputAmount: "25",
  fee: "0.000005",
  fees: { network: "0.000005", routing: "0", rent: "0" },
};

/** A quote of a send in wallet mode, without the transaction to sign. */
export const EXAMPLE_QUOTE = {
  ...EXAMPLE_PRICE,
  inputAsset: "USDC",
  outputAsset: "USDC",
  minOutputAmount: "25",
  feeAsset: "SOL",
  mode: "wallet",
  slippageBps: 100,
  createdAt: CREATED_AT,
} as const;

/** The transaction to sign. */
export const EXAMPLE_UNSIGNED = { transaction: TRANSACTION_BASE64 };
