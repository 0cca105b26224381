/** Checks that received bytes carry all required signatures. */
import { isSignedBy } from "../ed25519.ts";
import type { DecodedTransaction } from "./decode-transaction.ts";

/** Judges all of a transaction's signatures, over the message bytes as they were received. Null: every one is good. */
export function signatureFault(
  transaction: DecodedTransaction,
): "missing_signature" | "bad_signature" | null {
  const { signatures, message, messageBytes } = transaction;
  // Wallets fill the place of a signature that is still to be made with zeros.
  if (signatures.some((signature) => signature.every((byte) => byte === 0))) return "missing_signature";
  const good = signatures.every((signature, index) => {
    const signer = message.staticAccountKeys[index];
    return signer !== undefined && isSignedBy(signer.toBytes(), messageBytes, signature);
  });
  return good ? null : "bad_signature";
}
