/** The facts of a transaction in every answer, list element and notice: payer, quote, and the assets and amounts of both sides. */
import type { z } from "zod";
import { formatAmount } from "../../../core/amount.ts";
import { ledgerMint, type Assets } from "../assets/assets.ts";
import { amount, text } from "../body-schemas.ts";
import type { TransactionRecord } from "../tables/orders.ts";
import type { TransactionFacts } from "../notices/notice-body.ts";

const mint = (whose: string): z.ZodNullable<z.ZodString> =>
  text(`Mint of ${whose}; null for SOL, which has none.`).nullable();

/** The fields, to be spread into an object. */
export const factFields = {
  sender: text("The wallet that pays. In private mode where refunds go, whoever has deposited."),
  quoteId: text("The quote that it has used up."),
  inputAsset: text("Symbol of what is given."),
  inputMint: mint("what is given"),
  inputAmount: amount("What is given, as quoted; in private mode it includes the fee."),
  outputAsset: text("Symbol of what the recipients get."),
  outputMint: mint("what the recipients get"),
  outputAmount: amount(
    "What the recipients get in all, as quoted. What each is paid in the end stands in `recipients`.",
  ),
} satisfies { readonly [F in keyof TransactionFacts]: z.ZodType<TransactionFacts[F]> };

/** The facts of a stored transaction. They never change. */
export function factsOf(transaction: TransactionRecord, assets: Assets): TransactionFacts {
  const input = assets.named(transaction.inputMint);
  const output = assets.named(transaction.outputMint);
  return {
    sender: transaction.sender,
    quoteId: transaction.quoteId,
    inputAsset: input.symbol,
    inputMint: ledgerMint(input),
    inputAmount: formatAmount(transaction.inputAmount, input.decimals),
    outputAsset: output.symbol,
    outputMint: ledgerMint(output),
    outputAmount: formatAmount(transaction.outputAmount, output.decimals),
  };
}
