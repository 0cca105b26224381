/** The stand-in for `bigint-buffer`, alone and in its place below `@solana/spl-token`. */
import { createTransferInstruction, decodeTransferInstruction } from "@solana/spl-token";
import { PublicKey } from "@solana/web3.js";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toBigIntBE, toBigIntLE, toBufferBE, toBufferLE } from "../../src/solana/bigint-buffer/index.ts";

const WIDEST = 40;
const fitting = fc
  .integer({ min: 0, max: WIDEST })
  .chain((width) =>
    fc.record({ width: fc.constant(width), value: fc.bigInt({ min: 0n, max: 256n ** BigInt(width) - 1n }) }),
  );
const notFitting = fc.integer({ min: 0, max: WIDEST }).chain((width) =>
  fc.record({
    width: fc.constant(width),
    value: fc.oneof(
      fc.bigInt({ max: -1n }),
      fc.bigInt({ min: 256n ** BigInt(width), max: 256n ** BigInt(width + 1) }),
    ),
  }),
);

describe("bigint-buffer stand-in", () => {
  test("an integer that fits is read back from exactly `width` bytes, in both byte orders", () => {
    fc.assert(
      fc.property(fitting, ({ value, width }) => {
        const little = toBufferLE(value, width);
        const big = toBufferBE(value, width);
        expect([little.length, big.length]).toEqual([width, width]);
        expect([toBigIntLE(little), toBigIntBE(big)]).toEqual([value, value]);
      }),
    );
  });

  test("eight bytes are what the platform's own 64-bit writers write", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (value) => {
        const view = new DataView(new ArrayBuffer(8));
        view.setBigUint64(0, value, true);
        expect(toBufferLE(value, 8)).toEqual(Buffer.from(view.buffer));
        view.setBigUint64(0, value, false);
        expect(toBufferBE(value, 8)).toEqual(Buffer.from(view.buffer));
      }),
    );
  });

  test("reading leaves the bytes that were given as they are", () => {
    const given = Uint8Array.of(1, 2, 3);
    expect(toBigIntLE(given)).toBe(0x030201n);
    expect(toBigIntBE(given)).toBe(0x010203n);
    expect(given).toEqual(Uint8Array.of(1, 2, 3));
  });

  test("a negative or too large integer is refused instead of being cut", () => {
    fc.assert(
      fc.property(notFitting, ({ value, width }) => {
        expect(() => toBufferLE(value, width)).toThrow(RangeError);
        expect(() => toBufferBE(value, width)).toThrow(RangeError);
      }),
    );
  });
});

describe("bigint-buffer stand-in below spl-token", () => {
  const key = (byte: number): PublicKey => new PublicKey(new Uint8Array(32).fill(byte));
  const transfer = (amount: bigint) => createTransferInstruction(key(1), key(2), key(3), amount);

  test("every amount of 64 bits is encoded as requested", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (amount) => {
        expect(decodeTransferInstruction(transfer(amount)).data.amount).toBe(amount);
      }),
    );
  });

  test.each([2n ** 64n, 2n ** 64n + 5n, -1n])(
    "the amount %s is refused instead of being encoded as another one",
    (amount) => {
      expect(() => transfer(amount)).toThrow(RangeError);
    },
  );
});
