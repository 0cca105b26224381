/** Checks that a caller has signed exactly the transaction of its quote. */
import bs58 from "bs58";
import type { Address } from "../../address.ts";
import { isSignedBy } from "../../ed25519.ts";
import type { SignatureFault } from "../../ledger/ledger.ts";
import { isBlank, joinTransaction, readTransactionText, splitTransaction } from "../../ledger/wire-format.ts";
import type { BuiltSwap, SenderSignedSwap } from "../swap-provider/swap-provider.ts";

/**
 * The message must equal the quoted message byte for byte, so that no part has to be understood; the sender's signature
 * is verified over it. Signatures of other signers are not kept: they have yet to be made.
 */
export function readSignedSwap(
  putativeTransaction: string,
  built: BuiltSwap,
  sender: Address,
): { readonly signed: SenderSignedSwap } | { readonly refused: SignatureFault } {
  const read = readTransactionText(putativeTransaction);
  if ("refused" in read) return read;
  const transaction = splitTransaction(read.bytes);
  if (transaction === null) return { refused: "undecodable" };
  const { message, signers } = built.unsigned;
  const isQuoted =
    transaction.signatures.length === signers.length && Buffer.from(transaction.message).equals(message);
  if (!isQuoted) return { refused: "content_mismatch" };
  // The sender pays the fee, so its signature is the first, and the transaction's identity.
  const [signature] = transaction.signatures;
  if (signature === undefined || isBlank(signature)) return { refused: "missing_signature" };
  if (!isSignedBy(bs58.decode(sender), message, signature)) return { refused: "bad_signature" };
  const missing = signers.slice(1).map(() => null);
  return {
    signed: { ...built, sender, signature, bytes: joinTransaction(message, [signature, ...missing]) },
  };
}
