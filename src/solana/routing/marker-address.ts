/** Computes the address of a payment's marker. Without web3.js: it must answer at once. */
import { createHash } from "node:crypto";
import bs58 from "bs58";
import { addressOf, type Address } from "../../address.ts";
import { TOKEN_PROGRAM } from "../programs.ts";

// The System program allows 32 bytes; printable ASCII spares everybody the question which encoding they are of.
const SEED = /^[\x21-\x7e]{1,32}$/;

/**
 * The address that the System program derives: SHA-256 of base, seed and the
 * program that owns markers, the Token program. Throws `RangeError` for a seed
 * that is not 1–32 printable ASCII characters.
 */
export function markerAddress(base: Address, seed: string): Address {
  if (!SEED.test(seed)) {
    throw new RangeError("the seed of a marker must be 1 to 32 printable ASCII characters");
  }
  const hash = createHash("sha256").update(bs58.decode(base)).update(seed).update(bs58.decode(TOKEN_PROGRAM));
  return addressOf(hash.digest());
}
