/** Points of small order, told from their bytes as the curve's arithmetic tells them. */
import { ed25519 } from "@noble/curves/ed25519";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isOfSmallOrder } from "../../src/solana/verify-payment.ts";
import { runsOf } from "../kit/thorough.ts";

/** Null for bytes that are no point, by the decoding that takes the most (ZIP 215). */
function byArithmetic(bytes: Uint8Array): boolean | null {
  try {
    return ed25519.Point.fromHex(bytes, true).isSmallOrder();
  } catch {
    return null;
  }
}

test("every encoding near 0, 1 and p of either sign is judged as by arithmetic, and ten of them are small", () => {
  const small = new Set<string>();
  for (let first = 0; first < 256; first += 1) {
    for (const [fill, last] of [
      [0x00, 0x00],
      [0x00, 0x80],
      [0xff, 0x7f],
      [0xff, 0xff],
    ] as const) {
      const bytes = new Uint8Array(32).fill(fill);
      bytes[0] = first;
      bytes[31] = last;
      const truth = byArithmetic(bytes);
      if (truth === null) continue;
      expect(isOfSmallOrder(bytes), Buffer.from(bytes).toString("hex")).toBe(truth);
      if (truth) small.add(Buffer.from(bytes).toString("hex"));
    }
  }
  // 0, 1, p - 1, p and p + 1, each with both signs.
  expect(small.size).toBe(10);
});

test("the points of order eight are small, with either sign", () => {
  const y = "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05";
  const minusY = "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a";
  for (const hex of [y, minusY]) {
    const bytes = Buffer.from(hex, "hex");
    expect([byArithmetic(bytes), isOfSmallOrder(bytes)]).toEqual([true, true]);
    bytes[31] = (bytes[31] ?? 0) | 0x80;
    expect([byArithmetic(bytes), isOfSmallOrder(bytes)]).toEqual([true, true]);
  }
});

test("keys that somebody made are not, and neither is any point that arithmetic says is not", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (seed) => {
      expect(isOfSmallOrder(ed25519.getPublicKey(seed))).toBe(false);
      // What is no point at all is of no order.
      expect(isOfSmallOrder(seed)).toBe(byArithmetic(seed) ?? false);
    }),
    { numRuns: runsOf(30) },
  );
});
