/** Reads what the service's own wallets hold: how much is free, and how long that lasts at the rate of the last day. */
import { formatAmount } from "../../../core/amount.ts";
import type { Address } from "../../../core/address.ts";
import type { FrameStorage } from "../frame-storage.ts";
import { LedgerUnavailable, type Ledger } from "../../../ledger/ledger.ts";
import type { Clock } from "../../../core/runtime.ts";
import { ledgerMint, smallestAmount, type Assets, type Token } from "../assets/assets.ts";
import { isoTime } from "../iso-time.ts";
import { DAY_MS, deskPurse, spentInADay, sponsorPurse } from "../spending.ts";
import { deskInventory, SMALLEST_SWAPS } from "./desk-inventory.ts";
import { type PromiseReads, promisesAt } from "./reserve.ts";

/** The balance of one asset in one purse. Amounts are decimal strings in whole units. */
export interface PurseBody {
  readonly purse: "sponsor" | "treasury" | "desk";
  readonly address: string;
  /** The asset's symbol. */
  readonly asset: string;
  /** Finalized. The desk's SOL is counted without the rent of its account. */
  readonly balance: string;
  /** Promised to open orders, quotes and swaps under way. */
  readonly reserved: string;
  /** Spendings signed within the last 24 hours: fees and rent of the sponsor, payments of the desk. */
  readonly spentInADay: string;
  /**
   * When what is neither spent nor reserved is used up, ISO 8601, should spending go on as in the last 24 hours. Null when
   * nothing was spent, and when it lasts for more than a year.
   */
  readonly lastsUntil: string | null;
  /** The unreserved balance below which the purse is low; null when nothing depends on the balance. */
  readonly lowBelow: string | null;
  readonly isLow: boolean;
}

/** The operator's view of purses. */
export interface PurseCommands {
  /** Every purse of the service, asset by asset. Changes nothing. Rejects with `LedgerUnavailable`. */
  purses(): Promise<readonly PurseBody[]>;
}

/** The service's wallets, and the balance below which a wallet is low. Amounts in base units. */
export interface PurseOptions {
  /** Null while private mode is off. */
  readonly sponsor: Address | null;
  readonly treasury: Address | null;
  /** Null while no provider swaps within transactions of ours. */
  readonly desk: Address | null;
  /** Lamports below which the sponsor is low. */
  readonly sponsorLowBelow: () => Promise<bigint>;
  /** By mint; default: ten times the smallest swap. */
  readonly deskLowBelow: ReadonlyMap<string, bigint>;
}

export interface PurseParts {
  readonly storage: PromiseReads & Pick<FrameStorage, "spent">;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly assets: Assets;
  readonly purses: PurseOptions;
}

/** A purse's balance of one asset, in base units. */
interface Purse {
  readonly name: PurseBody["purse"];
  readonly address: Address;
  readonly asset: Token;
  readonly balance: bigint;
  readonly reserved: bigint;
  readonly spent: bigint;
  readonly lowBelow: bigint | null;
}

const MAX_LASTING_MS = 365 * DAY_MS;

async function readPurses(deps: PurseParts): Promise<readonly PurseBody[]> {
  const now = deps.clock.now();
  const found = await Promise.all([sponsorOf(deps, now), treasuryOf(deps), deskOf(deps, now)]);
  return found.flat().map((purse) => bodyOf(purse, now));
}

/** Private mode spends SOL alone. */
async function sponsorOf(
  { storage, ledger, assets, purses }: PurseParts,
  now: number,
): Promise<readonly Purse[]> {
  const { sponsor, sponsorLowBelow } = purses;
  if (sponsor === null) return [];
  const purse = sponsorPurse(sponsor);
  const [{ funds }, reserved, spent, lowBelow] = await Promise.all([
    ledger.funds([sponsor], [], "finalized"),
    promisesAt(storage, now).promised(purse),
    spentInADay(storage, purse, now),
    sponsorLowBelow(),
  ]);
  const balance = funds[0]?.lamports ?? 0n;
  return [
    { name: "sponsor", address: sponsor, asset: assets.named("SOL"), balance, reserved, spent, lowBelow },
  ];
}

