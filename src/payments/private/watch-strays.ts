/** Looking now and then at all token accounts of watched addresses: for deposits gone astray, and for foreign tokens. */
import type { WatchRecord } from "../../../storage/storage.ts";
import type { Address } from "../../address.ts";
import type { PollContext, Watcher } from "../../engine/index.ts";
import { LedgerUnavailable, type Holding } from "../../ledger/ledger.ts";
import { agreedOtherMints } from "../outgoing/plans/other-mints.ts";
import type { ServiceContext } from "../service-context.ts";
import type { DepositRecord } from "../tables/deposits.ts";
import { strayDeposits } from "./collect-strays.ts";

/**
 * Little money goes astray, and each address costs calls of its own: this many looks in an interval, and a pause before
 * the same address is looked at again.
 */
const LOOKS_AT_ONCE = 4;
const PAUSE_MS = 20_000;
/** The calls of a look that finds nothing, all to one endpoint, and the share of the permitted reads that looks take. */
const CALLS_A_LOOK = 3;
const PERMITTED_SHARE = 1 / 20;
/** An address that the watch of deposits was not given for so long is watched no more. */
const FORGET_AFTER_MS = 60_000;

/** Dependencies of looking at all token accounts. */
type StrayWatchParts = Pick<ServiceContext, "storage" | "ledger" | "clock" | "assets">;

/** A watched address, in the memory of this watch. */
interface Watched {
  readonly instance: string;
  /** The time when the address was last looked at, or first heard of. */
  readonly since: number;
  heardAt: number;
}

/**
 * The given watch of deposits, which sees associated accounts of the assets only, and with it in turn a few addresses
 * whole. One node's word decides what is looked into; enough endpoints tell what is told. Whatever is not found by it is
 * found when the address is settled.
 */
export class StrayWatch implements Watcher {
  readonly intervalMs: number;
  readonly batchSize?: number;
  readonly roundMs: (watched: number) => number;
  readonly isUrgent: (watch: WatchRecord) => boolean;
  readonly #deposits: Watcher;
  readonly #with: StrayWatchParts;
  /** Watched addresses, the longest unseen first. */
  readonly #watched = new Map<string, Watched>();
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
      this.#due(now).map(async ([address, watched]) => {
        const [deposit] = await this.#with.storage.deposits([address]);
        if (deposit === undefined || deposit.heldReason !== null) return;
        await this.#lookAt(deposit, watched.instance, look);
      }),
    );
    return events;
  }

  #hear(watches: readonly WatchRecord[], now: number): void {
    for (const { key, instance } of watches) {
      const known = this.#watched.get(key);
      if (known === undefined) this.#watched.set(key, { instance, since: now, heardAt: now });
      else known.heardAt = now;
    }
  }

  /** The addresses to look at now, longest ago first; they count as looked at. */
  #due(now: number): readonly (readonly [string, Watched])[] {
    if (now < this.#nextAt) return [];
    const found: (readonly [string, Watched])[] = [];
    for (const [address, each] of this.#watched) {
      if (found.length === LOOKS_AT_ONCE || now - each.since < PAUSE_MS) break;
      this.#watched.delete(address);
      if (now - each.heardAt <= FORGET_AFTER_MS + this.intervalMs) {
        found.push([address, { ...each, since: now }]);
      }
    }
    for (const [address, each] of found) this.#watched.set(address, each);
    this.#nextAt = now + Math.max(this.intervalMs, this.#timeFor(found.length));
    return found;
  }

  /** The time in which so many looks take no more than their share of the reads that the endpoints permit. */
  #timeFor(looks: number): number {
    const perSecond = this.#with.ledger.readLimit?.perSecond ?? Infinity;
    return (looks * CALLS_A_LOOK * 1_000) / (perSecond * PERMITTED_SHARE);
  }

  async #lookAt(deposit: DepositRecord, instance: string, look: PollContext): Promise<void> {
    const holdings = await this.#holdings(deposit.id).catch(unlessSilent);
    // Where nobody tells what is there, such as of thousands of accounts, the expected mint is asked for by itself.
    const mayBeStray = holdings === null || holdings.some(({ mint }) => mint === deposit.mint);
    if (mayBeStray && (await this.#hasStrays(deposit).catch(unlessSilent)) === true) {
      await look.tell([{ instance, event: { type: "STRAY_SEEN" } }]);
    }
    const others = await agreedOtherMints(this.#with, deposit.id, holdings ?? []).catch(unlessSilent);
    if (others === null || Object.keys(others.balances).length === 0) return;
    // Told at each look: the address knows what it has counted, and what has left it since.
    await look.tell([{ instance, event: { type: "OTHER_MINTS_READ", ...others } }]);
  }

  async #holdings(address: Address): Promise<readonly Holding[]> {
    return (await this.#with.ledger.balances(address)).holdings;
  }

  async #hasStrays({ id, mint, waitEndedAt }: DepositRecord): Promise<boolean> {
    if (waitEndedAt !== null) return false;
    const among = [this.#with.assets.named(mint)];
    const found = await strayDeposits(this.#with, id, { among, commitment: "finalized" });
    return found.deposits.length > 0;
  }
}

/** Silence must not lose the findings of the other watch, nor those about another address. */
function unlessSilent(error: unknown): null {
  if (error instanceof LedgerUnavailable) return null;
  throw error;
}
