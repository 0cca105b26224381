/** The fee that a go has taken, as its marker's own transactions say, else its length (K5). */
import type { OrderEvent } from "../../../machines/order-context.ts";
import type { ChunkRecord } from "./tables.ts";
import { isAwaited, timeOf } from "./judged-rows.ts";
import type { OrderLook } from "./look.ts";
import { paidPlaces } from "./chunk-rows.ts";

/** Base units; null while it is not known whom the marker paid, or there is none. */
export function feeTaken({ terms, reading }: OrderLook, chunks: readonly ChunkRecord[]): string | null {
  const first = chunks.find(({ k }) => k === 0);
  if (first === undefined || first.length === null || isAwaited(first, timeOf(reading))) return null;
  return String(paidPlaces({ terms }, first).includes(0) ? terms.fee : 0n);
}

/** The correction of the fee that callers were told; null if it is right, or not known. */
export function correctedFee(look: OrderLook, chunks: readonly ChunkRecord[]): OrderEvent | null {
  const charged = feeTaken(look, chunks);
  const told = look.transaction.fee === null ? null : String(look.transaction.fee);
  return charged === null || charged === told ? null : { type: "NOTED", charged };
}
