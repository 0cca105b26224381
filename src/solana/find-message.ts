/** Finds a message that landed under another signature than the one it was submitted with. */
import type { Address } from "../address.ts";
import type { FoundLanding } from "./agreement.ts";
import type { Endpoint } from "./endpoint.ts";
import { expectShape } from "./endpoint-failure.ts";
import { messageHashOf, signatureOf } from "./rpc/landed-transaction.ts";
import { errorText } from "./statuses.ts";

// A reference key belongs to one quote, whose refreshes give out a few transactions at most. More are strangers' noise.
const MAX_LISTED = 10;

/** What the listing of a reference key says: the landing of this very message, nothing of it, or too much to tell. */
export type MessageSearch = FoundLanding | "absent" | "unclear";

/**
 * Looks through the finalized transactions that name a reference key. A sender can sign one message under as many
 * signatures as it likes, and the chain takes one of them. `notBefore` is a slot that the node must have reached.
 */
export async function findMessage(
  endpoint: Endpoint,
  { reference, messageHash }: { readonly reference: Address; readonly messageHash: string },
  notBefore: number,
): Promise<MessageSearch> {
  const listed = await endpoint.rpc.getSignaturesForAddress(reference, {
    limit: MAX_LISTED + 1,
    minContextSlot: notBefore,
  });
  for (const { signature, slot, err } of listed.slice(0, MAX_LISTED)) {
    const found = await landedMessageHash(endpoint, signature);
    // Listed, and yet not to be had: this node's index and its ledger contradict each other.
    if (found === null) return "unclear";
    if (found === messageHash) return { signature, slot, error: errorText(err) };
  }
  return listed.length > MAX_LISTED ? "unclear" : "absent";
}

/** The hash of a finalized transaction's message; null where the node does not have the transaction. */
export async function landedMessageHash({ rpc }: Endpoint, signature: string): Promise<string | null> {
  const landed = await rpc.getTransaction(signature);
  if (landed === null) return null;
  expectShape(signatureOf(landed.transaction) === signature, "signature");
  return messageHashOf(landed.transaction);
}
