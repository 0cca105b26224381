/** Flows of money, asset by asset, and their words. */
import { formatAmount } from "../../core/amount.ts";
import type { InspectedPaymentParts } from "../../payments/payment-storage.ts";

/** A side of a flow: an amount of an asset. */
export interface MoneyEntry {
  /** The kind of movement, such as `deposit`. */
  readonly is: string;
  /** Base units, above zero. */
  readonly amount: bigint;
}

/** The flow of one asset. All `into` minus all `outOf` is zero: held money is listed in `outOf`. */
export interface MoneyTally {
  readonly symbol: string;
  readonly decimals: number;
  readonly into: readonly MoneyEntry[];
  readonly outOf: readonly MoneyEntry[];
}

/** The sum in base units. */
export function sumOf(lines: readonly MoneyEntry[]): bigint {
  return lines.reduce((sum, { amount }) => sum + amount, 0n);
}

export function assetOf(
  { assets }: InspectedPaymentParts,
  mint: string,
): Pick<MoneyTally, "symbol" | "decimals"> {
  const asset = assets.ofMint(mint);
  // A database that is looked at alone may be of a chain whose mints have other names.
  return asset === null
    ? { symbol: `base units of ${mint}`, decimals: 0 }
    : { symbol: asset.symbol, decimals: asset.decimals };
}

/** An amount with its asset, such as `12.5 USDC`. */
export function amountWords(
  amount: bigint,
  { symbol, decimals }: Pick<MoneyTally, "symbol" | "decimals">,
): string {
  return `${formatAmount(amount, decimals)} ${symbol}`;
}
