/** Finds deposit addresses that were sent tokens which are none of the service's assets. */
import { unitsWritten } from "../../outgoing/plans/other-mints.ts";
import type { PaymentStorage } from "../../payment-storage.ts";
import type { Assets } from "../../assets/assets.ts";
import { matterId, type AttentionSource, type FoundMatter } from "./matter.ts";

/** What the id of such a matter has before the address: an address that is held, too, is a matter of its own. */
export const TOKENS_AT = "tokens@";
const TOKENS = matterId("unexplained", TOKENS_AT);
/** Named in a matter's message; of the other mints there is a number. */
const MAX_NAMED = 3;

/**
 * One matter for each address, however many mints strangers have sent there. It is over when the tokens have left, or an
 * operator has dropped the matter; of tokens that come later there is a new one.
 */
export function addressesWithOtherMints(
  storage: Pick<PaymentStorage, "depositsWithOtherMints" | "entriesOf">,
  assets: Pick<Assets, "ofMint">,
): AttentionSource {
  return async (limit) => {
    const found = await storage.depositsWithOtherMints(limit);
    const entries = found.length === 0 ? [] : await storage.entriesOf(found.map(({ id }) => id));
    return found.map(({ id, transactionId, accountId, otherMintsAt }): FoundMatter => {
      const own = entries.filter(({ address, mint }) => address === id && assets.ofMint(mint) === null);
      const held = [...unitsWritten(own)].filter(([, units]) => units > 0n);
      const named = held.slice(0, MAX_NAMED).map(([mint, units]) => `${mint} (${units} raw units)`);
      const more = held.length > named.length ? [`${held.length - named.length} more`] : [];
      return {
        kind: "unexplained",
        id: matterId("unexplained", `${TOKENS_AT}${id}`),
        transactionId,
        accountId,
        since: own[0]?.at ?? otherMintsAt,
        message:
          `deposit address ${id} was sent tokens that this service does not use: ${[...named, ...more].join(", ")}. ` +
          `Once its order is over send them back by paystate release ${transactionId} --mint MINT, or drop the matter`,
        actions: ["drop"],
      };
    });
  };
}

/**
 * The source of a matter: its kind, but the sources of foreign tokens and of held addresses share a kind. Strangers can
 * send tokens to any number of addresses; what is left out of those says nothing about held addresses.
 */
export function sourceOfMatter({ id, kind }: { readonly id: string; readonly kind: string }): string {
  if (kind !== "unexplained") return kind;
  return id.startsWith(TOKENS) ? TOKENS_AT : "held";
}
