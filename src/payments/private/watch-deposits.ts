/** Looking at deposit addresses, many at a time: what each holds in the newest finalized block. */
import type { PaymentStorage, WatchRecord } from "../../../storage/storage.ts";
import type { WatchEvent, Watcher } from "../../engine/index.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Clock } from "../../runtime.ts";
import { ledgerMint } from "../assets.ts";
import type { Assets } from "../assets.ts";
import { lookAtOneAccount, watchedAddress } from "./look-at-account.ts";
import type { WatchedAddress } from "./look-at-account.ts";
import { holdAddress, UNKNOWN_SPENDING } from "./unknown-spending.ts";
import type { SpendingCheck } from "./unknown-spending.ts";

/**
 * What an instance could not hear the first time is said again after so many looks: levels, so that hearing it twice
 * changes nothing. Empty addresses within their window have nothing to be told.
 */
const LOOKS_UNTIL_SAID_AGAIN = 30;
/** Ends of windows in one look: each may cost a call or two, and those that are left have time until the next. */
const MOST_ENDS_AT_ONCE = 50;
/** Addresses looked at with one question: one call takes as many accounts, and what is derived for it takes no longer. */
const ADDRESSES_A_QUESTION = 100;
/**
 * Addresses in one look, some 200 calls one after the other, and those of them that are read in full, another 100. The
 * engine gives a poll a minute, and one that took longer would be given up each time and find nothing out for ever; so
 * the others have their turn at the next.
 */
const MOST_AT_ONCE = 20_000;
const MOST_IN_FULL = 3_300;

/** What a full reading showed of an address. */
interface Shown {
  readonly watched: WatchedAddress;
  readonly amounts: readonly bigint[];
  readonly isOver: boolean;
}

/**
 * Polls one account of each address at finalized, a hundred addresses a call, twenty thousand a look and the next ones at
 * the next: the one in which the order expects its money, and now and then another one. Only where something has changed,
 * a window may have ended, or something is to be said again, the address and all its token accounts are read in one block;
 * that reading, and the block's own clock, is what is told. It speaks only when an address holds something else than
 * before, or its window has ended: a thousand quiet addresses cost the database nothing. Of a held address it says nothing,
 * and before it says that a window has ended it makes sure that nobody has paid out of the address without us: an order
 * that another self of this database has served did not fail.
 */
