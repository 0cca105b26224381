/** Amounts travel as decimal text and are counted as whole numbers, never as floating point. */

export const USDC_DECIMALS = 6;
export const SOL_DECIMALS = 9;

/** The smallest units in a decimal text: millionths of a USDC unless said otherwise. */
export function unitsIn(amount: string, decimals = USDC_DECIMALS): bigint {
  const [whole = "0", fraction = ""] = amount.split(".");
  return BigInt(whole + fraction.padEnd(decimals, "0"));
}

/** The decimal text of so many of the smallest units. */
export function decimalOf(units: bigint, decimals = USDC_DECIMALS): string {
  const digits = String(units).padStart(decimals + 1, "0");
  const fraction = digits.slice(-decimals).replace(/0+$/, "");
  return `${digits.slice(0, -decimals)}${fraction === "" ? "" : `.${fraction}`}`;
}

/** The sum, in the smallest units. */
export function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}
