/** The few points of Ed25519 for which anybody can sign. */
import { ED25519_TORSION_SUBGROUP } from "@noble/curves/ed25519";

// The last bit of an encoding is the sign of x. With both signs of each y the table would say the same twice.
const SIGN_BYTE = 31;
const SIGN_BIT = 0x80;
// y = 0 and y = 1 have a second encoding, y + p, that decoders take: p and p + 1, where p = 2^255 - 19.
const WRITTEN_ANOTHER_WAY = [0xed, 0xee].map((first) => `${first.toString(16)}${"ff".repeat(30)}7f`);
const SMALL_ORDER: ReadonlySet<string> = new Set(
  [...ED25519_TORSION_SUBGROUP, ...WRITTEN_ANOTHER_WAY].map((hex) => withoutSign(Buffer.from(hex, "hex"))),
);

/**
 * True for every encoding of the eight points whose order divides eight. Anybody can sign for such a key (the System
 * program's address is one). Node's verification lets such keys and signatures pass; the chain's does not
 * (`verify_strict` of ed25519-dalek).
 */
export function isOfSmallOrder(point: Uint8Array): boolean {
  return SMALL_ORDER.has(withoutSign(point));
}

function withoutSign(point: Uint8Array): string {
  const bytes = Buffer.from(point);
  bytes[SIGN_BYTE] = (bytes[SIGN_BYTE] ?? 0) & ~SIGN_BIT;
  return bytes.toString("hex");
}