export function watchDeposits({
  storage,
  ledger,
  assets,
  clock,
  hasPaidWithoutUs,
  intervalMs,
}: {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly assets: Assets;
  readonly clock: Clock;
  readonly hasPaidWithoutUs: SpendingCheck;
  readonly intervalMs: number;
}): Watcher {
  const mints = assets.tokens.map(ledgerMint).filter((mint) => mint !== null);
  let known = new Map<string, WatchedAddress>();
  /** The last address that had its turn. */
  let last = "";

  /** What is remembered of these, in their order; begun for those that were not watched a moment ago. */
  const rememberedOf = async (keys: readonly string[]): Promise<readonly WatchedAddress[]> => {
    const unknown = keys.filter((key) => !known.has(key));
    const deposits = unknown.length === 0 ? [] : await storage.deposits(unknown);
    for (const deposit of deposits) known.set(deposit.id, watchedAddress(deposit, assets));
    return keys.map((key) => known.get(key)).filter((watched) => watched !== undefined);
  };

  /** Those of them that are read in full now, what has changed before all else, and then the windows that end first. */
  const chosen = async (due: readonly WatchedAddress[], now: number): Promise<readonly WatchedAddress[]> => {
    const rows = due.length === 0 ? [] : await storage.deposits(due.map(({ address }) => address));
    const free = new Set(rows.filter(({ heldReason }) => heldReason === null).map(({ id }) => id));
    const open = due.filter(({ address }) => free.has(address));
    const byUrgency = open.toSorted(
      (a, b) => Number(b.hasChanged) - Number(a.hasChanged) || a.endsAt - b.endsAt,
    );
    return [
      ...byUrgency.filter(({ endsAt }) => now > endsAt).slice(0, MOST_ENDS_AT_ONCE),
      ...byUrgency.filter(({ endsAt }) => now <= endsAt).slice(0, MOST_IN_FULL),
    ];
  };

  /** Whether something may be said now. What waits no more has no end: it is settled, which looks at the chain anew. */
  const isUndisputed = async ({ watched: { address }, isOver }: Shown): Promise<boolean> => {
    if (!isOver || !(await hasPaidWithoutUs(address))) return true;
    await holdAddress(storage, address, UNKNOWN_SPENDING);
    return false;
  };

  /** Reads these in full, and says what is to be told of whom. Nothing counts as said before all of it can be. */
  const toTell = async (
    addresses: readonly WatchedAddress[],
  ): Promise<ReadonlyMap<string, WatchEvent["event"]>> => {
    if (addresses.length === 0) return new Map();
    const asked = addresses.map(({ address }) => address);
    const { slot, blockTime, funds } = await ledger.funds(asked, mints, "finalized");
    const told: Shown[] = [];
    for (const [index, watched] of addresses.entries()) {
      const held = funds[index];
      if (held === undefined) continue;
      const isOver = blockTime * 1_000 > watched.endsAt;
      const shown = { watched, amounts: [held.lamports, ...held.tokens], isOver };
      if (!isNews(shown) && !isToBeSaidAgain(watched)) watched.hasChanged = false;
      else if (await isUndisputed(shown)) told.push(shown);
    }
    for (const shown of told) remember(shown);
    return new Map(
      told.map(({ watched: { address }, amounts }) => {
        const byMint = assets.tokens.map(({ mint }, position) => [mint, String(amounts[position])]);
        const balances = Object.fromEntries(byMint) as Readonly<Record<string, string>>;
        return [address, { type: "BALANCES_READ", slot, blockTime: blockTime * 1_000, balances }];
      }),
    );
  };

  return {
    intervalMs,
    poll: async (everything, signal) => {
      const watches = inTurn(everything, last);
      // Whatever comes of it: what cannot be read must not keep the others from being looked at.
      last = watches.at(-1)?.key ?? "";
      known = keptOf(known, everything);
      const looked: WatchedAddress[] = [];
      for (let start = 0; start < watches.length; start += ADDRESSES_A_QUESTION) {
        if (signal.aborted) return [];
        const keys = watches.slice(start, start + ADDRESSES_A_QUESTION).map(({ key }) => key);
        const addresses = await rememberedOf(keys);
        await lookAtOneAccount({ ledger, assets }, addresses);
        looked.push(...addresses);
      }
      const now = clock.now();
      const due = looked.filter((watched) => isToBeRead(watched, now));
      const told = await toTell(await chosen(due, now));
      if (told.size === 0) return [];
      return watches.flatMap(({ key, instance }) => {
        const event = told.get(key);
        return event === undefined ? [] : [{ instance, event }];
      });
    },
  };
}

/** By our own clock, which only says when to ask the chain's. */
function isToBeRead(watched: WatchedAddress, now: number): boolean {
  return watched.hasChanged || (now > watched.endsAt && !watched.isSaidOver) || isToBeSaidAgain(watched);
}

function isToBeSaidAgain({ looks, saidAtLook, isSaidOver, said }: WatchedAddress): boolean {
  return looks - saidAtLook >= LOOKS_UNTIL_SAID_AGAIN && (isSaidOver || said.some((amount) => amount > 0n));
}

function isNews({ watched: { said, isSaidOver }, amounts, isOver }: Shown): boolean {
  return isOver !== isSaidOver || amounts.some((amount, asset) => amount !== (said[asset] ?? 0n));
}

function remember({ watched, amounts, isOver }: Shown): void {
  watched.hasChanged = false;
  watched.said = amounts;
  watched.isSaidOver = isOver;
  watched.saidAtLook = watched.looks;
}

/** Those whose turn it is: the ones after `last` in the order of the keys, which is how they come, and then the first. */
function inTurn(watches: readonly WatchRecord[], last: string): readonly WatchRecord[] {
  if (watches.length <= MOST_AT_ONCE) return watches;
  const start = Math.max(
    0,
    watches.findIndex(({ key }) => key > last),
  );
  return [...watches.slice(start), ...watches.slice(0, start)].slice(0, MOST_AT_ONCE);
}

/** What is remembered of those that are still watched. */
function keptOf(
  known: ReadonlyMap<string, WatchedAddress>,
  watches: readonly WatchRecord[],
): Map<string, WatchedAddress> {
  const kept = new Map<string, WatchedAddress>();
  for (const { key } of watches) {
    const watched = known.get(key);
    if (watched !== undefined) kept.set(watched.address, watched);
  }
  return kept;
}
