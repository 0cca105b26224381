/** Addresses are judged by their bytes, and cheaply whatever their length. */
import bs58 from "bs58";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseAddress, SOL_MINT } from "../../src/core/address.ts";

test("exactly the base58 texts of 32 bytes are addresses", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 0, maxLength: 48 }), (bytes) => {
      const text = bs58.encode(bytes);
      expect(parseAddress(text)).toEqual(
        bytes.length === 32 ? { address: text } : { fault: text === "" ? "not_base58" : "wrong_length" },
      );
    }),
  );
});

test("a character outside base58 is not_base58", () => {
  for (const stranger of ["0", "O", "I", "l", "é", " "]) {
    expect(parseAddress(stranger + SOL_MINT.slice(1))).toEqual({ fault: "not_base58" });
  }
});

test("a text of a megabyte is refused before anything is decoded", () => {
  // Decoding it would block the process for minutes: bs58 is quadratic.
  expect(parseAddress("1".repeat(1_000_000))).toEqual({ fault: "wrong_length" });
});
