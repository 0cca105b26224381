/** How an order is cut into chunks (K3): who is in each, and what an outcome takes out of the order's address. */
import { SOL_MINT, type Address } from "../../../core/address.ts";
import { isPaid, type ChunkShape } from "./outcome.ts";
import type { Member, OrderTerms, Outcome } from "./terms.ts";

/** The most members of a chunk: what fits a transaction with the longest marker. */
const MOST_MEMBERS = { sol: 13, token: 7 };

/** Redirects of one order: `r0` … `r9`. */
export const MOST_REDIRECTS = 10;

/** A member of a chunk. */
export interface Place {
  readonly to: Address;
  /** Base units of the order's asset that leave its address; of a swap what its desk gets. */
  readonly amount: bigint;
  /** Null for the fee. */
  readonly member: Member | null;
}

/** How many recipients each chunk has, chunk 0 first, in which the fee takes one place. */
export function cutOf(
  { type, mint }: Pick<OrderTerms, "type" | "mint">,
  recipients: number,
): readonly number[] {
  if (recipients < 1) throw new RangeError(`an order has a recipient at least, not ${recipients}`);
  if (type === "swap") return [1];
  const most = mint === SOL_MINT ? MOST_MEMBERS.sol : MOST_MEMBERS.token;
  const cut = [Math.min(recipients, most - 1)];
  for (let left = recipients - most + 1; left > 0; left -= most) cut.push(Math.min(left, most));
  return cut;
}

/** The shape of a chunk. Throws `RangeError` for a number that the order has no chunk of. */
export function shapeOf({ cut }: Pick<OrderTerms, "cut">, k: number): ChunkShape {
  const recipients = cut[k];
  if (recipients === undefined) {
    throw new RangeError(`an order of ${cut.length} chunks has none numbered ${k}`);
  }
  return { members: recipients + (k === 0 ? 1 : 0), isFirst: k === 0, isOnly: cut.length === 1 };
}

/** The members of a chunk by their places: of chunk 0 the fee is the first (K5). */
export function placesOf(terms: OrderTerms, k: number): readonly Place[] {
  const before = terms.cut.slice(0, k).reduce((sum, size) => sum + size, 0);
  const input = terms.required - terms.fee;
  const recipients = terms.members
    .slice(before, before + (terms.cut[k] ?? 0))
    .map((member) => ({ to: member.address, amount: terms.type === "swap" ? input : member.amount, member }));
  return k === 0 ? [{ to: terms.treasury, amount: terms.fee, member: null }, ...recipients] : recipients;
}

/** The recipients whom an outcome of a chunk pays. */
export function paidMembers(terms: OrderTerms, k: number, outcome: Outcome): readonly Member[] {
  return placesOf(terms, k).flatMap(({ member }, place) =>
    member !== null && isPaid(outcome, place) ? [member] : [],
  );
}

/** Base units of the order's asset that an outcome of a chunk takes out, its fee included. */
export function takenOut(terms: OrderTerms, k: number, outcome: Outcome): bigint {
  return placesOf(terms, k).reduce(
    (sum, { amount }, place) => (isPaid(outcome, place) ? sum + amount : sum),
    0n,
  );
}

/** The seed of a chunk's marker. */
export function seedOfChunk(k: number): string {
  return String(k);
}

/** The seed of a redirect's marker. */
export function seedOfRedirect(n: number): string {
  return `r${n}`;
}
