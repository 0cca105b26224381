/** The transactions of chunks (K1): the marker first, then every payee of its length; in SOL the loan comes last. */
import type { Address } from "../../../core/address.ts";
import { rentOf } from "../../../ledger/order-reading.ts";
import { loanOf } from "./cost.ts";
import { placesOf, seedOfChunk, shapeOf } from "./cut.ts";
import { pay, SOL, type Asset, type Leg } from "./legs.ts";
import { isPaid, lengthOf } from "./outcome.ts";
import { assetOf, type OrderView } from "./rows.ts";
import type { Outcome } from "./terms.ts";

/** The desk's side of a swap: what its payee gets, in base units. */
export interface SwapLeg {
  readonly desk: Address;
  readonly asset: Asset;
  readonly output: bigint;
}

/** The signed form of a chunk; `swap` of a swap alone. */
export interface SignedChunk {
  readonly k: number;
  readonly outcome: Outcome;
  readonly swap: SwapLeg | null;
}

/** The legs of a chunk, in their order: of one that is given up its marker alone (K8). Throws `RangeError` for an outcome that is never signed. */
export function legsOfChunk(view: OrderView, { k, outcome, swap }: SignedChunk): readonly Leg[] {
  const { terms } = view;
  const marker = markerLeg(view, seedOfChunk(k), lengthOf(shapeOf(terms, k), outcome));
  const from = terms.address;
  const asset = assetOf(view, terms.mint);
  const members = placesOf(terms, k).flatMap(({ to, amount, member }, place): readonly Leg[] => {
    if (!isPaid(outcome, place) || amount === 0n) return [];
    if (member === null) return [pay("member", asset, { from, to, amount, place })];
    const accountPayer = member.isPriced ? terms.sponsor : from;
    if (swap === null) return [pay("member", asset, { from, to, amount, accountPayer, place })];
    return [
      pay("input", asset, { from, to: swap.desk, amount }),
      pay("desk", swap.asset, { from: swap.desk, to, amount: swap.output, accountPayer, place }),
    ];
  });
  const loan = loanOf(terms);
  const isLending = k === 0 && loan > 0n && outcome.kind !== "nobody";
  const lent = isLending ? [pay("loan", SOL, { from: terms.sponsor, to: from, amount: loan })] : [];
  return [marker, ...members, ...lent];
}

/** The leg that makes a marker and pays its rent of now, a lamport at least (K2). */
export function markerLeg({ terms, look }: OrderView, seed: string, length: number): Leg {
  const rent = rentOf(look.reading.rentPerByte, length);
  const lamports = rent > 0n ? rent : 1n;
  const { address: base, sponsor: payer } = terms;
  return { role: "marker", place: null, move: { does: "buy", base, seed, length, payer, lamports } };
}
