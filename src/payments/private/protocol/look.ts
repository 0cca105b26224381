/** A look at an order by its names in place of positions, and how many endpoints say what (K10). */
import { SOL_MINT, type Address } from "../../../core/address.ts";
import type { OrderQuery, OrderReading, OrderTold, WalletTold } from "../../../ledger/order-reading.ts";
import { seedOfChunk, seedOfRedirect } from "./cut.ts";
import type { OrderTerms } from "./terms.ts";

/** The least distance in slots at which answers are not of one time any more. */
const SLOTS_APART = 150;

/** The accounts of a look: its parties' and those of `others` for these mints, its chunks' markers, and `r0` … of redirects. */
export function queryOf(
  terms: OrderTerms,
  asked: {
    readonly mints: readonly Address[];
    readonly redirects: number;
    readonly others: readonly Address[];
  },
): OrderQuery {
  const redirects = Array.from({ length: asked.redirects }, (_, n) => seedOfRedirect(n));
  return {
    address: terms.address,
    mints: asked.mints,
    owners: [...new Set([terms.sponsor, terms.treasury, terms.sender, ...asked.others])],
    seeds: [...terms.cut.map((_, k) => seedOfChunk(k)), ...redirects],
  };
}

/** A reading with the query that it answers. Throws `RangeError` for what was not asked for. */
export class Look {
  readonly query: OrderQuery;
  readonly reading: OrderReading;

  constructor(query: OrderQuery, reading: OrderReading) {
    this.query = query;
    this.reading = reading;
  }

  /** Whether as many endpoints say it as must agree. */
  isSaid(says: (told: OrderTold) => boolean): boolean {
    return this.reading.told.filter(says).length >= this.reading.witnesses;
  }

  /** A wallet as an endpoint shows it. */
  wallet(told: OrderTold, owner: Address): WalletTold {
    if (owner === this.query.address) return told.order;
    return known(told.owners[this.query.owners.indexOf(owner)], owner);
  }

  /** An associated token account; null if there is none. */
  account(told: OrderTold, owner: Address, mint: Address): WalletTold["accounts"][number] {
    return known(this.wallet(told, owner).accounts[this.query.mints.indexOf(mint)], mint);
  }

  /** Whether so many endpoints say that an owner's account takes and gives no tokens: frozen, given away, missing. */
  isUnusable(owner: Address, mint: Address): boolean {
    return this.isSaid((told) => this.account(told, owner, mint)?.state !== "usable");
  }

  /** Whether so many endpoints say that an owner has no account of a mint. */
  isMissing(owner: Address, mint: Address): boolean {
    return this.isSaid((told) => this.account(told, owner, mint) === null);
  }

  /** Whether so many endpoints say that a wallet has so many lamports. */
  hasAtLeast(owner: Address, lamports: bigint): boolean {
    return this.isSaid((told) => this.wallet(told, owner).lamports >= lamports);
  }

  /** The marker of a seed as the witnesses tell it. */
  marker(seed: string): OrderReading["markers"][number] {
    return known(this.reading.markers[this.query.seeds.indexOf(seed)], seed);
  }

  /** The marker of a chunk as one endpoint shows it, if it is one. */
  lengthTold(told: OrderTold, k: number): number | null {
    const marker = known(told.markers[this.query.seeds.indexOf(seedOfChunk(k))], seedOfChunk(k));
    return typeof marker === "number" ? marker : null;
  }

  /** The order's funds of an asset in the account of payouts, frozen or not: no lamports of token accounts. */
  amount(told: OrderTold, mint: Address): bigint {
    if (mint === SOL_MINT) return told.order.lamports;
    return this.account(told, this.query.address, mint)?.amount ?? 0n;
  }

  /** The order's least funds, on the word of enough endpoints. */
  least(mint: Address): bigint {
    const amounts = this.reading.told.map((told) => this.amount(told, mint));
    return saidAtLeast(amounts, this.reading.witnesses);
  }
}

/**
 * The newest answers that may be compared: not before `from`, at most 150 slots apart, as many as must agree at least. Null
 * if there are no such ones.
 */
export function comparable<Answer extends { readonly slot: number }>(
  answers: readonly Answer[],
  from: number,
  witnesses: number,
): readonly Answer[] | null {
  const recent = answers.filter(({ slot }) => slot >= from).toSorted((one, other) => other.slot - one.slot);
  const groups = recent.map((newest) =>
    recent.filter(({ slot }) => slot <= newest.slot && newest.slot - slot <= SLOTS_APART),
  );
  return groups.find((group) => group.length >= witnesses) ?? null;
}

/** The highest amount that enough endpoints reach. */
export function saidAtLeast(amounts: readonly bigint[], witnesses: number): bigint {
  return amounts.toSorted((one, other) => (one < other ? 1 : -1))[witnesses - 1] ?? 0n;
}

function known<Shown>(shown: Shown | undefined, name: string): Shown {
  if (shown === undefined) throw new RangeError(`the look does not show ${name}`);
  return shown;
}
