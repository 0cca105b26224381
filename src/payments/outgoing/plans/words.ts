/**
 * The words of markers. With the key of the deposit address they make the seed of an account that the chain creates once:
 * what is paid under the same words is paid once, no matter what else is read, lost or restored. Words never change once a
 * transaction with them was signed, and follow from the stored order alone, so that two copies of a database find the same.
 */
import { createHash } from "node:crypto";
import type { RecipientRecord } from "../../tables/orders.ts";
import type { LeafPayment } from "./stored-plan.ts";

/** Words of an order that one transaction pays; the marker of any other order is replaced by its routing plan. */
export const ORDER_WORDS = "order";

type Share = Pick<RecipientRecord, "index" | "amount">;

/** Words of a payment that a plan names: recipients of the replaced payment, and their amounts in base units. */
export function leafWords(replaced: string, shares: readonly Share[]): string {
  return `${replaced}/${shares.map(({ index, amount }) => `${index}:${amount}`).join(",")}`;
}

/** The recipients of a payment, by its words: null for the words of an order, which mean all recipients. */
export function indexesIn(words: string): readonly number[] | null {
  if (words === ORDER_WORDS) return null;
  const shares = words.slice(words.lastIndexOf("/") + 1).split(",");
  return shares.map((share) => Number.parseInt(share, 10));
}

/** Words of the plan that replaces a marker by payments. All payments are named, so two plans never share a marker. */
export function planWords(replaced: string, leaves: readonly Pick<LeafPayment, "words">[]): string {
  const all = createHash("sha256").update(leaves.map(({ words }) => words).join("\n"));
  return `${PLAN}${replaced} = ${all.digest("hex")}`;
}

const PLAN = "plan of ";

export function isPlan(words: string): boolean {
  return words.startsWith(PLAN);
}

/** Words of a refund that replaces a marker, in the same transaction. */
export function refundWords(
  replaced: string,
  refund: { readonly mint: string; readonly amount: bigint; readonly to: string },
): string {
  const { mint, amount, to } = refund;
  return `refund of ${replaced} = ${amount} ${mint} to ${to}`;
}

/**
 * Words of a refund when no marker is left to replace. The words leave the amount out: of two refunds that were planned
 * on different balances, only one can land. The next ordinal is used only when the marker of the present ordinal is
 * final.
 */
export function excessWords(ordinal: number): string {
  return `${EXCESS}${ordinal}`;
}

const EXCESS = "excess ";

/** Whether the words belong to a refund of excess, which names no amount. */
export function isExcess(words: string): boolean {
  return words.startsWith(EXCESS);
}
