/** Signing one message under as many signatures as one likes, as a sender may who does not keep to RFC 8032. */
import { createHash } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519";
import { joinTransaction, splitTransaction } from "../../src/ledger/wire-format.ts";

const ORDER = ed25519.Point.Fn.ORDER;

/** The same one-signer transaction in base64 with another valid signature over the same message. */
export function signAgain(signedTransaction: string, secretKey: Uint8Array, nonce = 12_345n): string {
  const message = splitTransaction(Buffer.from(signedTransaction, "base64"))?.message;
  if (message === undefined) throw new TypeError("a sender signs a transaction");
  const { scalar, pointBytes } = ed25519.utils.getExtendedPublicKey(secretKey.subarray(0, 32));
  const commitment = ed25519.Point.BASE.multiply(nonce).toBytes();
  const hash = createHash("sha512").update(commitment).update(pointBytes).update(message).digest();
  const response = (nonce + numberOf(hash) * scalar) % ORDER;
  const signature = Buffer.concat([commitment, bytesOf(response)]);
  return Buffer.from(joinTransaction(message, [signature])).toString("base64");
}

function numberOf(littleEndian: Uint8Array): bigint {
  return littleEndian.reduceRight((sum, byte) => (sum << 8n) + BigInt(byte), 0n);
}

function bytesOf(number: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, index) => Number((number >> BigInt(8 * index)) & 255n));
}
