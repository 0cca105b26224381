/** The bound of every sum: no account of the ledger can hold more, so nothing beyond it is quoted, taken or reserved. */
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
