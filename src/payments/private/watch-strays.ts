/** Looking now and then beside the associated accounts of addresses that wait for their deposit. */
import type { WatchRecord } from "../../../storage/storage.ts";
import type { PaymentStorage } from "../payment-storage.ts";
import type { Watcher } from "../../engine/index.ts";
import { LedgerUnavailable } from "../../ledger/ledger.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Clock } from "../../runtime.ts";
import type { Assets } from "../assets/assets.ts";
import { strayDeposits } from "./collect-strays.ts";

/** Few deposits go astray, and each address costs a call of its own: so many an interval, and none sooner than this. */
const LOOKS_AT_ONCE = 4;
const PAUSE_MS = 2 * 60_000;
/** An address that the watch of deposits was not given for so long is watched no more. */
const FORGET_AFTER_MS = 60_000;

/** An address that waits, in the memory of this watch. */
interface Waiting {
  readonly instance: string;
  /** When it was last looked at, or first heard of. */
  readonly since: number;
  heardAt: number;
}

/**
 * The given watch of deposits, which sees associated accounts only, and with it in turn a few addresses whole. Whatever
 * is not found by it is found at the end of the window.
 */
export function watchStrays(
  deposits: Watcher,
  {
    storage,
    ledger,
    clock,
    assets,
  }: {
    readonly storage: PaymentStorage;
    readonly ledger: Ledger;
    readonly clock: Clock;
    readonly assets: Assets;
  },
): Watcher {
  /** By address, the one looked at longest ago first. */
  const waiting = new Map<string, Waiting>();
  let nextAt = 0;

  const hear = (watches: readonly WatchRecord[], now: number): void => {
    for (const { key, instance } of watches) {
      const known = waiting.get(key);
      if (known === undefined) waiting.set(key, { instance, since: now, heardAt: now });
      else known.heardAt = now;
    }
  };

  /** The addresses to look at now, longest ago first; they count as looked at. */
  const due = (now: number): readonly (readonly [string, Waiting])[] => {
    if (now < nextAt) return [];
    nextAt = now + deposits.intervalMs;
    const found: (readonly [string, Waiting])[] = [];
    for (const [address, each] of waiting) {
      if (found.length === LOOKS_AT_ONCE || now - each.since < PAUSE_MS) break;
      waiting.delete(address);
      if (now - each.heardAt <= FORGET_AFTER_MS + deposits.intervalMs) found.push([address, each]);
    }
    for (const [address, each] of found) waiting.set(address, { ...each, since: now });
    return found;
  };

  const hasStrays = async (address: string): Promise<boolean> => {
    const [deposit] = await storage.deposits([address]);
    if (deposit === undefined || deposit.heldReason !== null) return false;
    const expected = assets.named(deposit.mint);
    const found = await strayDeposits({ ledger, assets }, address, [expected], "finalized");
    return found.deposits.length > 0;
  };

  return {
    ...deposits,
    poll: async (watches, look) => {
      const events = await deposits.poll(watches, look);
      const now = clock.now();
      hear(watches, now);
      await Promise.all(
        due(now).map(async ([address, { instance }]) => {
          const isThere = await hasStrays(address).catch(unlessSilent);
          if (isThere) await look.tell([{ instance, event: { type: "STRAY_SEEN" } }]);
        }),
      );
      return events;
    },
  };
}

/** What the other watch has found out is not lost over this. */
function unlessSilent(error: unknown): false {
  if (error instanceof LedgerUnavailable) return false;
  throw error;
}
