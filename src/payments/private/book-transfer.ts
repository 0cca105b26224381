/** Books what a transfer has taken out of an order's address, by its own final transaction (K15). */
import { SOL_MINT, type Address } from "../../core/address.ts";
import type { OrderChange } from "../../ledger/order-reading.ts";
import type { PaymentWrite } from "../frame/payment-storage.ts";
import type { AttemptLeg, AttemptRecord } from "../frame/tables/attempts.ts";
import type { OrderLook } from "./look.ts";
import { refundEvent } from "./order-events.ts";
import { uncovered } from "./protocol/cost.ts";
import { orderChanged } from "./transfer-outcomes.ts";

/** Of the sponsor's money that came back nothing is booked: it was never the order's. */
const TAKEN: ReadonlySet<AttemptLeg["as"]> = new Set(["payee", "fee", "sender", "cost"]);

/** Belongs into the commit that ends the transfer; `slot` is the landing's. */
export function bookAttempt(
  look: OrderLook,
  { id, transfer, legs }: Pick<AttemptRecord, "id" | "transfer" | "legs">,
  slot: number,
): readonly PaymentWrite[] {
  const sums = new Map<string, bigint>();
  for (const { mint, amount, as } of legs ?? []) {
    if (TAKEN.has(as)) sums.set(mint, (sums.get(mint) ?? 0n) + amount);
  }
  const isLoanBack = legs?.some(({ as }) => as === "loan") === true;
  return [
    orderChanged(look, isLoanBack ? { loanBack: id } : {}),
    ...levelWrites(look, sums, slot),
    ...refundEvent(look.terms.id, { transfer, legs }),
  ];
}

/** The same of a transaction of another copy, by its receipt. */
export function bookChange(look: OrderLook, change: OrderChange): readonly PaymentWrite[] {
  const mints = [SOL_MINT, ...look.judged.look.query.mints];
  const taken = new Map<string, bigint>(mints.map((mint) => [mint, takenBy(look, change, mint)]));
  return [orderChanged(look), ...levelWrites(look, taken, change.slot)];
}

/** Base units of an asset that a transaction took out of the order's address; 0 where it brought some. */
export function takenBy({ judged }: OrderLook, { changes }: OrderChange, mint: Address): bigint {
  const place = [SOL_MINT, ...judged.look.query.mints].indexOf(mint);
  return uncovered(0n, changes[place] ?? 0n);
}

function levelWrites(
  { view: { levels } }: OrderLook,
  sums: ReadonlyMap<string, bigint>,
  slot: number,
): readonly PaymentWrite[] {
  return levels.map(({ id, mint, out, slot: before }) => ({
    table: "levels",
    id,
    // No reading from before it counts, of any asset: the answers of one block show all of them.
    set: { out: out + (sums.get(mint) ?? 0n), slot: Math.max(before, slot) },
  }));
}
