/** Looking at deposit addresses, many at a time: what each holds in the newest finalized block. */
import type { PaymentStorage, WatchRecord } from "../../../storage/storage.ts";
import type { Address } from "../../address.ts";
import type { WatchEvent, Watcher } from "../../engine/index.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { ledgerMint } from "../assets.ts";
import type { Assets } from "../assets.ts";
import { holdAddress, UNKNOWN_SPENDING } from "./unknown-spending.ts";
import type { SpendingCheck } from "./unknown-spending.ts";

/** What was last said of an address. */
interface Said {
  /** The deposit window's end, in milliseconds. */
  readonly expiresAt: number;
  readonly balances: string;
  readonly isOver: boolean;
  /** Looks since then. */
  readonly looks: number;
}

/**
 * What an instance could not hear the first time is said again after so many looks: levels, so that hearing it twice
 * changes nothing. Empty addresses within their window have nothing to be told.
 */
const LOOKS_UNTIL_SAID_AGAIN = 30;
/** Ends of windows in one look: each may cost a call or two, and those that are left have time until the next. */
const MOST_ENDS_AT_ONCE = 50;
/**
 * Addresses in one look: some 300 calls, one after the other. The engine gives a poll a minute, and one that took longer
 * would be given up each time and find nothing out for ever; so the others have their turn at the next.
 */
const MOST_AT_ONCE = 10_000;

/**
 * Polls the address and its token accounts at finalized, about a hundred accounts a call, ten thousand addresses a look
 * and the next ones at the next. It speaks only when an address holds something else than before, or its window has ended
 * by the block's own clock: a thousand quiet addresses cost the database nothing. Of a held address it says nothing, and
 * before it says that a window has ended it makes sure that nobody has paid out of the address without us: an order that
 * another self of this database has served did not fail.
 */
export function watchDeposits({
  storage,
  ledger,
  assets,
  hasPaidWithoutUs,
  intervalMs,
}: {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly assets: Assets;
  readonly hasPaidWithoutUs: SpendingCheck;
  readonly intervalMs: number;
}): Watcher {
  const mints = assets.tokens.map(ledgerMint).filter((mint) => mint !== null);
  let said = new Map<string, Said>();
  /** The last address that had its turn. */
  let last = "";

  /** When the windows of addresses end that were not watched a moment ago. */
  const expiries = async (addresses: readonly string[]): Promise<ReadonlyMap<string, number>> => {
    const unknown = addresses.filter((address) => !said.has(address));
    const deposits = unknown.length === 0 ? [] : await storage.deposits(unknown);
    return new Map(deposits.map(({ id, expiresAt }) => [id, expiresAt]));
  };

  /** Those of which something may be said now; `ended` are those whose window is over. */
  const undisputed = async (
    addresses: readonly string[],
    ended: ReadonlySet<string>,
  ): Promise<ReadonlySet<string>> => {
    const allowed = new Set<string>();
    let ends = 0;
    for (const { id, heldReason, waitEndedAt } of addresses.length === 0
      ? []
      : await storage.deposits(addresses)) {
      if (heldReason !== null) continue;
      // What waits no more is settled, which looks at the chain anew.
      if (ended.has(id) && waitEndedAt === null) {
        if (++ends > MOST_ENDS_AT_ONCE) continue;
        if (await hasPaidWithoutUs(id)) {
          await holdAddress(storage, id, UNKNOWN_SPENDING);
          continue;
        }
      }
      allowed.add(id);
    }
    return allowed;
  };

  return {
    intervalMs,
    poll: async (everything) => {
      const watches = inTurn(everything, last);
      // Whatever comes of it: what cannot be read must not keep the others from being looked at.
      last = watches.at(-1)?.key ?? "";
      const addresses = watches.map(({ key }) => key);
      const fresh = await expiries(addresses);
      const { slot, blockTime, funds } = await ledger.funds(addresses as Address[], mints, "finalized");
      const now = keptOf(said, everything);
      const due: { readonly key: string; readonly said: WatchEvent }[] = [];
      const ended = new Set<string>();
      watches.forEach(({ key, instance }, index) => {
        const held = funds[index];
        if (held === undefined) return;
        const amounts = [held.lamports, ...held.tokens].map(String);
        const before = said.get(key);
        const expiresAt = before?.expiresAt ?? fresh.get(key) ?? 0;
        const isOver = blockTime * 1_000 > expiresAt;
        const balances = amounts.join();
        const looks = (before?.looks ?? 0) + 1;
        const isNew = before === undefined || before.balances !== balances || before.isOver !== isOver;
        const isDue =
          isNew || (looks >= LOOKS_UNTIL_SAID_AGAIN && (isOver || amounts.some((all) => all !== "0")));
        now.set(key, { expiresAt, balances, isOver, looks: isDue ? 0 : looks });
        if (!isDue) return;
        const byMint = Object.fromEntries(
          assets.tokens.map(({ mint }, position) => [mint, amounts[position]]),
        );
        const event = { type: "BALANCES_READ", slot, blockTime: blockTime * 1_000, balances: byMint };
        due.push({ key, said: { instance, event } });
        if (isOver) ended.add(key);
      });
      const allowed = await undisputed(
        due.map(({ key }) => key),
        ended,
      );
      // Looked at afresh the next time.
      for (const { key } of due) if (!allowed.has(key)) now.delete(key);
      said = now;
      return due.filter(({ key }) => allowed.has(key)).map((each) => each.said);
    },
  };
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

/** What was said of those that are still watched. */
function keptOf(said: ReadonlyMap<string, Said>, watches: readonly WatchRecord[]): Map<string, Said> {
  const kept = new Map<string, Said>();
  for (const { key } of watches) {
    const before = said.get(key);
    if (before !== undefined) kept.set(key, before);
  }
  return kept;
}
