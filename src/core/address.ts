/** A base58 address of 32 bytes, checked once at the door and carried as its own type from there on. */
import bs58 from "bs58";

/** A base58 string that is known to decode to exactly 32 bytes. */
export type Address = string & { readonly __address: unique symbol };

/** Why a text is not an address. */
type AddressFault = "not_base58" | "wrong_length";

/** SOL's mint in token lists and quotes: the wrapped-SOL mint stands for the native token. */
export const SOL_MINT = "So11111111111111111111111111111111111111112" as Address;

// 32 bytes are 32–44 base58 characters. bs58 decodes in quadratic time (100 kB block a process for 12 s), so the
// length is judged before anything is decoded.
const MAX_ADDRESS = 44;
const MIN_ADDRESS = 32;
const ADDRESS_BYTES = 32;

/** The address that 32 bytes are. */
export function addressOf(bytes: Uint8Array): Address {
  if (bytes.length !== ADDRESS_BYTES) throw new RangeError(`an address is 32 bytes, not ${bytes.length}`);
  return bs58.encode(bytes) as Address;
}

/** Reads an address that was checked before it was stored. Throws `TypeError` when the text is not an address. */
export function knownAddress(text: string): Address {
  const parsed = parseAddress(text);
  if ("address" in parsed) return parsed.address;
  throw new TypeError(`not an address: ${text.slice(0, MAX_ADDRESS)}`);
}

/** Reads an address, or says what is wrong with it. Never throws. */
export function parseAddress(putativeAddress: string): { address: Address } | { fault: AddressFault } {
  if (putativeAddress.length < MIN_ADDRESS || putativeAddress.length > MAX_ADDRESS) {
    return {
      fault: /^[1-9A-HJ-NP-Za-km-z]+$/.test(putativeAddress.slice(0, 64)) ? "wrong_length" : "not_base58",
    };
  }
  const bytes = bs58.decodeUnsafe(putativeAddress);
  if (bytes === undefined) return { fault: "not_base58" };
  if (bytes.length !== ADDRESS_BYTES) return { fault: "wrong_length" };
  return { address: putativeAddress as Address };
}
