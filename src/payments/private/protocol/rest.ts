/**
 * The rest of an order goes back (K13, K16): to the sender, less its cost, and to the sponsor what is his. An asserted rest
 * names all sums and fails unless nothing is left; a bare one follows it if dust made it fail, and leaves the loan.
 */
import type { Address } from "../../../core/address.ts";
import { rentOf, type OrderTold } from "../../../ledger/order-reading.ts";
import { accountRent, larger, rentBack, smaller, uncovered } from "./cost.ts";
import { pay, SOL, withoutNothing, type Asset, type Leg } from "./legs.ts";
import type { OrderView } from "./rows.ts";
import type { OrderTerms } from "./terms.ts";

/** Which rest. */
export interface RestNeed {
  /** The side whose amounts are named: a wrong one is refused, or harmless. All else is what the witnesses say. */
  readonly told: OrderTold;
  /** The token that goes with the lamports; null for lamports alone. */
  readonly token: Asset | null;
  readonly way: "asserted" | "bare";
  /** Lamports of the sponsor's that were lent and are not back. */
  readonly loan: bigint;
  /** Lamports that it is charged with: `chargeOf`, and what collects have cost. */
  readonly charge: bigint;
}

/** The sums of a rest, in base units. */
export interface Rest {
  readonly kind: "rest";
  readonly way: "asserted" | "bare";
  readonly token:
    | (Asset & {
        readonly toSender: bigint;
        /** The cost that the tokens bear, or what the sender cannot be given. */
        readonly toSponsor: bigint;
        /** Pays for the sender's account if it is not there. */
        readonly accountPayer: Address;
      })
    | null;
  readonly lamports: { readonly toSender: bigint; readonly toSponsor: bigint };
  /** Lamports to the sponsor that are no cost: the loan, and the rent of the account that closes. */
  readonly back: bigint;
  /** Whether the sponsor's account cannot take what is withheld: then nothing is. */
  readonly isCostLeftOut: boolean;
  /** The loan, which steps aside in a bare rest: the making of an account, or an amount that is too high, would spend it. */
  readonly aside: bigint;
}

/**
 * A rest, or why there is none. `nothing`: nothing is there. `not_worth`: less than its cost. `held`: the order's own account
 * is frozen. `purse_frozen`: the sponsor's account cannot take what is withheld.
 */
export type RestPlan =
  Rest | { readonly kind: "nothing" | "not_worth" | "waiting_for_price" | "held" | "purse_frozen" };

/** Plans the rest of one token and the lamports, or of the lamports alone. */
export function planRest(view: OrderView, need: RestNeed): RestPlan {
  const { terms, look } = view;
  const { told, token, loan } = need;
  const isAsserted = need.way === "asserted";
  const account = token === null ? null : look.account(told, terms.address, token.mint);
  if (account?.state === "frozen" && account.amount > 0n) return { kind: "held" };
  const sums = sumsOf(view, need, account?.state === "usable" ? account : null);
  if (!sums.isAccountThere && told.order.lamports === 0n) return { kind: "nothing" };
  const shares = sharesOf(view, need, sums);
  if (shares === null) return { kind: "waiting_for_price" };
  const { givesTokens, givesLamports, tokenCost } = shares;
  const isDust = isAsserted && sums.units > 0n && !givesTokens;
  const comes = isAsserted && (sums.isAccountThere || loan > 0n);
  const isOneWhole = sums.units > 10n ** BigInt((token ?? SOL).decimals);
  if (sums.free < 0n || !(givesTokens || givesLamports || comes) || (isDust && isOneWhole)) {
    return { kind: "not_worth" };
  }
  const isPurseUsable = token === null || !look.isUnusable(terms.sponsor, token.mint);
  const isMadeForIt = givesTokens && sums.makes > 0n && tokenCost > 0n;
  if (!isPurseUsable && (isDust || isMadeForIt)) return { kind: "purse_frozen" };
  const isCostLeftOut = !isPurseUsable && givesTokens && tokenCost > 0n;
  return restOf(terms, need, { ...sums, ...shares, isCostLeftOut });
}

