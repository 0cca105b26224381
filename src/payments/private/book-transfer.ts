/** Books what a transfer has taken out of an order's address, by its own final transaction (K15). */
import { SOL_MINT, type Address } from "../../core/address.ts";
import type { OrderChange } from "../../ledger/order-reading.ts";
import type { PrivateWrite } from "./private-storage.ts";
import type { AttemptLeg, AttemptRecord } from "../frame/tables/attempts.ts";
import type { OrderRecord } from "./tables.ts";
import type { OrderLook } from "./look.ts";
import { uncovered } from "./protocol/cost.ts";
import { orderChanged } from "./transfer-outcomes.ts";

/** A return of the sponsor's money is not booked: it was never the order's. */
const TAKEN: ReadonlySet<AttemptLeg["as"]> = new Set(["payee", "fee", "sender", "cost"]);

/** Own bytes of a transfer that have landed without an error. */
export interface OwnLanding extends Pick<AttemptRecord, "id" | "transfer" | "legs"> {
  readonly slot: number;
}

/** The rows that book landings, and the changes of the order's row: for the commit that has them noted as landed. */
export function bookLandings(
  look: OrderLook,
  landings: readonly OwnLanding[],
): { readonly writes: readonly PrivateWrite[]; readonly set: Partial<Pick<OrderRecord, "loanBack">> } {
  const sums = new Map<string, bigint>();
  for (const { mint, amount, as } of landings.flatMap(({ legs }) => legs ?? [])) {
    if (TAKEN.has(as)) sums.set(mint, (sums.get(mint) ?? 0n) + amount);
  }
  const slot = Math.max(...landings.map((each) => each.slot));
  const lender = landings.find(({ legs }) => legs?.some(({ as }) => as === "loan") === true);
  return {
    writes: levelWrites(look, sums, slot),
    set: lender === undefined ? {} : { loanBack: lender.id },
  };
}

/** The same of a transaction of another copy, by its receipt. */
export function bookChange(look: OrderLook, change: OrderChange): readonly PrivateWrite[] {
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
): readonly PrivateWrite[] {
  return levels.map(({ id, mint, out, slot: before }) => ({
    table: "levels",
    id,
    // No reading from before it counts, of any asset: the answers of one block show every asset.
    set: { out: out + (sums.get(mint) ?? 0n), slot: Math.max(before, slot) },
  }));
}
