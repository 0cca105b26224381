/** Looking now and then at all token accounts of watched addresses: for deposits gone astray, and for foreign tokens. */
import { commitOne } from "../../../storage/decided.ts";
import type { WatchRecord } from "../../../storage/storage.ts";
import type { Address } from "../../address.ts";
import type { PollContext, Watcher } from "../../engine/index.ts";
import { LedgerUnavailable, type Holding } from "../../ledger/ledger.ts";
import {
  agreedOtherMints,
  claimedOtherMints,
  type OtherMints,
  unitsWritten,
} from "../outgoing/plans/other-mints.ts";
import type { ServiceContext } from "../service-context.ts";
import type { PaymentWrite } from "../payment-storage.ts";
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
/** The calls to each witness: for a deposit gone astray, and for foreign tokens besides one for each mint. */
const CALLS_FOR_STRAYS = 1;
const CALLS_BESIDE_MINTS = 1;
/** The most looks at an address between two questions about foreign tokens that nobody else shows. */
const MOST_SKIPS = 15;
/** An address that the watch of deposits was not given for so long is watched no more. */
const FORGET_AFTER_MS = 60_000;

type StrayWatchParts = Pick<ServiceContext, "storage" | "ledger" | "clock" | "assets">;

/** A watched address, in the memory of this watch. */
interface Watched {
  readonly instance: string;
  /** The time when the address was last looked at, or first heard of. */
  readonly since: number;
  heardAt: number;
  readonly asking: TokenQuestions;
}

/** The questions about what one node says of foreign tokens at an address: each costs every witness a call a mint. */
interface TokenQuestions {
  /** What enough endpoints have shown last. */
  shown: string | null;
  /** How many questions in a row have told nothing new. */
  idle: number;
  /** How many looks are to pass without a question. */
  skips: number;
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
  /** Whether one of the addresses looked at now may ask again what has told nothing new: one does in each turn. */
  #mayRepeat = true;

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
        await this.#lookAt(deposit, watched, look);
      }),
    );
    return events;
  }

  #hear(watches: readonly WatchRecord[], now: number): void {
    for (const { key, instance } of watches) {
      const known = this.#watched.get(key);
      if (known !== undefined) {
        known.heardAt = now;
        continue;
      }
      const asking = { shown: null, idle: 0, skips: 0 };
      this.#watched.set(key, { instance, since: now, heardAt: now, asking });
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
    this.#mayRepeat = true;
    this.#nextAt = now + Math.max(this.intervalMs, this.#timeFor(found.length * CALLS_A_LOOK));
    return found;
  }

  /** The time in which so many calls take no more than their share of the reads that the endpoints permit. */
  #timeFor(calls: number): number {
    const perSecond = this.#with.ledger.readLimit?.perSecond ?? Infinity;
    return (calls * 1_000) / (perSecond * PERMITTED_SHARE);
  }

  /** The next looks wait for what a look costs besides: so many calls. */
  #spend(calls: number): void {
    this.#nextAt += this.#timeFor(calls);
  }

  /** As `#spend`, for a question that so many calls put to each witness. */
  #spendOfEach(calls: number): void {
    this.#spend(calls * (this.#with.ledger.readLimit?.witnesses ?? 1));
  }

  async #lookAt(deposit: DepositRecord, { instance, asking }: Watched, look: PollContext): Promise<void> {
    const holdings = await this.#holdings(deposit.id).catch(unlessSilent);
    // Where nobody tells what is there, such as of thousands of accounts, the expected mint is asked for by itself.
    const mayBeStray = holdings === null || holdings.some(({ mint }) => mint === deposit.mint);
    if (mayBeStray && (await this.#hasStrays(deposit).catch(unlessSilent)) === true) {
      await look.tell([{ instance, event: { type: "STRAY_SEEN" } }]);
    }
    const claimed = claimedOtherMints(this.#with.assets, holdings ?? []);
    if (Object.keys(claimed).length === 0) return;
    const written = await this.#written(deposit.id, holdings ?? []);
    // Where the address has counted all that is named, there is nothing to ask.
    if (Object.entries(claimed).every(([mint, units]) => BigInt(units) <= (written.get(mint) ?? 0n))) return;
    if (asking.skips > 0) {
      asking.skips -= 1;
      return;
    }
    if (asking.idle > 0) {
      if (!this.#mayRepeat) return;
      this.#mayRepeat = false;
    }
    this.#spendOfEach(CALLS_BESIDE_MINTS + Object.keys(claimed).length);
    const others = await agreedOtherMints(this.#with, deposit.id, claimed).catch(unlessSilent);
    if (others === null) return;
    if (Object.keys(others.balances).length > 0) {
      // Told after each question: the address knows what it has counted, and what has left it since.
      await look.tell([{ instance, event: { type: "OTHER_MINTS_READ", ...others } }]);
      await this.#written(deposit.id, holdings ?? []);
    }
    noteAnswer(asking, claimed, others);
  }

  /** What the address has counted. Lines of mints whose decimals were unknown are given those that a node names. */
  async #written(address: Address, holdings: readonly Holding[]): Promise<ReturnType<typeof unitsWritten>> {
    const { storage, assets } = this.#with;
    const entries = await storage.entriesOf([address]);
    const writes = entries.flatMap(({ id, kind, mint, decimals: known }): PaymentWrite[] => {
      if (kind !== "deposit" || known !== null || assets.ofMint(mint) !== null) return [];
      const decimals = holdings.find((held) => held.mint === mint)?.decimals;
      return decimals === undefined ? [] : [{ table: "entries", id, set: { decimals } }];
    });
    if (writes.length > 0) await commitOne(storage, { writes });
    return unitsWritten(entries);
  }

  async #holdings(address: Address): Promise<readonly Holding[]> {
    const { holdings } = await this.#with.ledger.balances(address);
    // What is named is looked up, as many mints in a call as an endpoint takes.
    this.#spend(Math.ceil(holdings.length / (this.#with.ledger.readLimit?.accounts ?? Infinity)));
    return holdings;
  }

  async #hasStrays({ id, mint, waitEndedAt }: DepositRecord): Promise<boolean> {
    if (waitEndedAt !== null) return false;
    this.#spendOfEach(CALLS_FOR_STRAYS);
    const among = [this.#with.assets.named(mint)];
    const found = await strayDeposits(this.#with, id, { among, commitment: "finalized" });
    return found.deposits.length > 0;
  }
}

/**
 * A node can name what is not there, each time something else, and more mints can come than are counted: the pause grows
 * with each answer that tells nothing new. What is not final yet is asked again at the next two looks.
 */
function noteAnswer(asking: TokenQuestions, claimed: OtherMints["balances"], { balances }: OtherMints): void {
  const claim = JSON.stringify(claimed);
  const isNew = JSON.stringify(balances) === claim && claim !== asking.shown;
  if (isNew) asking.shown = claim;
  asking.idle = isNew ? 0 : asking.idle + 1;
  asking.skips = Math.min(MOST_SKIPS, Math.max(0, 2 ** (asking.idle - 2) - 1));
}

/** Silence must not lose the findings of the other watch, nor those about another address. */
function unlessSilent(error: unknown): null {
  if (error instanceof LedgerUnavailable) return null;
  throw error;
}
