/** The stored facts of an order beside its terms, as far as the protocol needs them. */
import type { TransferKind } from "../../../../machines/transfer.ts";
import type { Address } from "../../../core/address.ts";
import type { Price } from "./cost.ts";
import { SOL, type Asset } from "./legs.ts";
import type { Look } from "./look.ts";
import type { OrderTerms } from "./terms.ts";

/** The states of the order's chart. */
export type OrderState =
  "waiting" | "deciding" | "paying" | "refusing" | `over.${"idle" | "refusing" | "paying" | "resting"}`;

/**
 * How it is known whom a marker paid (K4). `length`: an attempt of ours made it, or no node has had its history for an
 * hour. `awaited`: its transactions are looked for. An object: they say so.
 */
export type MarkerStory =
  | "length"
  | "awaited"
  | {
      /** Places that the length says to be paid, and no transaction paid. */
      readonly unpaid: readonly number[];
      /** Whether one of them lent the loan. */
      readonly isLent: boolean;
    };

/** A chunk. */
export interface ChunkRow {
  readonly k: number;
  /** The length of the outcome that is wanted. */
  readonly wanted: number;
  /** The length of the marker that was seen; null before. */
  readonly length: number | null;
  /** The slot at which it was seen, or missed for the first time. */
  readonly slot: number;
  /** Whether a reading has missed it since. */
  readonly isMissed: boolean;
  readonly story: MarkerStory;
  /** Lamports of the address that made token accounts of its recipients (row 9's race), as its receipt says. */
  readonly opened: bigint;
}

/** The level of an asset, in base units. */
export interface LevelRow {
  readonly mint: Address;
  /** The most that has come, as told. */
  readonly received: bigint;
  /** Booked rests and redirects, their costs included. */
  readonly out: bigint;
  /** The sum that a person has concluded to be lost. */
  readonly writtenOff: bigint;
  /** The latest slot of what this row says: no answer from before counts. */
  readonly slot: number;
  /** Whether the last reading did not find all of it. */
  readonly short: boolean;
  /** The missing sum, as told. */
  readonly missing: bigint;
}

/** A transaction to send, with its attempts. */
export interface TransferRow {
  readonly kind: TransferKind;
  readonly state: "planned" | "out" | "done" | "ended";
}

/** A redirect that a person has approved (K12): all of it is fixed then. */
export interface ActRow {
  readonly n: number;
  readonly mint: Address;
  /** Base units at most. */
  readonly sum: bigint;
  readonly to: Address;
  readonly state: "open" | "done" | "ended" | "superseded";
}

/** Deposits of an asset by their own finalized signatures; `slot` is the last one's. */
export interface ListedSum {
  readonly mint: Address;
  readonly sum: bigint;
  readonly slot: number;
}

/** The rows of an order. */
export interface OrderRows {
  /** By their numbers, one for each chunk of the terms. */
  readonly chunks: readonly ChunkRow[];
  readonly levels: readonly LevelRow[];
  readonly transfers: readonly TransferRow[];
  readonly holds: readonly { readonly reason: string }[];
  readonly acts: readonly ActRow[];
  /** Null if no node lists the signatures of the address. */
  readonly listed: readonly ListedSum[] | null;
  /** Whether a transaction of the address that gives the loan to the sponsor is booked or listed. */
  readonly isLoanBack: boolean;
  /** Lamports that collects have cost since the last rest. */
  readonly uncharged: bigint;
  /** Whether every attempt of chunk 0 is dead, finalized, and so is whatever was signed elsewhere before it was refused. */
  readonly isGoDead: boolean;
}

/** All that an order is judged by. */
export interface OrderView {
  readonly terms: OrderTerms;
  readonly rows: OrderRows;
  readonly look: Look;
  /** The tokens of the look. */
  readonly tokens: readonly Asset[];
  /** Lamports of a transaction with two signatures, its bid included. */
  readonly fee: bigint;
  readonly priceOf: (mint: Address) => Price;
}

/** The row of an asset of which nothing has come. */
export function emptyLevel(mint: Address): LevelRow {
  return { mint, received: 0n, out: 0n, writtenOff: 0n, slot: 0, short: false, missing: 0n };
}

/** An asset of the look. Throws `RangeError` for another mint. */
export function assetOf({ tokens }: Pick<OrderView, "tokens">, mint: Address): Asset {
  const asset = [SOL, ...tokens].find((each) => each.mint === mint);
  if (asset === undefined) throw new RangeError(`the look does not show ${mint}`);
  return asset;
}
