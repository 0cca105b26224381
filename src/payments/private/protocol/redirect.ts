/** Money that goes elsewhere than to payees: to an approved address under a marker of its own (K12), or from a stray account. */
import { SOL_MINT, type Address } from "../../../core/address.ts";
import { rentOf, type OrderChange } from "../../../ledger/order-reading.ts";
import type { TokenProgram } from "../../../ledger/routing.ts";
import { markerLeg } from "./chunk.ts";
import { collectCost, larger, smaller, uncovered } from "./cost.ts";
import { MOST_REDIRECTS, seedOfRedirect } from "./cut.ts";
import { pay, SOL, withoutNothing, type Asset, type Leg } from "./legs.ts";
import type { Look } from "./look.ts";
import { assetOf, type ActRow, type OrderView } from "./rows.ts";
import type { OrderTerms } from "./terms.ts";

/** A redirect's sums in base units; or why there is none now. `aside`: lamports by which the receiver's account may be made. */
export type RedirectPlan =
  | {
      readonly kind: "redirect";
      readonly toReceiver: bigint;
      readonly cost: bigint;
      readonly accountPayer: Address;
      readonly aside: bigint;
    }
  | { readonly kind: "not_worth" | "waiting_for_price" | "purse_frozen" };

/**
 * The lowest number under which no redirect stands and that this copy has not used; null if all are taken, or one before it is
 * disputed: another copy's redirect may have just landed.
 */
export function freeRedirect(look: Look, used: ReadonlySet<number>): number | null {
  for (let n = 0; n < MOST_REDIRECTS; n++) {
    const marker = look.marker(seedOfRedirect(n));
    if (marker === null && !used.has(n)) return n;
    if (marker === "disputed") return null;
  }
  return null;
}

/**
 * Plans an approved redirect: no more than its sum, its cost within; what is more stays. SOL leaves the loan, or rent(0). Its
 * amounts are the witnesses': nothing asserts them, and its number is used up however little it sends (K10).
 */
export function planRedirect(
  { terms, look, fee, priceOf }: OrderView,
  act: ActRow,
  loan: bigint,
): RedirectPlan {
  const { rentPerByte } = look.reading;
  const isSol = act.mint === SOL_MINT;
  const empty = rentOf(rentPerByte, 0);
  const there = uncovered(look.least(act.mint), isSol ? larger(loan, empty) : 0n);
  const isMade = !isSol && look.isMissing(act.to, act.mint);
  const lamports = empty + collectCost({ rentPerByte, fee }, isMade);
  const cost = isSol ? lamports : priceOf(act.mint)?.(lamports);
  if (cost === undefined) return { kind: "waiting_for_price" };
  const isPurseUsable = isSol || !look.isUnusable(terms.sponsor, act.mint);
  if (!isPurseUsable && isMade) return { kind: "purse_frozen" };
  const toReceiver = uncovered(smaller(there, act.sum), cost);
  const canHold = !isSol || toReceiver >= empty || look.hasAtLeast(act.to, empty);
  if (toReceiver === 0n || !canHold) return { kind: "not_worth" };
  return {
    kind: "redirect",
    toReceiver,
    cost: isPurseUsable ? cost : 0n,
    accountPayer: isMade ? terms.sponsor : terms.address,
    aside: isSol || isMade ? 0n : look.least(SOL_MINT),
  };
}

/** The legs of a redirect, in their order. */
export function legsOfRedirect(
  view: OrderView,
  { n, mint, to }: ActRow,
  { toReceiver, cost, accountPayer, aside }: RedirectPlan & { readonly kind: "redirect" },
): readonly Leg[] {
  const { address: from, sponsor } = view.terms;
  const asset = assetOf(view, mint);
  return withoutNothing([
    markerLeg(view, seedOfRedirect(n), 0),
    pay("loan", SOL, { from, to: sponsor, amount: aside }),
    pay("receiver", asset, { from, to, amount: toReceiver, accountPayer }),
    pay("cost", asset, { from, to: sponsor, amount: cost }),
    pay("loan", SOL, { from: sponsor, to: from, amount: aside }),
  ]);
}

/** The end of an act whose marker stands: the marker's own transaction has paid the act's receiver, or somebody else. */
export function judgeRedirect(act: Pick<ActRow, "mint" | "to">, change: OrderChange): "done" | "superseded" {
  const mint = act.mint === SOL_MINT ? null : act.mint;
  const isPaid = change.received.some((got) => got.owner === act.to && got.mint === mint);
  return isPaid ? "done" : "superseded";
}

/** A token account of the order's that is not the associated one, or of a mint that is not paid. */
export interface Stray {
  readonly account: Address;
  readonly asset: Asset;
  readonly amount: bigint;
  readonly program: TokenProgram;
  /** Whether the order may close it. */
  readonly isClosable: boolean;
}

/** The legs that collect a stray to the order's own account, which the sponsor makes if it is missing; wrapped SOL becomes SOL. */
export function legsOfCollect(
  { address, sponsor }: OrderTerms,
  stray: Stray,
  isAccountMade: boolean,
): readonly Leg[] {
  const { asset, account, isClosable } = stray;
  const close = { does: "close", mint: asset.mint, owner: address, to: address, account } as const;
  const closing: Leg = { role: "close", place: null, move: close };
  if (asset.mint === SOL_MINT) return [closing];
  const leg = strayLeg(address, stray, { to: address, accountPayer: isAccountMade ? sponsor : null });
  return isClosable ? [leg, closing] : [leg];
}

/** The legs that send a stray of an unsupported mint to the sender, or to another under a redirect's number. */
export function legsOfForeign(
  view: OrderView,
  stray: Stray,
  { to, n }: { readonly to: Address; readonly n: number | null },
): readonly Leg[] {
  const { address, sender, sponsor } = view.terms;
  if (n === null && to !== sender) throw new RangeError("what goes to anybody but the sender needs a number");
  const leg = strayLeg(address, stray, { to, accountPayer: sponsor });
  return n === null ? [leg] : [markerLeg(view, seedOfRedirect(n), 0), leg];
}

function strayLeg(from: Address, stray: Stray, to: { to: Address; accountPayer: Address | null }): Leg {
  const { asset, account: fromAccount, amount, program } = stray;
  const move = { does: "transfer", ...asset, from, fromAccount, program, amount, ...to } as const;
  return { role: "stray", place: null, move };
}
