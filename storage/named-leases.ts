/** Named leases: names that one holder has for a time. Pure; adapters use these rules. */
import type { EngineTables, StoredLease } from "./engine-tables.ts";
import type { Lease, LeaseRequest } from "./storage.ts";

/**
 * Decides a `lease` request from the rows of the requested names: the holders from now on, and the rows to write and to
 * remove. Read and write these rows in one transaction, or write each only where it is still as it was read.
 */
export function planLeases(
  request: LeaseRequest,
  rows: readonly EngineTables["paystateLeases"][],
): {
  readonly held: readonly Lease[];
  readonly put: readonly EngineTables["paystateLeases"][];
  readonly remove: readonly string[];
  /** More than 0 when the clock was set back: first call `moveDelayed`, page after page. */
  readonly setBackMs: number;
} {
  const { holder, leaseMs, highest } = request;
  const now = request.now();
  const names = [...new Set(request.names)];
  const living = livingLeases(names, rows, now);
  const setBackMs =
    highest === undefined ? 0 : Math.max(0, highest - now, ...rows.map(({ until, ms }) => until - ms - now));
  const others = living.filter((lease) => lease.holder !== holder);
  const free = names.filter((name) => !others.some((lease) => lease.name === name));
  if (leaseMs === 0) {
    const own = rows.filter((row) => row.holder === holder && free.includes(row.name));
    return { held: others, put: [], remove: own.map(({ name }) => name), setBackMs };
  }
  const fresh = living.filter(({ until }) => isRecent(until - now, leaseMs));
  const stale = free.filter((name) => !fresh.some((lease) => lease.name === name));
  const put = stale.map((name): StoredLease => ({ name, holder, until: now + leaseMs, ms: leaseMs }));
  const kept = rows.filter(({ name }) => !stale.includes(name));
  const held = withSetBack(livingLeases(names, [...kept, ...put], now), setBackMs);
  return { held, put, remove: [], setBackMs };
}

/** The leases that count, in the order of these names. One that would last longer than it was given for was given before the clock was set back. */
export function livingLeases(
  names: readonly string[],
  rows: readonly StoredLease[],
  now: number,
): readonly Lease[] {
  return names.flatMap((name) =>
    rows
      .filter((row) => row.name === name && row.until > now && row.until - now <= row.ms)
      .map(({ holder, until }) => ({ name, holder, until })),
  );
}

export const withSetBack = (leases: readonly Lease[], setBackMs: number): readonly Lease[] =>
  setBackMs === 0 ? leases : leases.map((lease) => ({ ...lease, setBackMs }));

/** Whether more than half of it is left, which saves a write. */
const isRecent = (leftMs: number, leaseMs: number): boolean => leftMs > leaseMs / 2 && leftMs <= leaseMs;
