/** Wallet mode from a caller's side: ask for a quote, have the wallet sign what it brings, post it. */
import type { QuoteBody, QuoteRequest, TransactionRequest } from "paystate";
import type { Client } from "./client.ts";
import { step } from "./screen.ts";
import type { DemoWallet } from "./settings.ts";
import { signInWallet } from "./wallet.ts";

/** What is quoted, and the payment that follows from the quote. */
export interface WalletOrder {
  readonly request: QuoteRequest;
  readonly payment: (quote: QuoteBody) => Pick<TransactionRequest, "type" | "recipients">;
}

/** Has Alice's wallet sign the transaction of a quote, and posts it. */
export async function quoteSignPost(
  client: Client,
  alice: DemoWallet,
  { request, payment }: WalletOrder,
): Promise<{ readonly quote: QuoteBody; readonly transactionId: string }> {
  const quote = await client.quote({ ...request, sender: alice.address });
  step("quote", `${quote.quoteId}, ${termsOf(quote)}`);
  const signedTransaction = signInWallet(quote.transaction ?? "", alice);
  step("sign", "Alice's wallet signs the quoted transaction");
  const { transactionId, status } = await client.create({
    ...payment(quote),
    quoteId: quote.quoteId,
    sender: alice.address,
    signedTransaction,
  });
  step("post", transactionId);
  step("status", status);
  return { quote, transactionId };
}

function termsOf(quote: QuoteBody): string {
  const { inputAmount, inputAsset, outputAmount, outputAsset, fee, feeAsset, priceImpact } = quote;
  const costs = `fee ${fee} ${feeAsset}`;
  if (inputAsset === outputAsset) return costs;
  return `${inputAmount} ${inputAsset} for ${outputAmount} ${outputAsset} (price impact ${priceImpact} %), ${costs}`;
}
