/**
 * Levels (K15): what has come of an asset is the most that was ever there or taken out by markers and booked rests; a lower
 * sum, seen twice, is missing. Balances of different endpoints need not be alike: a deposit is what as many as must agree say
 * at least, a shortage what as many say at most.
 */
import { SOL_MINT, type Address } from "../../../core/address.ts";
import type { OrderTold } from "../../../ledger/order-reading.ts";
import { accountRent, larger, loanOf, uncovered } from "./cost.ts";
import { shapeOf, takenOut } from "./cut.ts";
import { comparable, saidAtLeast } from "./look.ts";
import { NOBODY, outcomeOf } from "./outcome.ts";
import type { ChunkRow, LevelRow, ListedSum, OrderView } from "./rows.ts";
import type { OrderTerms, Outcome } from "./terms.ts";

/** The evidence for a level. */
export interface LevelEvidence {
  /** Base units for which each endpoint accounts: its balance, and the amounts of its markers. Below 0 if a loan is gone. */
  readonly answers: readonly { readonly slot: number; readonly amount: bigint }[];
  readonly witnesses: number;
  /** Null if nothing is listed. */
  readonly listed: ListedSum | null;
}

/**
 * The row to store, and what is new. `deposit`: more has come; list the signatures of the address before it is told.
 * `unlisted`: more is there than came, beside what was written off; nodes may list such a deposit later than they show it.
 * `short`: less is there than came, for the first time. `missing`: so again at a later slot. `closes`: all is found.
 */
export interface Judgement {
  readonly row: LevelRow;
  readonly news: "deposit" | "unlisted" | "short" | "missing" | "closes";
}

/** So long after a node has shown a deposit it lists it: a minute. */
const SLOTS_TO_LIST = 150;

/** Judges a level; null if nothing is new, or too few answers are recent enough: of a shortage later than the first. */
export function judgeLevel(row: LevelRow, { answers, witnesses, listed }: LevelEvidence): Judgement | null {
  const counted = comparable(answers, row.short ? row.slot + 1 : row.slot, witnesses);
  if (counted === null) return null;
  const slot = Math.max(...counted.map((answer) => answer.slot));
  const amounts = counted.map(({ amount }) => amount + row.out + row.writtenOff);
  const most = saidAtLeast(amounts, witnesses);
  const least = saidAtMost(amounts, witnesses);
  const came = larger(row.received, listed?.sum ?? 0n);
  if (row.writtenOff > 0n && most > came) {
    if (!row.short) return { row: { ...row, short: true, slot }, news: "unlisted" };
    if (slot < row.slot + SLOTS_TO_LIST) return { row, news: "unlisted" };
    const writtenOff = uncovered(row.writtenOff, most - came);
    return { row: { ...row, writtenOff, short: false, missing: 0n, slot }, news: "closes" };
  }
  const received = larger(most, came);
  if (received > row.received) {
    // The list may be younger than the answers, which then lack its entries.
    const since = most < received && listed !== null ? Math.max(slot, listed.slot) : slot;
    const missing = most < received ? row.missing : 0n;
    return { row: { ...row, received, short: false, missing, slot: since }, news: "deposit" };
  }
  const missing = uncovered(received, least);
  if (missing === 0n) {
    const isOpen = row.short || row.missing > 0n;
    return isOpen ? { row: { ...row, short: false, missing, slot }, news: "closes" } : null;
  }
  if (!row.short) return { row: { ...row, short: true, slot }, news: "short" };
  return row.missing === missing ? null : { row: { ...row, missing, slot }, news: "missing" };
}

/** The sum of an asset that each endpoint accounts for. Marker and balance of one answer are of one slot. */
export function answersOf({ terms, rows, look }: OrderView, mint: Address): LevelEvidence["answers"] {
  return look.reading.told.map((told) => {
    const paid = rows.chunks.reduce((sum, row) => {
      const length = look.lengthTold(told, row.k);
      const opened = mint === SOL_MINT && length !== null ? row.opened : 0n;
      return sum + opened + (mint === terms.mint ? takenBy(terms, row, length) : 0n);
    }, 0n);
    const lent = rows.isLoanBack ? 0n : loanBy(terms, rows.chunks, look.lengthTold(told, 0));
    const held = mint === SOL_MINT ? heldLamports(terms, told) - lent : look.amount(told, mint);
    return { slot: told.slot, amount: held + paid };
  });
}

/** Lamports that a marker of chunk 0 lent: a go, by its length or as its own transactions say. */
export function loanBy(terms: OrderTerms, [first]: readonly ChunkRow[], length: number | null): bigint {
  const isGo = length !== null && length !== NOBODY;
  const isTold = first === undefined || typeof first.story === "string" || first.story.isLent;
  return isGo && isTold ? loanOf(terms) : 0n;
}

/** The payees of a marker: the payees of its length, except members whom its own transactions did not pay. Null: unknown. */
export function paidBy(terms: OrderTerms, row: ChunkRow, length: number): Outcome | null {
  const outcome = outcomeOf(shapeOf(terms, row.k), length);
  if (outcome?.kind !== "paid" || typeof row.story === "string" || row.length !== length) return outcome;
  return { kind: "paid", leftOut: [...outcome.leftOut, ...row.story.unpaid] };
}

function takenBy(terms: OrderTerms, row: ChunkRow, length: number | null): bigint {
  const outcome = length === null ? null : paidBy(terms, row, length);
  return outcome === null ? 0n : takenOut(terms, row.k, outcome);
}

/** Lamports of the address, and what lies on its token accounts above their rent. */
function heldLamports(terms: OrderTerms, { order }: OrderTold): bigint {
  const own = order.accounts.filter((account) => account !== null && account.state !== "foreign");
  return own.reduce(
    (sum, account) => sum + uncovered(account?.lamports ?? 0n, accountRent(terms.rentPerByte)),
    order.lamports,
  );
}

function saidAtMost(amounts: readonly bigint[], witnesses: number): bigint {
  const negated = amounts.map((amount) => -amount);
  return -saidAtLeast(negated, witnesses);
}
