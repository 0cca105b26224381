/** The shards of one kind of watches that this process polls: a fair share of them, under named leases. */
import type { EngineContext } from "./engine-context.ts";
import { ALL_SHARDS, shardOf } from "./shards.ts";

type SharingProcess = Pick<EngineContext, "storage" | "holder" | "leaseMs">;

/**
 * Who polls a kind holds one of its seats, by which the others know how many there are. Each holder of a seat has a share of
 * the shards: what it holds beyond that it gives up at its next renewal, and what is free up to that it takes.
 */
export class WatchShare {
  readonly #kind: string;
  readonly #process: SharingProcess;
  /** The shards that this process holds, as of the last renewal. */
  shards: readonly number[] = [];
  /** False where others have yet to give up what this process is to have. */
  isWhole = false;
  #isSeated = false;

  constructor(kind: string, process: SharingProcess) {
    this.#kind = kind;
    this.#process = process;
  }

  /** Renews what is held, gives up what is too much, and takes what is free. Nothing is written in most cases. */
  async renew(now: number): Promise<void> {
    const { storage, holder, leaseMs } = this.#process;
    const names = [
      ...ALL_SHARDS.map((shard) => this.#seat(shard)),
      ...ALL_SHARDS.map((shard) => this.#name(shard)),
    ];
    const seen = await storage.lease({ names, holder: LOOKING, now, leaseMs: 0 });
    const of = (name: string): string | undefined => seen.find((lease) => lease.name === name)?.holder;
    const held = ALL_SHARDS.filter((shard) => of(this.#name(shard)) === holder);
    const seats = ALL_SHARDS.map((place) => ({ place, holder: of(this.#seat(place)) }));
    // Beginning at a place that is another for most holders.
    const free = rotated(seats, shardOf(holder)).find((each) => each.holder === undefined);
    const seat = seats.find((each) => each.holder === holder) ?? free;
    const sharers = seats.flatMap((each) => each.holder ?? (each === seat ? holder : []));
    const { from, count } = shareOf(sharers, seat === undefined ? -1 : sharers.indexOf(holder));
    const kept = held.slice(0, count);
    // Each begins at another place, so that two who come at once do not reach for the same.
    const open = rotated(ALL_SHARDS, from).filter((shard) => of(this.#name(shard)) === undefined);
    const wanted = [...kept, ...open.slice(0, count - kept.length)];
    const given = held.slice(count).map((shard) => this.#name(shard));
    if (given.length > 0) await storage.lease({ names: given, holder, now, leaseMs: 0 });
    const own = [
      ...(seat === undefined ? [] : [this.#seat(seat.place)]),
      ...wanted.map((shard) => this.#name(shard)),
    ];
    this.#isSeated = seat !== undefined;
    const taken = await storage.lease({ names: own, holder, now, leaseMs });
    const isMine = (name: string): boolean =>
      taken.some((lease) => lease.name === name && lease.holder === holder);
    this.shards = wanted.filter((shard) => isMine(this.#name(shard))).toSorted((a, b) => a - b);
    this.isWhole = this.shards.length === count && own.every(isMine);
  }

  /** Gives up everything. Rejects when the storage does. */
  async giveUp(now: number): Promise<void> {
    if (!this.#isSeated) return;
    const { storage, holder } = this.#process;
    this.shards = [];
    this.isWhole = false;
    const names = ALL_SHARDS.flatMap((each) => [this.#seat(each), this.#name(each)]);
    await storage.lease({ names, holder, now, leaseMs: 0 });
    this.#isSeated = false;
  }

  #name(shard: number): string {
    return `watches/${this.#kind}/${shard}`;
  }

  #seat(place: number): string {
    return `watches/${this.#kind}/seat ${place}`;
  }
}

/** Holds nothing: a request of this name takes nothing, and tells who holds what. */
const LOOKING = "";

/** How many shards the sharer at this place has, and where its part begins. */
function shareOf(
  sharers: readonly string[],
  place: number,
): { readonly from: number; readonly count: number } {
  if (place < 0) return { from: 0, count: 0 };
  const shards = ALL_SHARDS.length;
  const from = Math.floor((place * shards) / sharers.length);
  return { from, count: Math.floor(((place + 1) * shards) / sharers.length) - from };
}

const rotated = <A>(list: readonly A[], start: number): readonly A[] => [
  ...list.slice(start),
  ...list.slice(0, start),
];
