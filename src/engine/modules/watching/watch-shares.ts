/** Fair shares of watch shards: a process polls its share of a kind's shards, under named leases. */
import { elapsed } from "../../../core/runtime.ts";
import type { Lease, LeaseRequest } from "../../../../storage/storage.ts";
import type { EngineContext } from "../../kernel/engine-context.ts";
import { ALL_SHARDS, shardOf } from "../../../workflow/watch-rows.ts";

type SharingProcess = Pick<EngineContext, "storage" | "clock" | "holder" | "leaseMs">;

/** For so many leases a process whose looks find nothing out leaves its shards to others. */
const RESTED_LEASES = 3;

/**
 * A process that polls a kind holds a seat of the kind, so that every process can count the others. Each holder of a
 * seat is due a share of the shards: at its next renewal it gives up shards beyond its share, and takes free shards up
 * to its share.
 */
export class WatchShare {
  readonly #kind: string;
  readonly #process: SharingProcess;
  shards: readonly number[] = [];
  /** False while other processes still hold shards of this process's share. */
  isWhole = false;
  #isSeated = false;
  #restsUntil = -Infinity;

  constructor(kind: string, process: SharingProcess) {
    this.#kind = kind;
    this.#process = process;
  }

  /** Renews held leases, gives up surplus shards, and takes free shards. Most renewals write nothing. */
  async renew(): Promise<void> {
    const { holder, leaseMs } = this.#process;
    const names = [
      ...ALL_SHARDS.map((shard) => this.#seat(shard)),
      ...ALL_SHARDS.map((shard) => this.#name(shard)),
    ];
    const seen = await this.#lease({ names, holder: LOOKING, leaseMs: 0 });
    const of = (name: string): string | undefined => seen.find((lease) => lease.name === name)?.holder;
    const held = ALL_SHARDS.filter((shard) => of(this.#name(shard)) === holder);
    const seats = ALL_SHARDS.map((place) => ({ place, holder: of(this.#seat(place)) }));
    const isShared = seats.some((each) => each.holder !== undefined && each.holder !== holder);
    if (isShared && elapsed(this.#process.clock) < this.#restsUntil) {
      await this.giveUp();
      this.isWhole = true;
      return;
    }
    // Most holders begin the search at different places.
    const free = rotated(seats, shardOf(holder)).find((each) => each.holder === undefined);
    const seat = seats.find((each) => each.holder === holder) ?? free;
    const sharers = seats.flatMap((each) => each.holder ?? (each === seat ? holder : []));
    const { from, count } = shareOf(sharers, seat === undefined ? -1 : sharers.indexOf(holder));
    const kept = held.slice(0, count);
    // Each process begins at a different shard, so that two new processes do not reach for the same shards.
    const open = rotated(ALL_SHARDS, from).filter((shard) => of(this.#name(shard)) === undefined);
    const wanted = [...kept, ...open.slice(0, count - kept.length)];
    const given = held.slice(count).map((shard) => this.#name(shard));
    if (given.length > 0) await this.#lease({ names: given, holder, leaseMs: 0 });
    const own = [
      ...(seat === undefined ? [] : [this.#seat(seat.place)]),
      ...wanted.map((shard) => this.#name(shard)),
    ];
    this.#isSeated = seat !== undefined;
    const taken = await this.#lease({ names: own, holder, leaseMs });
    const isMine = (name: string): boolean =>
      taken.some((lease) => lease.name === name && lease.holder === holder);
    this.shards = wanted.filter((shard) => isMine(this.#name(shard))).toSorted((a, b) => a - b);
    this.isWhole = this.shards.length === count && own.every(isMine);
  }

  /** Has it leave its shards to other processes for a while, from its next renewal on. A process that is alone keeps its shards. */
  rest(): void {
    const { clock, leaseMs } = this.#process;
    this.#restsUntil = elapsed(clock) + RESTED_LEASES * leaseMs;
  }

  /** Gives up everything. Rejects when the storage does. */
  async giveUp(): Promise<void> {
    if (!this.#isSeated) return;
    const { holder } = this.#process;
    this.shards = [];
    this.isWhole = false;
    const names = ALL_SHARDS.flatMap((each) => [this.#seat(each), this.#name(each)]);
    await this.#lease({ names, holder, leaseMs: 0 });
    this.#isSeated = false;
  }

  #lease(request: Omit<LeaseRequest, "now">): Promise<readonly Lease[]> {
    const { storage, clock } = this.#process;
    return storage.lease({ ...request, now: () => clock.now() });
  }

  #name(shard: number): string {
    return `watches/${this.#kind}/${shard}`;
  }

  #seat(place: number): string {
    return `watches/${this.#kind}/seat ${place}`;
  }
}

/** A holder that takes no lease: requests with this name only read the holders. */
const LOOKING = "";

/** The number of shards of the sharer at this place, and the first of these shards. */
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
