/** Limits the rows of small deposits: whoever sends a base unit a thousand times makes no thousand rows. */
import { smallestAmount, type Assets } from "../frame/assets/assets.ts";
import type { PrivateWrite } from "./private-storage.ts";
import type { DepositRecord } from "./tables.ts";

/**
 * Deposits below 0.001 of their asset that have a row each; Deposits below 0.001 of their asset that have a row each; later
 * ones add up to one sum for each asset.
 */
const MOST_SMALL = 20;

/** Rows of deposits, and what of them is to be written. */
interface DepositRows {
  readonly deposits: readonly DepositRecord[];
  readonly writes: readonly PrivateWrite[];
}

/** Adds what is listed anew to the rows of an order, the oldest slot first. A slot that is in a sum is not added again. */
export function withListed(
  { tokens }: Pick<Assets, "tokens">,
  known: readonly DepositRecord[],
  listed: readonly DepositRecord[],
): DepositRows {
  const isSmall = ({ mint, amount, account }: DepositRecord): boolean => {
    const asset = tokens.find((each) => each.mint === mint);
    return account === null && asset !== undefined && amount < smallestAmount(asset);
  };
  const rows = new Map(known.map((row) => [row.id, row]));
  const changed = new Set<string>();
  let small = known.filter((row) => row.signature !== null && isSmall(row)).length;
  // Two parts of a list may both have the slot between them.
  for (const row of new Map(listed.map((each) => [each.id, each])).values()) {
    if (rows.has(row.id)) continue;
    const sumId = `${row.order}:small:${row.mint}`;
    const isSummed = isSmall(row) && small >= MOST_SMALL;
    if (isSummed && (row.slot ?? 0) <= (known.find(({ id }) => id === sumId)?.slot ?? 0)) continue;
    if (isSmall(row) && !isSummed) small += 1;
    const next = isSummed ? sumOf(rows.get(sumId), { ...row, id: sumId, signature: null }) : row;
    rows.set(next.id, next);
    changed.add(next.id);
  }
  const stored = new Set(known.map(({ id }) => id));
  return {
    deposits: [...rows.values()],
    writes: [...rows.values()]
      .filter(({ id }) => changed.has(id))
      .map((row): PrivateWrite => {
        const { id, amount, payer, slot, at } = row;
        return stored.has(id)
          ? { table: "deposits", id, set: { amount, payer, slot, at } }
          : { table: "deposits", insert: row };
      }),
  };
}

function sumOf(sum: DepositRecord | undefined, row: DepositRecord): DepositRecord {
  if (sum === undefined) return row;
  const payer = sum.payer === row.payer ? sum.payer : null;
  return { ...row, amount: sum.amount + row.amount, payer };
}
