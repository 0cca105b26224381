/** Finds a message that landed under another signature than the one it was submitted with. */
import { createHash } from "node:crypto";
import { PublicKey, type Connection, type VersionedMessage } from "@solana/web3.js";
import type { Address } from "../address.ts";
import type { FoundLanding } from "./agreement.ts";
import { expectShape } from "./endpoint-failure.ts";
import { errorText, NEWEST_TRANSACTION_VERSION } from "./statuses.ts";

// A reference key belongs to one quote, whose refreshes give out a few transactions at most. More are strangers' noise.
const MAX_LISTED = 10;

/** What the listing of a reference key says: the landing of this very message, nothing of it, or too much to tell. */
export type MessageSearch = FoundLanding | "absent" | "unclear";

/** SHA-256 of a message, hex: what the chain dedupes by. */
export function hashOfMessage(message: VersionedMessage): string {
  return createHash("sha256").update(message.serialize()).digest("hex");
}

/**
 * Looks through the finalized transactions that name a reference key. A sender can sign one message under as many
 * signatures as it likes, and the chain takes one of them. `notBefore` is a slot that the node must have reached.
 */
export async function findMessage(
  connection: Connection,
  { reference, messageHash }: { readonly reference: Address; readonly messageHash: string },
  notBefore: number,
): Promise<MessageSearch> {
  const listed = await connection.getSignaturesForAddress(
    new PublicKey(reference),
    { limit: MAX_LISTED + 1, minContextSlot: notBefore },
    "finalized",
  );
  for (const { signature, slot, err } of listed.slice(0, MAX_LISTED)) {
    const found = await messageHashOf(connection, signature);
    // Listed, and yet not to be had: this node's index and its ledger contradict each other.
    if (found === null) return "unclear";
    if (found === messageHash) return { signature, slot, error: errorText(err) };
  }
  return listed.length > MAX_LISTED ? "unclear" : "absent";
}

/** The hash of a finalized transaction's message; null where the node does not have the transaction. */
export async function messageHashOf(connection: Connection, signature: string): Promise<string | null> {
  const landed = await connection.getTransaction(signature, {
    commitment: "finalized",
    maxSupportedTransactionVersion: NEWEST_TRANSACTION_VERSION,
  });
  if (landed === null) return null;
  expectShape(landed.transaction.signatures[0] === signature, "signature");
  return hashOfMessage(landed.transaction.message);
}
