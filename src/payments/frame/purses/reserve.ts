/** Setting aside what an offer takes up: until its quote lapses, or until its swap has landed or is proved dead. */
import type { ReservationRecord } from "../tables/limits.ts";
import type { FrameStorage, FrameWrite } from "../frame-storage.ts";
import type { ReservedAmountLookup, WantedReservation } from "../exchange/swap-provider.ts";

/** Present reservations of resources, and lapsed reservations that can be released. */
export interface ReservationState {
  readonly promised: ReservedAmountLookup;
  /**
   * Releases what had lapsed of the resources that were asked for. It belongs into the commit that reserves: no one has to
   * sweep, and what is kept at that very moment makes the commit fail instead.
   */
  readonly releaseLapsed: () => readonly FrameWrite[];
}

const PAGE = 500;

/** The source of promises. */
export type PromiseReads = Pick<FrameStorage, "reserved" | "lapsing" | "reservation">;

/** `except` are reservations that are given back in the same commit, and so do not count. */
export function promisesAt(
  storage: PromiseReads,
  now: number,
  except: readonly string[] = [],
): ReservationState {
  const lapsed = new Map<string, ReservationRecord>();
  return {
    async promised(resource) {
      // The sum first: what is released between the readings then counts once too often, and never too seldom.
      const sum = await storage.reserved(resource);
      const given = await Promise.all(except.map((id) => storage.reservation(id)));
      const over = await lapsedOf(storage, resource, now);
      const back = given.filter((row) => row?.resource === resource && row.releasedAt === null);
      const uncounted = new Map([...over, ...back.filter((row) => row !== null)].map((row) => [row.id, row]));
      for (const row of over) if (!except.includes(row.id)) lapsed.set(row.id, row);
      return [...uncounted.values()].reduce((left, { amount }) => left - amount, sum);
    },
    releaseLapsed: () => released([...lapsed.values()], now),
  };
}

/** The reservations of a resource that have lapsed and are not released. */
async function lapsedOf(
  storage: Pick<FrameStorage, "lapsing">,
  resource: string,
  now: number,
): Promise<readonly ReservationRecord[]> {
  const all: ReservationRecord[] = [];
  for (;;) {
    const page = await storage.lapsing(resource, PAGE, all.at(-1));
    const over = page.filter(({ lapsesAt }) => lapsesAt !== null && lapsesAt <= now);
    all.push(...over);
    if (over.length < PAGE) return all;
  }
}

/** Releases reservations, unless one of them was changed meanwhile. */
const released = (rows: readonly ReservationRecord[], now: number): readonly FrameWrite[] =>
  rows.map(({ id, version }) => ({
    table: "reservations",
    id,
    set: { releasedAt: now },
    expectedVersion: version,
  }));

/** The name of a reservation. */
export type ReservationName = Pick<ReservationRecord, "id" | "resource">;

/** Reservations: rows to insert, and their names. */
export interface ReservationResult {
  readonly names: readonly ReservationName[];
  readonly writes: readonly FrameWrite[];
}

/** Reservations for `owner`, which is a version of a quote, or a payment. */
export function reserve(
  owner: string,
  wanted: readonly WantedReservation[],
  { createdAt, lapsesAt }: Pick<ReservationRecord, "createdAt" | "lapsesAt">,
): ReservationResult {
  const rows = wanted.map(({ resource, amount, most, countsForMs = 0 }, index) => {
    const id = idOf(`${owner}:${index}`, countsForMs);
    return { most, row: { id, version: 1, resource, amount, createdAt, lapsesAt, releasedAt: null } };
  });
  return {
    names: rows.map(({ row: { id, resource } }) => ({ id, resource })),
    writes: rows.map(({ row, most }) => ({
      table: "reservations",
      insert: row,
      ...(most === null ? {} : { atMost: { total: most } }),
    })),
  };
}

/**
 * Keeps what a quote has set aside, for as long as its swap takes; null when nothing was, or it has lapsed and somebody
 * needed the room. Should that happen at this very moment, the commit is refused.
 */
export async function keepReserved(
  storage: Pick<FrameStorage, "reservation">,
  names: readonly ReservationName[],
): Promise<readonly FrameWrite[] | null> {
  const writes: FrameWrite[] = [];
  for (const { id } of names) {
    const row = await storage.reservation(id);
    if (row === null || row.releasedAt !== null) return null;
    writes.push({ table: "reservations", id, set: { lapsesAt: null }, expectedVersion: row.version });
  }
  return writes.length === 0 ? null : writes;
}

/** Gives back what was set aside for a swap that was not made. */
export function releaseReserved(ids: readonly string[], at: number): readonly FrameWrite[] {
  return ids.map((id) => ({ table: "reservations", id, set: { releasedAt: at } }));
}

/** For a swap that was made: what counts against a limit of a day goes on to count, the rest is given back. */
export function settleReserved(ids: readonly string[], at: number): readonly FrameWrite[] {
  return ids.flatMap((id) => {
    const countsForMs = countsForOf(id);
    if (countsForMs === 0) return releaseReserved([id], at);
    return [{ table: "reservations", id, set: { lapsesAt: at + countsForMs } }];
  });
}

// A machine remembers the ids of what is set aside for it and nothing else, so the id itself says how long it counts.
const COUNTS_FOR = /:counts (\d+)$/;

function idOf(name: string, countsForMs: number): string {
  return countsForMs === 0 ? name : `${name}:counts ${countsForMs}`;
}

function countsForOf(id: string): number {
  return Number(COUNTS_FOR.exec(id)?.[1] ?? 0);
}
