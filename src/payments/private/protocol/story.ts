/**
 * The payees of another copy's marker (K4): the facts of finalized transactions that the address signed and that name the
 * marker.
 */
import { SOL_MINT, type Address } from "../../../core/address.ts";
import type { OrderChange } from "../../../ledger/order-reading.ts";
import { loanOf, smaller, uncovered } from "./cost.ts";
import { placesOf, type Place } from "./cut.ts";
import type { MarkerStory } from "./rows.ts";
import type { OrderTerms } from "./terms.ts";

/**
 * The word of the transactions behind a chunk's marker: unpaid members, and whether a transaction lends. `changes` are all
 * finalized transactions that name the marker; those that the order's address did not sign say nothing.
 */
export function storyOf(
  terms: OrderTerms,
  k: number,
  changes: readonly OrderChange[],
): Exclude<MarkerStory, string> {
  const own = changes.filter(({ isOwn }) => isOwn);
  const places = placesOf(terms, k);
  // The stored amount of a swap's recipient is an estimate: nothing but the swap gives him anything.
  const leastOf = ({ amount, member }: Place): bigint =>
    member === null ? amount : terms.type === "swap" ? 1n : member.amount;
  const isPaidBy = (change: OrderChange, place: Place): boolean =>
    receivedBy(change, place.to, place.member === null ? terms.mint : terms.payMint) >= leastOf(place);
  const unpaid = places.flatMap((place, index) =>
    own.some((change) => isPaidBy(change, place)) ? [] : [index],
  );
  const loan = loanOf(terms);
  // A surplus of the address over the amounts of its members is a loan; of lost ones nobody knows what they got.
  const lends = (change: OrderChange): boolean =>
    places.reduce(
      (sum, place) => (isPaidBy(change, place) ? sum + place.amount : sum),
      change.changes[0] ?? 0n,
    ) >= loan;
  const isGoLent = terms.members.length === 0 || own.some(lends);
  return { unpaid, isLent: k === 0 && loan > 0n && isGoLent };
}

/** An owner's gain of an asset in a transaction, in base units; SOL is its wrapped mint. */
export function receivedBy(change: OrderChange, owner: Address, mint: Address): bigint {
  const asked = mint === SOL_MINT ? null : mint;
  return change.received.reduce(
    (sum, got) => (got.owner === owner && got.mint === asked ? sum + got.amount : sum),
    0n,
  );
}

/**
 * Lamports that token accounts got in a transaction of the order's own key, as far as the address has less behind it than
 * `expected` says: what else has left it, a thief has taken.
 */
export function openedIn(change: OrderChange, expected: bigint, accounts: readonly Address[]): bigint {
  const got = accounts.reduce((sum, account) => sum + receivedBy(change, account, SOL_MINT), 0n);
  return smaller(got, uncovered(expected, change.changes[0] ?? 0n));
}
