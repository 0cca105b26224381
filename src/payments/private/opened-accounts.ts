/**
 * Reads how many lamports of an address chunks spent on token accounts of their recipients (K15). A recipient may close an
 * account that the quote has not priced, between signing and landing: the chunk makes it again with lamports of the address.
 */
import type { PrivateContext } from "./private-storage.ts";
import { SOL_MINT, type Address } from "../../core/address.ts";
import type { OrderChange } from "../../ledger/order-reading.ts";
import type { ChunkRecord } from "./tables.ts";
import { lostAttempt } from "../frame/signed/stored-attempt.ts";
import type { OrderLook } from "./look.ts";
import { placesOf, seedOfChunk, type Place } from "./protocol/cut.ts";
import { loanBy } from "./protocol/levels.ts";
import { openedIn } from "./protocol/story.ts";
import { paidPlaces } from "./chunk-rows.ts";

type OpeningParts = Pick<PrivateContext, "ledger">;

/** The chunks of the order that have opened accounts, by their own finalized receipts. Throws `LedgerUnavailable`. */
export async function openedAccounts(deps: OpeningParts, look: OrderLook): Promise<readonly ChunkRecord[]> {
  const opening: ChunkRecord[] = [];
  for (const chunk of look.view.chunks) {
    const unpriced = paidBy(look, chunk).filter(({ member }) => member?.isPriced === false);
    const maker = chunk.opened > 0n || unpriced.length === 0 ? null : await makerOf(deps, look, chunk);
    if (maker === null) continue;
    const accounts = unpriced.map(({ to }) => deps.ledger.tokenAccountOf(to, look.terms.payMint));
    const opened = openedIn(maker, expectedOf(look, chunk), accounts);
    if (opened > 0n) opening.push({ ...chunk, opened });
  }
  return opening;
}

/** The members whom a chunk has paid. */
function paidBy({ terms }: OrderLook, chunk: ChunkRecord): readonly Place[] {
  const paid = new Set(paidPlaces({ terms }, chunk));
  return placesOf(terms, chunk.k).filter((_, place) => paid.has(place));
}

/** The receipt of the transaction that made a chunk's marker; null while no node lists it. */
async function makerOf(
  { ledger }: OpeningParts,
  { terms, judged }: OrderLook,
  { k, signature }: ChunkRecord,
): Promise<OrderChange | null> {
  if (signature === null) return null;
  const [landing = null] = await ledger.landings([lostAttempt(signature)]);
  if (landing === null) return null;
  const query = { ...judged.look.query, rentPerByte: terms.rentPerByte };
  const marker: Address = ledger.markerOf(terms.address, seedOfChunk(k));
  // Its slot is the first that is read, and is read whole, however many transactions follow.
  const { changes } = await ledger.changesOfOrder(query, landing.slot);
  return changes.find(({ isOwn, markers }) => isOwn && markers.some((each) => each === marker)) ?? null;
}

/** The change of the address's lamports in the transaction of a chunk, by its loan and its members. */
function expectedOf(look: OrderLook, chunk: ChunkRecord): bigint {
  const { terms, judged } = look;
  const lent = chunk.k === 0 ? loanBy(terms, judged.rows.chunks, chunk.length) : 0n;
  if (terms.mint !== SOL_MINT) return lent;
  return paidBy(look, chunk).reduce((left, { amount }) => left - amount, lent);
}
