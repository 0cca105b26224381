/** Amounts keep every base unit, whatever is written or asked for. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { formatAmount, MAX_AMOUNT, parseAmount } from "../../src/core/amount.ts";

const decimals = fc.integer({ min: 0, max: 18 });
const amount = fc.bigInt({ min: 1n, max: MAX_AMOUNT });

test("E13: every amount that is written is read again as itself", () => {
  fc.assert(
    fc.property(amount, decimals, (baseUnits, places) => {
      expect(parseAmount(formatAmount(baseUnits, places), places)).toEqual({ amount: baseUnits });
    }),
  );
});

test("E13: what is read is exactly what its digits say", () => {
  const digits = fc.stringMatching(/^[0-9]{1,12}$/);
  fc.assert(
    fc.property(digits, digits, decimals, (whole, fraction, places) => {
      const value = BigInt(whole + fraction.padEnd(places, "0").slice(0, places));
      const faults = [
        fraction.length > places ? "too_many_decimals" : null,
        value === 0n ? "zero" : null,
        value > MAX_AMOUNT ? "too_large" : null,
      ];
      const fault = faults.find((each) => each !== null);
      const expected = fault === undefined ? { amount: value } : { fault };
      expect(parseAmount(`${whole}.${fraction}`, places)).toEqual(expected);
    }),
  );
});

test("E13: whatever the text, reading it never throws and never yields anything outside 1 … 2^64 − 1", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[-+0-9.eE ]{0,30}$/)), decimals, (text, places) => {
      const read = parseAmount(text, places);
      const fits = "amount" in read && read.amount >= 1n && read.amount <= MAX_AMOUNT;
      expect("fault" in read || (fits && /^\d+(\.\d+)?$/.test(text))).toBe(true);
    }),
  );
});

test("E13: 1.0 equals 1, and the bounds are exact", () => {
  expect(parseAmount("1.0", 6)).toEqual(parseAmount("1", 6));
  expect(parseAmount("18446744073709551615", 0)).toEqual({ amount: MAX_AMOUNT });
  expect(parseAmount("18446744073709551616", 0)).toEqual({ fault: "too_large" });
  expect(parseAmount("1.0000001", 6)).toEqual({ fault: "too_many_decimals" });
});

test("nothing negative is ever written", () => {
  expect(() => formatAmount(-1n, 6)).toThrow(RangeError);
  expect(formatAmount(0n, 9)).toBe("0");
});
