/** One look at an order of private mode: address, markers, and all accounts that may pay or be paid, from one block. */
import type { Address } from "../core/address.ts";
import type { Reading } from "./reading.ts";

/** The accounts of a look: of each owner the wallet and the associated accounts of `mints`. */
export interface OrderQuery {
  /** The one-time address of the order. */
  readonly address: Address;
  /** Mints of tokens, SOL's left out: USDC and USDT. */
  readonly mints: readonly Address[];
  /** The payer of the network, the receivers of fee and rest, and all others whose accounts decide something. */
  readonly owners: readonly Address[];
  /** Seeds of markers, such as `0`, `1`, `r0`. */
  readonly seeds: readonly string[];
}

/** An associated token account as one endpoint shows it. */
export interface TokenAccountTold {
  /** Raw units; 0 where another owner holds the account. */
  readonly amount: bigint;
  readonly lamports: bigint;
  /** `usable` alone takes and gives tokens: `frozen` by the issuer, `foreign` given to another owner. */
  readonly state: "usable" | "frozen" | "foreign";
}

/** A wallet with its associated accounts in the order of the mints; null where there is none. */
export interface WalletTold {
  /** 0 where a plain transfer could not move them: an account with data, or of a program other than System. */
  readonly lamports: bigint;
  readonly accounts: readonly (TokenAccountTold | null)[];
}

/**
 * A marker at its address: null where there is none (nothing, or lamports alone), the length of its data where the owner is
 * the markers' owner of this address, `foreign` where another program owns it.
 */
export type MarkerTold = number | "foreign" | null;

/** An order's accounts in one block, as one endpoint shows them. */
export interface OrderTold extends Reading {
  /** Unix seconds of the block. */
  readonly blockTime: number;
  /** Lamports of rent a byte, with the 128 bytes of every account's head counted as bytes: `rentOf(told, n)`. */
  readonly rentPerByte: bigint;
  readonly order: WalletTold;
  /** In the order of `owners`. */
  readonly owners: readonly WalletTold[];
  /** In the order of `seeds`. */
  readonly markers: readonly MarkerTold[];
}

/**
 * The answers of the endpoints, as many as must agree at least, newest slot first. Markers and rent are what so many of them
 * say alike; balances may differ, and each rule says whose counts.
 */
export interface OrderReading {
  /** How many endpoints must agree. */
  readonly witnesses: number;
  readonly told: readonly OrderTold[];
  readonly rentPerByte: bigint;
  /** `disputed` where too few endpoints say the same. */
  readonly markers: readonly (MarkerTold | "disputed")[];
}

/** The bytes that every account is charged for besides its data. */
const ACCOUNT_HEAD_BYTES = 128n;

/** The rent minimum of an account of so many bytes, in lamports. */
export function rentOf(perByte: bigint, bytes: number): bigint {
  return (ACCOUNT_HEAD_BYTES + BigInt(bytes)) * perByte;
}

/** The facts of an order's history. */
export interface OrderHistoryQuery extends Pick<OrderQuery, "address" | "mints" | "seeds"> {
  /** Lamports of rent a byte when the order was taken: what its token accounts hold above their rent is its money. */
  readonly rentPerByte: bigint;
}

/** A transaction that changed what an order holds, or by which the order's own key paid somebody; by its finalized receipt. */
export interface OrderChange {
  readonly signature: string;
  readonly slot: number;
  /** Whether the order's address signed it: then it is no deposit. */
  readonly isOwn: boolean;
  /**
   * Lamports, then the units of each mint, that the wallet and its associated accounts got; below zero where they gave. For a
   * token account, only lamports above its rent count.
   */
  readonly changes: readonly bigint[];
  /** The one owner who gave all of an asset, by its place in `changes`; null where it does not tell one. */
  readonly payers: readonly (Address | null)[];
  /** The marker addresses among the accounts that the transaction names, lookup tables and inner instructions included. */
  readonly markers: readonly Address[];
  /** The gains of every other owner in the order's assets, for telling the payees of another copy's marker. */
  readonly received: readonly {
    readonly owner: Address;
    readonly mint: Address | null;
    readonly amount: bigint;
  }[];
}

/** The changes of an order, as far as they were read. */
export interface OrderHistory {
  /** The oldest slot first; those of one slot in any order. */
  readonly changes: readonly OrderChange[];
  /** The slot from which on the next look reads more; null where all that is listed was read. */
  readonly more: number | null;
}
