/** Looking now and then beside the associated accounts of addresses that wait for their deposit. */
import type { WatchRecord } from "../../../storage/storage.ts";
import type { PollContext, Watcher } from "../../engine/index.ts";
import { LedgerUnavailable } from "../../ledger/ledger.ts";
import type { ServiceContext } from "../service-context.ts";
import { strayDeposits } from "./collect-strays.ts";

/**
 * Few deposits go astray, and each address costs a call of its own: this many looks in an interval, and a pause before
 * the same address is looked at again.
 */
const LOOKS_AT_ONCE = 4;
const PAUSE_MS = 2 * 60_000;
/** An address that the watch of deposits was not given for so long is watched no more. */
const FORGET_AFTER_MS = 60_000;

/** Dependencies of looking for stray deposits. */
type StrayWatchParts = Pick<ServiceContext, "storage" | "ledger" | "clock" | "assets">;

/** An address that waits, in the memory of this watch. */
interface Waiting {
  readonly instance: string;
  /** The time when the address was last looked at, or first heard of. */
  readonly since: number;
  heardAt: number;
}

/**
 * The given watch of deposits, which sees associated accounts only, and with it in turn a few addresses whole. Whatever
 * is not found by it is found at the end of the window.
 */
export class StrayWatch implements Watcher {
  readonly intervalMs: number;
  readonly batchSize?: number;
  readonly roundMs: (watched: number) => number;
  readonly isUrgent: (watch: WatchRecord) => boolean;
  readonly #deposits: Watcher;
  readonly #with: StrayWatchParts;
  /** Waiting addresses, the longest unseen first. */
  readonly #waiting = new Map<string, Waiting>();
  #nextAt = 0;

  constructor(deposits: Watcher, parts: StrayWatchParts) {
    this.#deposits = deposits;
    this.#with = parts;
    this.intervalMs = deposits.intervalMs;
    if (deposits.batchSize !== undefined) this.batchSize = deposits.batchSize;
    this.roundMs = (watched) => deposits.roundMs?.(watched) ?? deposits.intervalMs;
    this.isUrgent = (watch) => deposits.isUrgent?.(watch) === true;
  }

  async poll(watches: readonly WatchRecord[], look: PollContext): ReturnType<Watcher["poll"]> {
    const events = await this.#deposits.poll(watches, look);
    const now = this.#with.clock.now();
    this.#hear(watches, now);
    await Promise.all(
      this.#due(now).map(async ([address, { instance }]) => {
        const isThere = await this.#hasStrays(address).catch(unlessSilent);
        if (isThere) await look.tell([{ instance, event: { type: "STRAY_SEEN" } }]);
      }),
    );
    return events;
  }

  #hear(watches: readonly WatchRecord[], now: number): void {
    for (const { key, instance } of watches) {
      const known = this.#waiting.get(key);
      if (known === undefined) this.#waiting.set(key, { instance, since: now, heardAt: now });
      else known.heardAt = now;
    }
  }

  /** The addresses to look at now, longest ago first; they count as looked at. */
  #due(now: number): readonly (readonly [string, Waiting])[] {
    if (now < this.#nextAt) return [];
    this.#nextAt = now + this.intervalMs;
    const found: (readonly [string, Waiting])[] = [];
    for (const [address, each] of this.#waiting) {
      if (found.length === LOOKS_AT_ONCE || now - each.since < PAUSE_MS) break;
      this.#waiting.delete(address);
      if (now - each.heardAt <= FORGET_AFTER_MS + this.intervalMs) found.push([address, each]);
    }
    for (const [address, each] of found) this.#waiting.set(address, { ...each, since: now });
    return found;
  }

  async #hasStrays(address: string): Promise<boolean> {
    const { storage, assets } = this.#with;
    const [deposit] = await storage.deposits([address]);
    if (deposit === undefined || deposit.heldReason !== null) return false;
    const among = [assets.named(deposit.mint)];
    const found = await strayDeposits(this.#with, deposit.id, { among, commitment: "finalized" });
    return found.deposits.length > 0;
  }
}

/** Silence must not lose the findings of the other watch. */
function unlessSilent(error: unknown): false {
  if (error instanceof LedgerUnavailable) return false;
  throw error;
}
