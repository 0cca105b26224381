/** Tells whom the markers of a reading have paid: by our own attempt, by their makers' transactions, or by their length. */
import type { Address } from "../../core/address.ts";
import type { Evidence } from "../../ledger/belief.ts";
import type { Landing } from "../../ledger/ledger.ts";
import type { OrderChange } from "../../ledger/order-reading.ts";
import type { PrivateContext, PrivateWrite } from "./private-storage.ts";
import type { AttemptRecord } from "../frame/tables/attempts.ts";
import type { ChunkRecord } from "./tables.ts";
import { attemptOf, lostAttempt } from "../frame/signed/stored-attempt.ts";
import { chunkWrite, paidPlaces } from "./chunk-rows.ts";
import { isAwaited, timeOf } from "./judged-rows.ts";
import { listHistory } from "./list-history.ts";
import type { OrderLook } from "./look.ts";
import { mattersOf, noteMatters } from "./marker-matters.ts";
import { transferId } from "./plan-transfer.ts";
import { placesOf, seedOfChunk } from "./protocol/cut.ts";
import { NOBODY } from "./protocol/outcome.ts";
import { receivedBy, storyOf } from "./protocol/story.ts";

type TellingParts = Pick<PrivateContext, "storage" | "ledger" | "assets" | "clock">;

/** The chunks as they are with this reading, and what of that the rows do not have. */
export interface ToldChunks {
  readonly chunks: readonly ChunkRecord[];
  readonly writes: readonly PrivateWrite[];
}

/** A marker that a row has, and that readings have not any more, stays as it is here. Throws `LedgerUnavailable`. */
export async function tellChunks(deps: TellingParts, look: OrderLook): Promise<ToldChunks> {
  const { view, reading } = look;
  const fresh = view.chunks.filter((chunk) => {
    const marker = reading.markers[chunk.k];
    if (chunk.length === null) return typeof marker === "number";
    return marker === chunk.length && isAwaited(chunk, timeOf(reading));
  });
  const found = await foundOut(deps, look, fresh);
  const byId = new Map(found.map((chunk) => [chunk.id, chunk]));
  const chunks = view.chunks.map((chunk) => byId.get(chunk.id) ?? chunk);
  return {
    chunks,
    writes: [
      ...found.map(chunkWrite),
      ...chunks.flatMap((chunk) => recipientWrites(look, chunk)),
      ...(await swapWrites(deps, look, found)),
      ...(await noteMatters(
        deps,
        look,
        found.flatMap((chunk) => mattersOf(look, chunk)),
      )),
    ],
  };
}

/**
 * Reads again whom those markers have paid that their length alone has told so far: a node may have their history by now. A
 * recipient whom it contradicts is not paid, and a person is told. Throws `LedgerUnavailable`.
 */
export async function tellAgain(deps: TellingParts, look: OrderLook): Promise<readonly PrivateWrite[]> {
  const { view, reading } = look;
  const byLength = view.chunks.filter((chunk) => {
    const isUntold = chunk.length !== null && !chunk.isOwn && chunk.paid === null;
    return isUntold && reading.markers[chunk.k] === chunk.length && !isAwaited(chunk, timeOf(reading));
  });
  const found = await foundOut(deps, look, byLength);
  const contradicted = found.filter(
    (chunk) => paidPlaces(look, chunk).length < paidPlaces(look, { ...chunk, paid: null }).length,
  );
  const detail = ({ k }: ChunkRecord): string => `marker ${k} has paid fewer than its length says`;
  return [
    ...found.map(chunkWrite),
    ...found.flatMap((chunk) => recipientWrites(look, chunk)),
    ...(await noteMatters(
      deps,
      look,
      contradicted.map((chunk) => ({ kind: "unexplained", detail: detail(chunk) })),
    )),
  ];
}

/** The chunks of which this reading tells more than their rows do. */
async function foundOut(
  deps: TellingParts,
  look: OrderLook,
  asked: readonly ChunkRecord[],
): Promise<readonly ChunkRecord[]> {
  if (asked.length === 0) return [];
  const landings = await landingsOf(deps, look, asked);
  const others = asked.filter((chunk) => !landings.has(chunk.k));
  const history = others.length === 0 ? null : await listHistory(deps, look, 0);
  const naming = ({ k }: ChunkRecord): readonly OrderChange[] => {
    const marker: Address = deps.ledger.markerOf(look.terms.address, seedOfChunk(k));
    return (history?.changes ?? []).filter(({ markers }) => markers.some((each) => each === marker));
  };
  const made = await adopted(
    deps,
    look,
    others.map((chunk) => ({ chunk, naming: naming(chunk) })),
  );
  return asked.flatMap((chunk): readonly ChunkRecord[] => {
    const landing = landings.get(chunk.k);
    if (landing !== undefined) return [{ ...chunk, ...standing(look, chunk), ...ofLanding(landing) }];
    return made.filter(({ k, paid }) => k === chunk.k && (chunk.length === null || paid !== null));
  });
}

