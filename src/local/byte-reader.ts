/** Reads fields one after another out of untrusted bytes. */
import bs58 from "bs58";

const ADDRESS_BYTES = 32;

/** Text is never longer than an account; a longer length is nonsense. */
const MAX_TEXT_BYTES = 10 * 1024 * 1024;

/** A place in bytes. Every method reads the field there and moves behind it; it throws where the bytes end. */
export class ByteReader {
  readonly #bytes: Buffer;
  #offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** How many bytes are left. */
  get left(): number {
    return this.#bytes.length - this.#offset;
  }

  u8(): number {
    return this.#bytes.readUInt8(this.#skip(1));
  }

  u16(): number {
    return this.#bytes.readUInt16LE(this.#skip(2));
  }

  u32(): number {
    return this.#bytes.readUInt32LE(this.#skip(4));
  }

  u64(): bigint {
    return this.#bytes.readBigUInt64LE(this.#skip(8));
  }

  i16(): number {
    return this.#bytes.readInt16LE(this.#skip(2));
  }

  i64(): bigint {
    return this.#bytes.readBigInt64LE(this.#skip(8));
  }

  f64(): number {
    return this.#bytes.readDoubleLE(this.#skip(8));
  }

  /** Base58 of 32 bytes. */
  address(): string {
    return bs58.encode(this.bytes(ADDRESS_BYTES));
  }

  /** An address that is absent when it is all zeros. */
  addressUnlessZero(): string | null {
    const bytes = this.bytes(ADDRESS_BYTES);
    return bytes.every((byte) => byte === 0) ? null : bs58.encode(bytes);
  }

  /** An address behind a byte that says whether it is there. */
  addressIfAny(): string | undefined {
    return this.u8() === 1 ? this.address() : undefined;
  }

  /** UTF-8 behind its length, which is as wide as the program that wrote it likes. */
  text(length: number | bigint): string {
    if (length > MAX_TEXT_BYTES) throw new RangeError("A text is not that long.");
    return utf8(this.bytes(Number(length)));
  }

  /** So many bytes as they are. */
  bytes(length: number): Buffer {
    const start = this.#skip(length);
    return this.#bytes.subarray(start, start + length);
  }

  #skip(length: number): number {
    if (length > this.left) throw new RangeError("The bytes end before the field does.");
    this.#offset += length;
    return this.#offset - length;
  }
}

/** The text that the bytes are; throws when they are none. */
export function utf8(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
}
