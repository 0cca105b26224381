/** Divides the shards of a watch kind among the processes that poll it. Pure; every adapter claims by it. */
import type { ShardLease } from "./engine-tables.ts";

/** Who claims, of which kind, and when. */
export interface ShardClaim {
  readonly kind: string;
  readonly holder: string;
  readonly now: number;
  readonly leaseMs: number;
}

/** What a claim comes to: the shards that the holder has from now on, and the leases to write and to remove. */
export interface ShardPlan {
  readonly held: readonly number[];
  readonly put: readonly ShardLease[];
  readonly remove: readonly ShardLease[];
}

/** No process leases for longer; what seems to last longer was given before the clock was set back, and is no lease. */
const MAX_LEASE_MS = 3_600_000;

/**
 * What `claimShards` comes to, from the shards that have a watch of the kind and all leases of the kind. Carry it out in
 * one transaction with the reads that it is given.
 *
 * A process that polls a kind keeps a lease on a seat (a negative number) beside those on its shards, so that the others know of
 * it. A claim takes what is free, and hands shards to the process with the fewest while that has two fewer: directly, so
 * that a handed shard is never without a holder, and for no longer than that process's seat is known to be taken.
 *
 * @example
 * ```ts
 * import { shareShards } from "paystate/storage";
 *
 * const claim = { kind: "landing", holder: "a", now: 1_000, leaseMs: 500 };
 * const { held, put } = shareShards(claim, [0, 3], []);
 * console.log(held, put.length); // [ 0, 3 ] 3
 * ```
 */
export function shareShards(
  claim: ShardClaim,
  shards: readonly number[],
  leases: readonly ShardLease[],
): ShardPlan {
  const { kind, holder, now, leaseMs } = claim;
  const own = leases.filter((lease) => lease.holder === holder);
  if (shards.length === 0) return { held: [], put: [], remove: own };
  const others = leases.filter(({ holder: name, leaseUntil }) => {
    const left = leaseUntil - now;
    return name !== holder && left > 0 && left <= MAX_LEASE_MS;
  });
  const taken = new Set(others.map(({ shard }) => shard));
  const isFresh = (shard: number): boolean =>
    own.some((lease) => {
      const left = lease.leaseUntil - now;
      return lease.shard === shard && left > leaseMs / 2 && left <= leaseMs;
    });
  const kept = new Set(own.map(({ shard }) => shard));
  const free = shards.filter((shard) => !taken.has(shard));
  // What was held before stays rather than what is new.
  const mine = [...free.filter((shard) => kept.has(shard)), ...free.filter((shard) => !kept.has(shard))];

  const rivals = others
    .filter(({ shard }) => isSeat(shard))
    .map(({ holder: name, leaseUntil }): Rival => {
      const count = others.filter((lease) => lease.holder === name && shards.includes(lease.shard)).length;
      return { name, leaseUntil, count };
    });
  const handed: ShardLease[] = [];
  for (let poorest = leastOf(rivals); poorest !== undefined; poorest = leastOf(rivals)) {
    const shard = mine.length - poorest.count < 2 ? undefined : mine.pop();
    if (shard === undefined) break;
    handed.push({ kind, shard, holder: poorest.name, leaseUntil: poorest.leaseUntil });
    poorest.count += 1;
  }

  const seat = own.find(({ shard }) => isSeat(shard))?.shard ?? freeSeat(taken);
  const stale = [seat, ...mine].filter((shard) => !isFresh(shard));
  const put = stale.map((shard): ShardLease => ({ kind, shard, holder, leaseUntil: now + leaseMs }));
  return { held: mine.toSorted((a, b) => a - b), put: [...put, ...handed], remove: [] };
}

const isSeat = (shard: number): boolean => shard < 0;

interface Rival {
  readonly name: string;
  readonly leaseUntil: number;
  count: number;
}

function leastOf(rivals: readonly Rival[]): Rival | undefined {
  return rivals.toSorted((a, b) => a.count - b.count || (a.name < b.name ? -1 : 1))[0];
}

/** The first free seat. */
function freeSeat(taken: ReadonlySet<number>): number {
  let seat = -1;
  while (taken.has(seat)) seat -= 1;
  return seat;
}