/** The successful landings of this copy's attempts, by chunk. */
async function landingsOf(
  { storage, ledger }: TellingParts,
  { view: { order } }: OrderLook,
  chunks: readonly ChunkRecord[],
): Promise<ReadonlyMap<number, Evidence<Landing>>> {
  const makers = chunks.map(({ k }) => ({
    k,
    transfer: transferId({ order: order.id, kind: "chunk", n: k }),
  }));
  const attempts = await storage.attemptsOfAny(makers.map(({ transfer }) => transfer));
  if (attempts.length === 0) return new Map();
  const landings = await ledger.landings(attempts.map(attemptOf));
  const landed = new Map<string, Evidence<Landing>>();
  attempts.forEach(({ transfer }: AttemptRecord, index) => {
    const landing = landings[index] ?? null;
    if (transfer !== null && landing !== null && landing.error === null) landed.set(transfer, landing);
  });
  return new Map(
    makers.flatMap(({ k, transfer }) => {
      const landing = landed.get(transfer);
      return landing === undefined ? [] : [[k, landing] as const];
    }),
  );
}

function standing(
  { reading }: OrderLook,
  { k }: ChunkRecord,
): Pick<ChunkRecord, "length" | "slot" | "goneAt"> {
  const marker = reading.markers[k];
  return {
    length: typeof marker === "number" ? marker : null,
    slot: reading.told[0]?.slot ?? 0,
    goneAt: null,
  };
}

function ofLanding({ signature, blockTime }: Evidence<Landing>): Partial<ChunkRecord> {
  return { signature, blockTime, isOwn: true, paid: null };
}

/** A chunk whose marker another hand has made, and the transactions that name the marker. */
interface AdoptedChunk {
  readonly chunk: ChunkRecord;
  readonly naming: readonly OrderChange[];
}

/** Told by those of `naming` that the order's key has signed: members without a payment in them are unpaid. */
async function adopted(
  { ledger }: Pick<TellingParts, "ledger">,
  look: OrderLook,
  chunks: readonly AdoptedChunk[],
): Promise<readonly ChunkRecord[]> {
  const signatures = chunks.map(({ naming }) => naming.find(({ isOwn }) => isOwn)?.signature ?? null);
  const named = signatures.filter((signature) => signature !== null);
  const landings = named.length === 0 ? [] : await ledger.landings(named.map(lostAttempt));
  return chunks.map(({ chunk, naming }, index) => {
    const stands = { ...chunk, ...standing(look, chunk) };
    const signature = signatures[index] ?? null;
    // Until it is told, the time is that of the first look that saw it (K4).
    if (signature === null) return { ...stands, blockTime: chunk.blockTime ?? timeOf(look.reading) / 1_000 };
    const blockTime = landings[named.indexOf(signature)]?.blockTime ?? null;
    const { unpaid, isLent } = storyOf(look.terms, chunk.k, naming);
    const paid = paidPlaces(look, { ...stands, paid: null }).filter((place) => !unpaid.includes(place));
    return { ...stands, signature, blockTime, paid, isLent };
  });
}

/** The marker's payees, and corrected non-payees: nobody before that is known. */
function recipientWrites(look: OrderLook, chunk: ChunkRecord): readonly PrivateWrite[] {
  if (chunk.length === null || isAwaited(chunk, timeOf(look.reading))) return [];
  const paid = new Set(paidPlaces(look, chunk));
  return placesOf(look.terms, chunk.k).flatMap(({ member }, place): readonly PrivateWrite[] => {
    const recipient = look.recipients.find(({ index }) => index === member?.index);
    const isPaidNow = paid.has(place);
    if (recipient === undefined || (recipient.status === "paid") === isPaidNow) return [];
    // A marker's verdict is revoked by its own transactions, or by the next marker of the chunk for nobody.
    if (!isPaidNow && chunk.paid === null && chunk.length !== NOBODY) return [];
    const set = isPaidNow
      ? { status: "paid" as const, signature: chunk.signature }
      : { status: "unpaid" as const, signature: null };
    return [{ table: "recipients", id: recipient.id, set }];
  });
}

/** The amount of a swap's payee is no estimate any more: our attempt that landed says it, or another copy's transaction. */
async function swapWrites(
  deps: TellingParts,
  look: OrderLook,
  [told]: readonly ChunkRecord[],
): Promise<readonly PrivateWrite[]> {
  const { terms, recipients } = look;
  if (terms.type !== "swap" || told === undefined || told.signature === null) return [];
  const { signature, isOwn } = told;
  const attempts = isOwn ? await deps.storage.attempts([signature]) : [];
  const legs = attempts.flatMap((attempt) => attempt.legs ?? []);
  const changes = isOwn ? [] : (await listHistory(deps, look, 0)).changes;
  const maker = changes.find((change) => change.signature === signature);
  return recipients.flatMap(({ id, address }): readonly PrivateWrite[] => {
    const given = legs.find(({ mint, to }) => mint === terms.payMint && to === address)?.amount ?? 0n;
    const amount = maker === undefined ? given : receivedBy(maker, address, terms.payMint);
    return amount === 0n ? [] : [{ table: "recipients", id, set: { amount } }];
  });
}
