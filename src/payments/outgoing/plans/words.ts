/**
 * The words of markers. With the key of the deposit address they make the seed of an account that the chain creates once:
 * what is paid under the same words is paid once, no matter what else is read, lost or restored. Words never change once a
 * transaction with them was signed, and follow from the stored order alone, so that two copies of a database find the same.
 */
import { createHash } from "node:crypto";
import type { RecipientRecord } from "../../tables/orders.ts";
import type { LeafPayment } from "./stored-plan.ts";

/** An order paid by one transaction is paid under these; every other one is replaced by its routing plan. */
export const ORDER_WORDS = "order";

type Share = Pick<RecipientRecord, "index" | "amount">;

/** A payment that a plan names: some recipients of what is replaced, and what each is paid in base units. */
export function leafWords(replaced: string, shares: readonly Share[]): string {
  return `${replaced}/${shares.map(({ index, amount }) => `${index}:${amount}`).join(",")}`;
}

/** Which recipients a payment stands for: null for an order's own words, which stand for all. */
export function indexesIn(words: string): readonly number[] | null {
  if (words === ORDER_WORDS) return null;
  const shares = words.slice(words.lastIndexOf("/") + 1).split(",");
  return shares.map((share) => Number.parseInt(share, 10));
}

/** The replacement of a marker by payments: it names all of them, so that no two plans share a marker. */
export function planWords(replaced: string, leaves: readonly Pick<LeafPayment, "words">[]): string {
  const all = createHash("sha256").update(leaves.map(({ words }) => words).join("\n"));
  return `${PLAN}${replaced} = ${all.digest("hex")}`;
}

const PLAN = "plan of ";

/** Whether the words are those of a plan of several payments. */
export function isPlan(words: string): boolean {
  return words.startsWith(PLAN);
}

/** The replacement of a marker by one refund, made in the same transaction. */
export function refundWords(
  replaced: string,
  refund: { readonly mint: string; readonly amount: bigint; readonly to: string },
): string {
  const { mint, amount, to } = refund;
  return `refund of ${replaced} = ${amount} ${mint} to ${to}`;
}

/**
 * A refund when nothing is left that could be replaced. Without the amount: two refunds that were planned on different
 * balances exclude each other. The next ordinal is used only when the marker of this one
 * is final.
 */
export function excessWords(ordinal: number): string {
  return `${EXCESS}${ordinal}`;
}

const EXCESS = "excess ";

/** Whether a refund was made under words that carry no amount. */
export function isExcess(words: string): boolean {
  return words.startsWith(EXCESS);
}
