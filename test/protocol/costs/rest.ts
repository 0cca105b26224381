/** The rest that the protocol makes of a reading, and what becomes of it when it lands on what is there by then. */
import type { Beginning, CostRule } from "./beginnings.ts";
import { FEE, rentOf, toSponsorOf, TOKEN_ACCOUNT_BYTES, unquotedOf } from "./costs.ts";
import type { Position } from "./position.ts";

/** A rest that is signed. */
export interface Rest {
  readonly seen: Position;
  readonly isBare: boolean;
  readonly closes: boolean;
  /** What leaves by each leg, and what of that the sponsor gets; null if the leg is left out. */
  readonly tokens: Leg | null;
  readonly lamports: Leg | null;
  /** Lamports of the closing account that are the sender's. */
  readonly beyond: number;
  /** Who pays for the sender's account, should it not be there. */
  readonly payer: "the sponsor" | "the address";
}

interface Leg {
  readonly sum: number;
  readonly cost: number;
}

/** What a transaction leaves, and what both sides gain by it. */
export interface Landed {
  readonly position: Position;
  readonly sponsor: number;
  readonly others: number;
}

/** What a failed attempt costs the sponsor: nothing if the simulation refuses it, a fee if it lands with its error. */
export type FailureCost = "nothing" | "a fee";

/** Rests as section 1 of the protocol makes them, or without one of its rules. */
export class Rests {
  readonly #beginning: Beginning;
  readonly #rate: number;
  readonly #account: number;
  readonly #emptyAccount: number;
  readonly #without: CostRule | null;

  constructor(beginning: Beginning, without: CostRule | null) {
    this.#beginning = beginning;
    this.#rate = beginning.rate * beginning.rise;
    this.#account = rentOf(this.#rate, TOKEN_ACCOUNT_BYTES);
    this.#emptyAccount = rentOf(this.#rate, 0);
    this.#without = without;
  }

