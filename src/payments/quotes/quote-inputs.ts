/** Reads the request for a quote, in base units, and the facts for the operator's rules. */
import type { z } from "zod";
import type { QuoteRecord } from "../tables/orders.ts";
import { formatAmount } from "../../amount.ts";
import { PaymentError, fieldError } from "../../errors.ts";
import { smallestAmount, type Assets, type Token } from "../assets/assets.ts";
import { refuseTooLarge, totalOf } from "../assets/largest-sum.ts";
import type { IntakeRequest } from "../intake/intake-check.ts";
import { readAmount, readTransfers } from "../recipients/recipients.ts";
import type { quoteRequest } from "../requests.ts";
import type { QuoteInput } from "./priced-quote.ts";

type ParsedQuoteRequest = z.output<typeof quoteRequest>;

/** The inputs of a quote that the caller decides. */
type QuoteRequestInput = Pick<
  QuoteInput,
  | "mode"
  | "inputMint"
  | "outputMint"
  | "amount"
  | "sender"
  | "recipients"
  | "slippageBps"
  | "transactionVersion"
>;

/** Throws the refusal that belongs to the field. */
export function readQuoteInputs(assets: Assets, request: ParsedQuoteRequest): QuoteRequestInput {
  const give = assets.named(request.inputAsset);
  const get = assets.named(request.outputAsset);
  const amount = readAmount(request.amount, give.decimals, "amount");
  if (give.mint !== get.mint && request.recipients !== undefined) {
    throw badRecipients("a swap pays its sender, and how much is what the quote will tell");
  }
  const { mode, slippageBps, transactionVersion = null } = request;
  if (transactionVersion !== null && (mode === "private" || give.mint !== get.mint)) {
    throw fieldError("transactionVersion", "only of a send or a payroll in wallet mode");
  }
  const recipients = readRecipients(give, amount, request);
  if (amount < smallestAmount(give)) {
    const minimum = formatAmount(smallestAmount(give), give.decimals);
    throw new PaymentError("AMOUNT_TOO_SMALL", { minimum });
  }
  const sender = request.sender ?? null;
  const mints = { inputMint: give.mint, outputMint: get.mint };
  return { mode, ...mints, amount, sender, recipients, slippageBps, transactionVersion };
}

function readRecipients(
  asset: Token,
  amount: bigint,
  { recipients }: ParsedQuoteRequest,
): QuoteInput["recipients"] {
  if (recipients === undefined) return null;
  const transfers = readTransfers(recipients, asset.decimals);
  const sum = totalOf(transfers);
  refuseTooLarge(sum, asset);
  if (sum !== amount) throw badRecipients("the recipients' amounts do not add up to the amount");
  return transfers.map((leg) => ({ address: leg.recipient, amount: leg.amount }));
}

/** The facts of a quote for the operator's rules. Without recipients the quote may become a send or a payroll. */
export function askedBy({
  mode,
  inputMint,
  outputMint,
  recipients,
}: Pick<QuoteRecord, "mode" | "inputMint" | "outputMint" | "recipients">): IntakeRequest {
  const transfer = recipients === null ? undefined : recipients.length === 1 ? "send" : "payroll";
  const type = inputMint === outputMint ? transfer : "swap";
  return { mode, type, mints: [inputMint, outputMint] };
}

function badRecipients(message: string): PaymentError {
  return fieldError("recipients", message);
}
