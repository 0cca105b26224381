/** Amounts: bigint base units inside, decimal strings on the wire, and nothing in between that rounds. */

/** The largest amount the ledger can hold: token balances are unsigned 64-bit integers. */
export const MAX_AMOUNT = 2n ** 64n - 1n;

/** Why a text is not an amount of an asset. */
export type AmountFault = "not_decimal" | "zero" | "too_many_decimals" | "too_large";

// The longest amount that can be meant: 20 digits of 2^64 − 1, a point, and as many decimals as an asset can have.
const MAX_AMOUNT_LENGTH = 64;

/**
 * Reads a decimal string (`^\d+(\.\d+)?$`, above zero, at most `decimals` decimals, at most
 * 2^64 − 1 base units) as base units. "1.0" equals "1". Trailing zeros beyond `decimals` are still refused: the
 * number of decimals written is judged, not their value.
 */
export function parseAmount(
  putativeAmount: string,
  decimals: number,
): { amount: bigint } | { fault: AmountFault } {
  if (putativeAmount.length > MAX_AMOUNT_LENGTH) return { fault: "not_decimal" };
  const match = /^([0-9]+)(?:\.([0-9]+))?$/.exec(putativeAmount);
  if (match === null) return { fault: "not_decimal" };
  const [, whole = "", fraction = ""] = match;
  if (fraction.length > decimals) return { fault: "too_many_decimals" };
  const amount = BigInt(whole + fraction.padEnd(decimals, "0"));
  if (amount === 0n) return { fault: "zero" };
  if (amount > MAX_AMOUNT) return { fault: "too_large" };
  return { amount };
}

/** Writes base units as the shortest decimal string: 1500000n with 6 decimals is "1.5", 0n is "0". */
export function formatAmount(amount: bigint, decimals: number): string {
  if (amount < 0n) throw new RangeError(`an amount is never negative, got ${amount}`);
  const digits = amount.toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return fraction === "" ? whole : `${whole}.${fraction}`;
}
