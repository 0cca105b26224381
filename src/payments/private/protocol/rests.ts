/** Which rests, redirects and chunks may be signed of an order: only what cannot take a payee's money (K6, K7, K12, K16). */
import type { TransferKind } from "../../../../machines/transfer.ts";
import { SOL_MINT } from "../../../core/address.ts";
import type { OrderTold } from "../../../ledger/order-reading.ts";
import { chargeOf } from "./cost.ts";
import type { MarkerFacts, OrderFacts, Worth } from "./facts.ts";
import { NOBODY } from "./outcome.ts";
import { planRest, type Rest, type RestPlan } from "./rest.ts";
import type { OrderRows, OrderView } from "./rows.ts";

/** Why a transaction may not be signed now. */
export type Bar = "unclear" | "undecided" | "hold" | "another_out" | "not_worth" | "waiting_for_price";

/** The next leg to sign. */
export type Signing =
  | { readonly kind: "chunk"; readonly k: number; readonly isNobody: boolean }
  | { readonly kind: Exclude<TransferKind, "chunk"> };

/**
 * The first reason not to sign, or null. A hold stops a go, a rest and a collect, and nothing else. An open act stops
 * rests of its mint in `restsOf`.
 */
export function barTo(signing: Signing, facts: OrderFacts, { rows }: OrderView): Bar | null {
  if (signing.kind === "foreign") return null;
  if (facts.isUnclear) return "unclear";
  const isHeld = rows.holds.length > 0;
  if (signing.kind === "chunk") {
    if (signing.k > 0) return facts.decision === "go" ? null : "undecided";
    if (signing.isNobody) return barToNoGo(facts.worth);
    return isHeld ? "hold" : null;
  }
  // Collected money stays in the order, and nothing about it could be decided before its arrival.
  if (!facts.isDecided && signing.kind !== "collect") return "undecided";
  if (isAnyOut(rows)) return "another_out";
  return isHeld && signing.kind !== "redirect" ? "hold" : null;
}

/** No marker is bought to give back what is not worth it; where endpoints differ, none of them keeps a refund from going. */
function barToNoGo(worth: Worth | null): Bar | null {
  if (worth === "waiting_for_price") return worth;
  return worth === "nothing" || worth === "not_worth" ? "not_worth" : null;
}

/** Whether the order's money goes out by anything but a chunk: one at a time. Foreign tokens are none of it. */
export function isAnyOut({ transfers }: OrderRows): boolean {
  return transfers.some(({ kind, state }) => kind !== "chunk" && kind !== "foreign" && state === "out");
}

/** The rests that one endpoint's amounts lead to, the order's own token first. The first that is one is signed. */
export function restsOf(
  view: OrderView,
  { chunks, decision, loan }: MarkerFacts,
  { told, way }: { readonly told: OrderTold; readonly way: "asserted" | "bare" },
): readonly RestPlan[] {
  const { terms, rows, look, tokens, fee } = view;
  const isCharged = rows.transfers.some(({ kind, state }) => kind === "rest" && state === "done");
  const lengths = chunks.flatMap(({ marker }) => (typeof marker === "number" ? [marker] : []));
  const bought = isCharged ? null : decision === "go" ? lengths : [NOBODY];
  const charge =
    rows.uncharged + chargeOf(terms.mint, { rentPerByte: look.reading.rentPerByte, fee }, bought);
  const barred = new Set(rows.acts.flatMap(({ state, mint }) => (state === "open" ? [mint] : [])));
  if (barred.has(SOL_MINT)) return [];
  const isOwn = (mint: string): number => (mint === terms.mint ? 0 : 1);
  const ready = tokens
    .filter(({ mint }) => !barred.has(mint) && look.account(told, terms.address, mint) !== null)
    .toSorted((one, other) => isOwn(one.mint) - isOwn(other.mint));
  return [...ready, null].map((token) => planRest(view, { told, token, way, loan, charge }));
}

/** Whether a rest gives the sender anything. */
export function givesSender({ token, lamports }: Rest): boolean {
  return lamports.toSender > 0n || (token?.toSender ?? 0n) > 0n;
}
