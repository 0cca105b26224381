/**
 * Stands in for the package `bigint-buffer` below `@solana/spl-token` (an override in package.json puts it there). The
 * original has a memory-safety advisory (GHSA-3gc7-fjrx-p6mg) and an install script. Unlike the original it refuses an
 * integer that does not fit its width: spl-token would otherwise silently encode an amount of 2^64 as 0.
 */

const BITS_PER_BYTE = 8n;

/** The unsigned integer whose most significant byte comes first; 0 for no bytes. */
export function toBigIntBE(bytes: Uint8Array): bigint {
  return bytes.reduce((value, byte) => (value << BITS_PER_BYTE) | BigInt(byte), 0n);
}

/** The unsigned integer whose least significant byte comes first; 0 for no bytes. */
export function toBigIntLE(bytes: Uint8Array): bigint {
  return bytes.reduceRight((value, byte) => (value << BITS_PER_BYTE) | BigInt(byte), 0n);
}

/**
 * Exactly `width` bytes, the most significant first.
 * @throws RangeError when `value` is negative or needs more than `width` bytes.
 */
export function toBufferBE(value: bigint, width: number): Buffer {
  return Buffer.from(toBufferLE(value, width).toReversed());
}

/**
 * Exactly `width` bytes, the least significant first.
 * @throws RangeError when `value` is negative or needs more than `width` bytes.
 */
export function toBufferLE(value: bigint, width: number): Buffer {
  if (value < 0n || value >> (BITS_PER_BYTE * BigInt(width)) !== 0n) {
    throw new RangeError(`${value} does not fit into ${width} unsigned bytes`);
  }
  const bytes = Buffer.alloc(width);
  let rest = value;
  for (let index = 0; index < width; index += 1) {
    bytes[index] = Number(rest & 0xffn);
    rest >>= BITS_PER_BYTE;
  }
  return bytes;
}
