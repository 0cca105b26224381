/** Rows of chunks: reads the members that a chunk has paid from its row, and writes the row. */
import type { PrivateWrite } from "./private-storage.ts";
import type { ChunkRecord } from "./tables.ts";
import type { OrderLook } from "./look.ts";
import { placesOf, shapeOf } from "./protocol/cut.ts";
import { isPaid, outcomeOf } from "./protocol/outcome.ts";

/** The places of a chunk that its marker has paid: as its transactions tell, else as its length does. */
export function paidPlaces(
  { terms }: Pick<OrderLook, "terms">,
  { k, length, paid }: ChunkRecord,
): readonly number[] {
  const outcome = length === null ? null : outcomeOf(shapeOf(terms, k), length);
  if (outcome === null) return [];
  return paid ?? placesOf(terms, k).flatMap((_, place) => (isPaid(outcome, place) ? [place] : []));
}

/** The details of a chunk by readings and receipts. */
export function chunkWrite(chunk: ChunkRecord): PrivateWrite {
  const { id, length, slot, signature, blockTime, paid, isOwn, isLent, opened, goneAt } = chunk;
  const told = { length, slot, signature, blockTime, paid, isOwn, isLent, opened, goneAt };
  return { table: "chunks", id, set: told };
}