/** The legs of a rest, in their order. */
export function legsOfRest({ address: from, sender, sponsor }: OrderTerms, rest: Rest): readonly Leg[] {
  const { token, lamports, aside } = rest;
  const isAsserted = rest.way === "asserted";
  const legs: Leg[] = [pay("loan", SOL, { from, to: sponsor, amount: aside })];
  if (token !== null) {
    const { toSender, toSponsor, accountPayer } = token;
    legs.push(pay("sender", token, { from, to: sender, amount: toSender, accountPayer }));
    legs.push(pay("cost", token, { from, to: sponsor, amount: toSponsor }));
    const close = { does: "close", mint: token.mint, owner: from, to: from } as const;
    if (isAsserted) legs.push({ role: "close", place: null, move: close });
  }
  legs.push(pay("sender", SOL, { from, to: sender, amount: lamports.toSender }));
  legs.push(pay("cost", SOL, { from, to: sponsor, amount: lamports.toSponsor }));
  legs.push(pay("loan", SOL, { from: sponsor, to: from, amount: aside }));
  const empty = { does: "empty", address: from, payer: sponsor } as const;
  if (isAsserted) legs.push({ role: "empty", place: null, move: empty });
  return withoutNothing(legs);
}

type Sums = ReturnType<typeof sumsOf>;
type Shares = NonNullable<ReturnType<typeof sharesOf>>;

/** The lamports to share out; `all` lamports leave in an asserted rest, and `free` are those that are not the sponsor's. */
function sumsOf(
  { terms, look }: OrderView,
  { told, token, way, loan }: RestNeed,
  account: { readonly amount: bigint; readonly lamports: bigint } | null,
) {
  const { rentPerByte } = look.reading;
  const empty = rentOf(rentPerByte, 0);
  const isClosing = way === "asserted" && account !== null;
  const credit = isClosing ? rentBack(terms, account.lamports) : 0n;
  const all = told.order.lamports + (isClosing ? account.lamports : 0n);
  const above = uncovered(all, larger(loan, empty));
  const units = account?.amount ?? 0n;
  const isMade = token !== null && units > 0n && look.isMissing(terms.sender, token.mint);
  return {
    units,
    isAccountThere: account !== null,
    all,
    free: way === "bare" ? above : all - credit - loan,
    credit,
    makes: isMade ? accountRent(rentPerByte) : 0n,
  };
}

/** One asset that covers the cost bears it, tokens first; his account is borne by its tokens. Null: there is no price. */
function sharesOf({ terms, look, priceOf }: OrderView, { token, charge }: RestNeed, sums: Sums) {
  const { units, free, credit, makes } = sums;
  const price = token === null ? null : priceOf(token.mint);
  const inUnits = (lamports: bigint): bigint | null => (lamports === 0n ? 0n : (price?.(lamports) ?? null));
  const empty = rentOf(look.reading.rentPerByte, 0);
  const canHold = (lamports: bigint): boolean =>
    lamports > 0n && (lamports >= empty || look.hasAtLeast(terms.sender, empty));

  const whole = units === 0n ? 0n : inUnits(uncovered(charge + makes, credit));
  if (whole === null) return null;
  const bearing = { tokenCost: whole, lamportCost: 0n, givesTokens: true, givesLamports: canHold(free) };
  if (units > whole) return bearing;
  const lamportCost = uncovered(charge, credit);
  const tokenCost = units === 0n ? 0n : inUnits(uncovered(makes, uncovered(credit, charge)));
  if (tokenCost === null) return null;
  const givesLamports = canHold(free - lamportCost);
  return { tokenCost, lamportCost, givesTokens: givesLamports && units > tokenCost, givesLamports };
}

function restOf(
  terms: OrderTerms,
  { told, token, way, loan }: RestNeed,
  sums: Sums & Shares & Pick<Rest, "isCostLeftOut">,
): Rest {
  const { units, free, givesTokens, givesLamports, tokenCost, lamportCost, isCostLeftOut } = sums;
  const isAsserted = way === "asserted";
  const toSender = givesTokens ? units - (isCostLeftOut ? 0n : tokenCost) : 0n;
  const accountPayer = sums.makes > 0n ? terms.sponsor : terms.address;
  const his = givesLamports ? free - lamportCost : 0n;
  const withToken = token !== null && sums.isAccountThere && (isAsserted || givesTokens);
  const mayCreate = withToken && accountPayer === terms.address;
  return {
    kind: "rest",
    way,
    token: withToken ? { ...token, toSender, toSponsor: units - toSender, accountPayer } : null,
    lamports: { toSender: his, toSponsor: isAsserted ? sums.all - his : givesLamports ? lamportCost : 0n },
    back: isAsserted ? loan + sums.credit : 0n,
    isCostLeftOut,
    aside: !isAsserted && (mayCreate || givesLamports) ? smaller(loan, told.order.lamports) : 0n,
  };
}
