/** Costs of an order in lamports: what its quote asks for, what a refund withholds, what the sponsor reserves and lays out. */
import { SOL_MINT, type Address } from "../../../core/address.ts";
import { rentOf } from "../../../ledger/order-reading.ts";
import { TOKEN_ACCOUNT_BYTES } from "../../../ledger/routing.ts";
import type { Leg } from "./legs.ts";
import { NOBODY } from "./outcome.ts";
import type { OrderTerms } from "./terms.ts";

/** Bytes of a marker, and attempts of a transaction, that the sponsor reserves. */
const RESERVED_BYTES = 128;
const RESERVED_ATTEMPTS = 3n;
/** The desk of a swap signs, too. */
const SIGNATURE_LAMPORTS = 5_000n;

/** The rates of now. */
export interface Rates {
  readonly rentPerByte: bigint;
  /** Lamports of a transaction with two signatures, its bid included. */
  readonly fee: bigint;
}

/** The basis for the costs of a new order. */
export interface CostedOrder extends Rates, Pick<OrderTerms, "type" | "mint"> {
  readonly chunks: number;
  /** Token accounts of payees that the sponsor makes. */
  readonly priced: number;
}

/** The worth of lamports in base units of an asset, rounded up; null while there is no price. */
export type Price = ((lamports: bigint) => bigint) | null;

/** The rent of a token account. */
export function accountRent(rentPerByte: bigint): bigint {
  return rentOf(rentPerByte, TOKEN_ACCOUNT_BYTES);
}

/** The loan of a go in SOL to its address, so that dust cannot stop an exact payout; 0 for tokens. */
export function loanOf({ mint, rentPerByte }: Pick<OrderTerms, "mint" | "rentPerByte">): bigint {
  return mint === SOL_MINT ? 2n * rentOf(rentPerByte, 0) : 0n;
}

/** The cost in a quote: each chunk and a rest, markers of length 0 (K16), and the accounts of payees. */
export function quotedCost(order: CostedOrder): { readonly network: bigint; readonly rent: bigint } {
  const markers = BigInt(order.chunks) - (order.mint === SOL_MINT ? 0n : 1n);
  const desk = order.type === "swap" ? SIGNATURE_LAMPORTS : 0n;
  return {
    network: BigInt(order.chunks + 1) * order.fee + desk + markers * rentOf(order.rentPerByte, 0),
    rent: BigInt(order.priced) * accountRent(order.rentPerByte),
  };
}

/** The sponsor's reserve for an order at its acceptance. */
export function reservedFor(order: CostedOrder): bigint {
  return (
    BigInt(order.chunks) * rentOf(order.rentPerByte, RESERVED_BYTES) +
    BigInt(order.priced) * accountRent(order.rentPerByte) +
    (order.mint === SOL_MINT ? loanOf(order) : accountRent(order.rentPerByte)) +
    RESERVED_ATTEMPTS * order.fee * BigInt(order.chunks + 1)
  );
}

/**
 * Whether a marker costs no more than is reserved for it: what is longer waits for a person's retry; so does everything once
 * rent is above twice the rate that was taken, since no marker has less than 128 bytes to pay (K2).
 */
export function isWithinReserve(terms: OrderTerms, rentPerByte: bigint, length: number): boolean {
  return rentOf(rentPerByte, length) <= rentOf(terms.rentTaken, RESERVED_BYTES);
}

/**
 * The rate that lets markers of these lengths be bought at the rate of now: a person's retry takes it (K2). A marker may cost
 * the reserve at that rate, so a longer one needs a higher rate.
 */
export function rateToTake(terms: OrderTerms, rentPerByte: bigint, lengths: readonly number[]): bigint {
  const bytes = rentOf(1n, RESERVED_BYTES);
  const needed = lengths.map((length) => (rentOf(rentPerByte, length) + bytes - 1n) / bytes);
  const read = isWithinReserve(terms, rentPerByte, 0) ? [] : [rentPerByte];
  return [...needed, ...read].reduce(larger, terms.rentTaken);
}

/**
 * The charge of the next rest: its fee, which the quote has paid for the first rest after a go, and what no quote paid.
 * `lengths` are those of the markers, chunk 0 first; null once a rest has been charged with them.
 */
export function chargeOf(
  mint: Address,
  { rentPerByte, fee }: Rates,
  lengths: readonly number[] | null,
): bigint {
  if (lengths === null) return fee;
  if (lengths[0] === NOBODY) return rentOf(rentPerByte, NOBODY) + 2n * fee;
  const longer = lengths.reduce((sum, length) => sum + length, 0);
  return BigInt(longer) * rentPerByte + (mint === SOL_MINT ? 0n : rentOf(rentPerByte, 0));
}

/** The part of a collect in the charge of the next rest. */
export function collectCost({ rentPerByte, fee }: Rates, isAccountMade: boolean): bigint {
  return fee + (isAccountMade ? accountRent(rentPerByte) : 0n);
}

/** The sponsor's gain from a closing account of the order: the rent at the order's rate, never more than lies on it. */
export function rentBack({ rentPerByte }: OrderTerms, lamports: bigint): bigint {
  return smaller(accountRent(rentPerByte), lamports);
}

/** The part of costs that a credit does not cover. */
export function uncovered(costs: bigint, credit: bigint): bigint {
  return larger(costs - credit, 0n);
}

export function larger(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

export function smaller(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

/**
 * The sponsor's largest outlay for a transaction: its fee, markers, loans, and the accounts that he is named to pay. It is
 * all that a rest, a redirect and late money reserve of him.
 */
export function outlayOf(legs: readonly Leg[], sponsor: Address, { rentPerByte, fee }: Rates): bigint {
  return legs.reduce((sum, { role, move }) => {
    if (move.does === "buy") return sum + move.lamports;
    if (move.does !== "transfer") return sum;
    // Accounts that step aside come first, and go back.
    if (role === "loan" && move.to === sponsor) return sum - move.amount;
    const made = move.accountPayer === sponsor ? accountRent(rentPerByte) : 0n;
    return sum + made + (move.from === sponsor ? move.amount : 0n);
  }, fee);
}
