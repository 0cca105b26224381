/** The errors of amounts that are larger than the ledger can hold, or than a wallet holds. */
import { formatAmount, MAX_AMOUNT } from "../../amount.ts";
import { PaymentError } from "../../errors.ts";
import type { Token } from "./assets.ts";

/** Throws `AMOUNT_TOO_LARGE` with the largest amount of this asset when `sum`, in its base units, is more than 2^64 − 1. */
export function refuseTooLarge(sum: bigint, { decimals }: Pick<Token, "decimals">): void {
  if (sum <= MAX_AMOUNT) return;
  throw new PaymentError("AMOUNT_TOO_LARGE", { maximum: formatAmount(MAX_AMOUNT, decimals) });
}

/** The sum of transfers, in base units; may be more than the ledger can hold. */
export function totalOf(transfers: readonly { readonly amount: bigint }[]): bigint {
  return transfers.reduce((sum, { amount }) => sum + amount, 0n);
}

/** Amounts in base units of the asset. */
interface Shortfall {
  readonly required: bigint;
  readonly available: bigint;
}

/** The error of a wallet that holds too little for what it asks for. */
export function tooLittle(
  { symbol, mint, decimals }: Pick<Token, "symbol" | "mint" | "decimals">,
  component: "amount" | "fee" | "rent",
  { required, available }: Shortfall,
): PaymentError {
  return new PaymentError("INSUFFICIENT_BALANCE", {
    asset: symbol,
    mint,
    required: formatAmount(required, decimals),
    available: formatAmount(available, decimals),
    shortfall: formatAmount(required > available ? required - available : 0n, decimals),
    component,
  });
}
