/** A quote as it is answered: made, refreshed, and shown once more. */
import { z } from "zod";
import { ERRORS } from "../../../errors/error-table.ts";
import { amount, named, text, time } from "../body-schemas.ts";

const fees = named(
  "QuoteFees",
  z
    .object({
      network: amount("What the network charges; in private mode at most, failed attempts included."),
      routing: amount("The service's own part; 0 in wallet mode."),
      rent: amount("Token accounts that have to be made for recipients."),
    })
    .describe("In whole units of `feeAsset`."),
);

/** Facts that may still change until the quote is used. */
export const quoteWarning = named(
  "QuoteWarning",
  z.object({
    code: z
      .enum(["insufficient_balance", "unchecked", "account_will_be_created"])
      .describe(
        "`insufficient_balance`: the sender of a wallet quote holds too little by now. `unchecked`: the chain could not be read. `account_will_be_created`: recipients have no token account yet, and the quote includes its rent.",
      ),
    message: text("For people."),
    balance: ERRORS.INSUFFICIENT_BALANCE.details
      .describe("`insufficient_balance`: what is missing, as the error of this name tells it.")
      .exactOptional(),
    recipients: z
      .array(z.int())
      .describe(
        "`account_will_be_created`: who, by the place in `recipients` from 0; 0 for the sender of a swap.",
      )
      .exactOptional(),
  }),
);

/** The mark of an address that may be off the curve, where its request says so. */
export const vaultMark = z
  .literal(true)
  .describe("It may be a vault, for which no private key signs, as the request says.")
  .exactOptional();

const price = {
  quoteId: text("The quote's id; a refresh keeps it."),
  outputAmount: amount(
    "What the recipients get in all. Of a private swap what it is worth now; of a wallet's swap what its transaction brings at least.",
  ),
  priceImpact: z.number().describe("Of a swap, in percent; 0 otherwise."),
  expiresAt: time("30 seconds (wallet) or 60 seconds (private) after the quote was made or refreshed."),
  inputAmount: amount("What is given; in private mode it includes the fee, and is what has to be deposited."),
  fee: amount(
    "The sum of `fees`, in `feeAsset`. Wallet mode: an estimate. Private mode: a price, kept whole once a recipient was paid; nothing of it where none was.",
  ),
  fees,
  transaction: text(
    "Wallet mode, with a sender and, unless it is a swap, recipients: the unsigned transaction in base64, for the wallet to sign.",
  ).exactOptional(),
  warnings: z
    .array(quoteWarning)
    .describe(
      "What may still change about `sender` and `recipients`. What the chain refuses now is an error of the quote.",
    ),
};

/** The answer to POST /v1/quotes. */
export const quoteSchema = named(
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
    transactionVersion: z
      .literal(1)
      .describe("The version of `transaction`, where the quote asked for it.")
      .exactOptional(),
    createdAt: time("When it was made."),
    sender: text("As bound, where the quote names one.").exactOptional(),
    senderAllowOffCurve: vaultMark,
    recipients: z
      .array(
        named(
          "QuotedRecipient",
          z.object({
            address: text("The owner who is paid."),
            amount: amount("Its share."),
            allowOffCurve: vaultMark,
          }),
        ),
      )
      .describe("As bound, where the quote names them.")
      .exactOptional(),
  }),
);

/** A quote as it stands. Transaction and warnings are answered when the quote is made or refreshed, and not again. */
export const shownQuote = named(
  "ShownQuote",
  quoteSchema.omit({ transaction: true, warnings: true }).extend({
    status: z
      .enum(["open", "expired", "used"])
      .describe("An expired one can be refreshed until ten minutes after its expiry."),
    transactionId: z.string().nullable().describe("The transaction that used it up."),
  }),
);

/** The answer to a refresh of a quote: the quote's own four fields and what else changed. */
export const refreshedQuote = named(
  "RefreshedQuote",
  z.object({ ...price, minOutputAmount: amount("Of swaps only.").exactOptional() }),
);