  /** The rest of what is seen, or null while none is worth its cost. */
  of(seen: Position): Rest | null {
    const isBare = seen.mode === "bare";
    const closes = seen.account !== null && !isBare;
    const owed = toSponsorOf(this.#beginning.rate, seen.account ?? 0);
    const beyond = closes ? (seen.account ?? 0) - owed : 0;
    // A bare leg leaves what the loan needs, or the rent of an empty account.
    const stays = isBare ? Math.max(seen.loan, this.#emptyAccount) - seen.loan : 0;
    const lamports = Math.max(0, seen.lamports + beyond - stays);
    const legs = this.#legs(seen, lamports);
    const rest = { seen, isBare, closes, beyond, ...legs, payer: this.#payer(seen, legs.tokens) };
    const isGiven = legs.tokens !== null || legs.lamports !== null;
    if (!isBare && !this.#has("K16: what the sender cannot be given goes to the sponsor")) {
      const isTokenLeft = seen.hasTokens && legs.tokens === null;
      if (isTokenLeft || (seen.lamports > 0 && legs.lamports === null)) return null;
    }
    const comesBack = !isBare && (closes || seen.loan > 0);
    return isGiven || comesBack ? rest : null;
  }

  #has(rule: CostRule): boolean {
    return this.#without !== rule;
  }

  #payer({ hasAccount }: Position, tokens: Leg | null): Rest["payer"] {
    const isMissing = !hasAccount && tokens !== null;
    return isMissing || !this.#has("K16: the sponsor pays for no account that was read as there")
      ? "the sponsor"
      : "the address";
  }

  /** One asset that covers the cost bears it, tokens first. If none does, nothing is given. */
  #legs(seen: Position, lamports: number): Pick<Rest, "tokens" | "lamports"> {
    const isBare = seen.mode === "bare";
    const base = this.#base(seen);
    const credit = this.#credit(seen);
    const makes = seen.hasAccount ? 0 : this.#account;
    const leastCost = isBare && !this.#has("K13: a bare leg is credited with no rent") ? FEE : 0;
    const all = Math.max(leastCost, base + makes - credit);
    if (isBare && !this.#has("K13: a bare leg bears its cost")) return this.#free(seen, lamports, all);
    if (seen.hasTokens && seen.tokens > all) {
      return { tokens: { sum: seen.tokens, cost: all }, lamports: this.#legOf(seen, lamports, 0) };
    }
    const ofLamports = this.#legOf(seen, lamports, Math.max(leastCost, base - credit));
    const bearsApart = !this.#has("K16: one asset that covers the cost bears all of it");
    // Its own account is all that tokens are charged with if lamports bear the rest.
    const own = bearsApart ? Math.max(0, makes - credit) : Math.max(0, makes - Math.max(0, credit - base));
    const isTokensGiven = seen.hasTokens && seen.tokens > own && (ofLamports !== null || bearsApart);
    return { tokens: isTokensGiven ? { sum: seen.tokens, cost: own } : null, lamports: ofLamports };
  }

  /** Lamports that the sender can hold when their cost is taken off. */
  #legOf({ hasLamports }: Position, sum: number, cost: number): Leg | null {
    const gets = sum - cost;
    return gets > 0 && (hasLamports || gets >= this.#emptyAccount) ? { sum, cost } : null;
  }

  #free(seen: Position, lamports: number, all: number): Pick<Rest, "tokens" | "lamports"> {
    const tokens = seen.hasTokens ? { sum: seen.tokens, cost: 0 } : null;
    const bearing =
      seen.hasTokens && seen.tokens > all ? 0 : Math.max(0, this.#base(seen) - this.#credit(seen));
    const leg = this.#legOf(seen, lamports, bearing);
    return { tokens, lamports: leg === null ? null : { sum: lamports, cost: 0 } };
  }

  /** What is charged before the sender's account: what no quote paid, once. */
  #base({ isFirst }: Position): number {
    if (!isFirst) return FEE;
    const { asset, order } = this.#beginning;
    const decided =
      order.decision === "go"
        ? ({ decision: "go", lengths: [order.extraBytes] } as const)
        : ({ decision: "refused" } as const);
    return unquotedOf({ rate: this.#rate, asset, decided });
  }

  /** The rent that comes back by the closing of the order's account. */
  #credit({ account, mode }: Position): number {
    const comesBack = mode !== "bare" || !this.#has("K13: a bare leg is credited with no rent");
    if (account === null || !comesBack) return 0;
    return this.#has("K16: a closing account is credited with what it gives")
      ? toSponsorOf(this.#beginning.rate, account)
      : this.#account;
  }

  /** What a rest does to what is there when it lands. */
  land(rest: Rest, now: Position, failure: FailureCost): Landed {
    const failed: Landed = {
      position: { ...now, mode: rest.isBare ? "asserted" : "bare" },
      sponsor: failure === "a fee" ? -FEE : 0,
      others: 0,
    };
    if (!rest.isBare && !isAsSeen(rest.seen, now)) return failed;
    const paid = this.#makesAccount(rest, now);
    if (paid === null) return failed;
    const given = this.#gives(rest, paid);
    if (given.position.lamports < 0) return failed;
    return rest.isBare ? given : this.#closes(rest, given);
  }

  /** The sender's account, or null if nobody can pay for it. */
  #makesAccount({ tokens, payer, isBare }: Rest, now: Position): Landed | null {
    const landed = { position: now, sponsor: -FEE, others: 0 };
    if (tokens === null || now.hasAccount) return landed;
    const position = { ...now, hasAccount: true };
    if (payer === "the sponsor") return { ...landed, position, sponsor: -FEE - this.#account };
    // A bare leg that takes all lamports above the loan leaves nothing that an account could be made of.
    if (!isBare || this.#has("K13: a bare leg takes all above the loan")) return null;
    const left = now.lamports + now.loan - this.#account;
    if (left !== 0 && left < this.#emptyAccount) return null;
    const own = Math.min(now.lamports, this.#account);
    const loan = now.loan - (this.#account - own);
    return { ...landed, position: { ...position, lamports: now.lamports - own, loan } };
  }

  #gives(rest: Rest, { position, sponsor, others }: Landed): Landed {
    const { isBare, tokens, closes, beyond } = rest;
    let landed = { ...position, isFirst: false, mode: "asserted" as const };
    let [toSponsor, toOthers] = [sponsor, others];
    if (tokens !== null) {
      const left = landed.tokens - tokens.sum;
      landed = { ...landed, tokens: left, hasTokens: left > 0 };
      toSponsor += tokens.cost;
      toOthers += tokens.sum - tokens.cost;
    } else if (closes && landed.hasTokens) {
      toSponsor += landed.tokens;
      landed = { ...landed, tokens: 0, hasTokens: false };
    }
    const stay = isBare && !this.#has("K13: a bare leg takes all above the loan");
    if (rest.lamports !== null) landed = { ...landed, hasLamports: true };
    if (stay) return { position: landed, sponsor: toSponsor, others: toOthers };
    if (rest.lamports !== null) {
      landed = { ...landed, lamports: landed.lamports - (rest.lamports.sum - beyond) };
      toSponsor += rest.lamports.cost;
      toOthers += rest.lamports.sum - rest.lamports.cost;
    } else if (!isBare) {
      toSponsor += landed.lamports + beyond;
      landed = { ...landed, lamports: 0 };
    }
    return { position: landed, sponsor: toSponsor, others: toOthers };
  }

  /** The account's rent and the loan come back. */
  #closes({ closes }: Rest, { position, sponsor, others }: Landed): Landed {
    const account = closes ? toSponsorOf(this.#beginning.rate, position.account ?? 0) : 0;
    return {
      position: { ...position, account: closes ? null : position.account, loan: 0 },
      sponsor: sponsor + account + position.loan,
      others,
    };
  }
}

/** What a rest asserts by naming all sums and leaving nothing. */
function isAsSeen(seen: Position, now: Position): boolean {
  return (
    seen.hasTokens === now.hasTokens &&
    seen.tokens === now.tokens &&
    seen.lamports === now.lamports &&
    seen.account === now.account
  );
}
