/** The rows of an order as the protocol's pure functions take them. */
import type { OrderReading } from "../../ledger/order-reading.ts";
import type { Address } from "../../core/address.ts";
import type { ChunkRecord, OrderView } from "./tables.ts";
import { placesOf, shapeOf } from "./protocol/cut.ts";
import { saidAtLeast } from "./protocol/look.ts";
import { isPaid, outcomeOf } from "./protocol/outcome.ts";
import type { ChunkRow, ListedSum, MarkerStory, OrderRows } from "./protocol/rows.ts";
import type { OrderTerms } from "./protocol/terms.ts";

/** Without a history of its maker for so long, a marker is told by its length (K4). */
const UNTOLD_MS = 3_600_000;

/**
 * `uncharged` are lamports. It says nothing about attempts and about this process: whoever ends an order by them has to know.
 */
export function rowsOf(
  { view, terms }: { readonly view: OrderView; readonly terms: OrderTerms },
  reading: OrderReading,
  uncharged: bigint,
): OrderRows {
  const now = timeOf(reading);
  return {
    chunks: view.chunks.map((chunk) => chunkRow(terms, chunk, now)),
    levels: view.levels.map((level) => ({ ...level, mint: level.mint as Address })),
    transfers: view.transfers,
    holds: view.holds.filter(({ endedAt }) => endedAt === null),
    acts: view.acts,
    listed: listedSums(view),
    isLoanBack: view.order.loanBack !== null,
    uncharged,
    isGoDead: false,
  };
}

function chunkRow(terms: OrderTerms, chunk: ChunkRecord, now: number): ChunkRow {
  const { k, wanted, length, slot, goneAt, opened } = chunk;
  return {
    k,
    wanted,
    length,
    slot: goneAt ?? slot ?? 0,
    isMissed: goneAt !== null,
    story: storyIn(terms, chunk, now),
    opened,
  };
}

/** By our own attempt, or after an hour without a history, the length tells; else the maker's transactions. */
function storyIn(terms: OrderTerms, chunk: ChunkRecord, now: number): MarkerStory {
  const { k, length, isOwn, paid, isLent } = chunk;
  if (isAwaited(chunk, now)) return "awaited";
  if (length === null || isOwn || paid === null) return "length";
  const outcome = outcomeOf(shapeOf(terms, k), length);
  const unpaid = placesOf(terms, k).flatMap((_, place) =>
    outcome !== null && isPaid(outcome, place) && !paid.includes(place) ? [place] : [],
  );
  return { unpaid, isLent };
}

/** Whether it is not known yet whom a marker of another hand paid, at this time of the chain in milliseconds (K4). */
export function isAwaited({ length, isOwn, paid, blockTime }: ChunkRecord, now: number): boolean {
  return length !== null && !isOwn && paid === null && now - (blockTime ?? 0) * 1_000 < UNTOLD_MS;
}

/** The time of the chain in milliseconds, which as many endpoints as must agree have reached. */
export function timeOf({ told, witnesses }: Pick<OrderReading, "witnesses"> & Timed): number {
  const times = told.map(({ blockTime }) => BigInt(blockTime));
  return Number(saidAtLeast(times, witnesses)) * 1_000;
}

interface Timed {
  readonly told: readonly { readonly blockTime: number }[];
}

/** Null until a node has listed anything of the address. */
function listedSums({ order, deposits }: OrderView): readonly ListedSum[] | null {
  if (order.listedTo === 0) return null;
  const sums = new Map<string, ListedSum>();
  for (const { mint, amount, slot, account } of deposits) {
    if (account !== null) continue;
    const before = sums.get(mint);
    sums.set(mint, {
      mint: mint as Address,
      sum: (before?.sum ?? 0n) + amount,
      slot: Math.max(before?.slot ?? 0, slot ?? 0),
    });
  }
  return [...sums.values()];
}