/** Fees come in; nothing in the service depends on the balance. */
async function treasuryOf({ ledger, assets, purses: { treasury } }: PurseParts): Promise<readonly Purse[]> {
  if (treasury === null) return [];
  const mints = assets.tokens.map(ledgerMint).filter((mint) => mint !== null);
  const { funds } = await ledger.funds([treasury], mints, "finalized");
  return assets.tokens.map((asset) => {
    const mint = ledgerMint(asset);
    const balance = mint === null ? funds[0]?.lamports : funds[0]?.tokens[mints.indexOf(mint)];
    const nothing = { reserved: 0n, spent: 0n, lowBelow: null };
    return { name: "treasury" as const, address: treasury, asset, balance: balance ?? 0n, ...nothing };
  });
}

async function deskOf(
  { storage, ledger, assets, purses }: PurseParts,
  now: number,
): Promise<readonly Purse[]> {
  const { desk, deskLowBelow } = purses;
  if (desk === null) return [];
  const inventory = await deskInventory(ledger, desk, assets.tokens);
  return Promise.all(
    assets.tokens.map(async (asset, index): Promise<Purse> => {
      const purse = deskPurse(desk, asset.mint);
      const [reserved, spent] = await Promise.all([
        promisesAt(storage, now).promised(purse),
        spentInADay(storage, purse, now),
      ]);
      const lowBelow = deskLowBelow.get(asset.mint) ?? smallestAmount(asset) * SMALLEST_SWAPS;
      const balance = inventory[index] ?? 0n;
      return { name: "desk", address: desk, asset, balance, reserved, spent, lowBelow };
    }),
  );
}

function bodyOf(purse: Purse, now: number): PurseBody {
  const { name, address, asset, balance, reserved, spent, lowBelow } = purse;
  const free = balance > reserved ? balance - reserved : 0n;
  const amount = (units: bigint): string => formatAmount(units, asset.decimals);
  const lastsMs = spent === 0n ? null : (free * BigInt(DAY_MS)) / spent;
  return {
    purse: name,
    address,
    asset: asset.symbol,
    balance: amount(balance),
    reserved: amount(reserved),
    spentInADay: amount(spent),
    lastsUntil: lastsMs === null || lastsMs > MAX_LASTING_MS ? null : isoTime(now + Number(lastsMs)),
    lowBelow: lowBelow === null ? null : amount(lowBelow),
    isLow: lowBelow !== null && free < lowBelow,
  };
}

/** The chain is asked again only after so long, whether it has answered or not: a reading is some ten questions. */
const MAX_READING_AGE_MS = 5 * 60_000;

/** A purse that is low, and since when this process has seen it so, in milliseconds since the Unix epoch. */
interface LowPurse {
  readonly body: PurseBody;
  readonly since: number;
}

/** The funds of the purses at their last reading. */
export interface PurseReading {
  /** ISO 8601 in UTC. */
  readonly readAt: string;
  readonly held: readonly PurseBody[];
}

export class PurseWatch {
  readonly #deps: PurseParts;
  readonly #low = new Map<string, LowPurse>();
  #last: PurseReading | null = null;
  #askedAt = -Infinity;

  constructor(deps: PurseParts) {
    this.#deps = deps;
  }

  /** Reads the present balances. Throws `LedgerUnavailable`. */
  async read(): Promise<readonly PurseBody[]> {
    const now = this.#deps.clock.now();
    this.#askedAt = now;
    const bodies = await readPurses(this.#deps);
    for (const body of bodies) {
      const key = `${body.purse} ${body.asset}`;
      if (body.isLow) this.#low.set(key, { body, since: this.#low.get(key)?.since ?? now });
      else this.#low.delete(key);
    }
    this.#last = { readAt: isoTime(now), held: bodies };
    return bodies;
  }

  /** The last reading of this process, however old; null before the first, and without purses. Asks nobody. */
  last(): PurseReading | null {
    return this.#last === null || this.#last.held.length === 0 ? null : this.#last;
  }

  /** Low purses, as read at most five minutes ago; while the chain cannot be read, the last reading counts. */
  async low(): Promise<readonly LowPurse[]> {
    if (Math.abs(this.#deps.clock.now() - this.#askedAt) >= MAX_READING_AGE_MS) {
      await this.read().catch((error: unknown) => {
        if (!(error instanceof LedgerUnavailable)) throw error;
      });
    }
    return [...this.#low.values()].toSorted((a, b) => a.since - b.since);
  }
}
