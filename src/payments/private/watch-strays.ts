/** Looking now and then beside the associated accounts of addresses that wait for their deposit. */
import type { PaymentStorage } from "../../../storage/storage.ts";
import type { Watcher, WatchEvent } from "../../engine/index.ts";
import { LedgerUnavailable } from "../../ledger/ledger.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Clock } from "../../runtime.ts";
import type { Assets } from "../assets.ts";
import { strayDeposits } from "./collect-strays.ts";

/** Few deposits go astray, and each address costs a call of its own: so many a look, and none sooner than this. */
const LOOKS_AT_ONCE = 4;
const PAUSE_MS = 2 * 60_000;

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
  /** When each address was last looked at, or first heard of; the longest ago first. */
  let lookedAt = new Map<string, number>();

  const hasStrays = async (address: string): Promise<boolean> => {
    const [deposit] = await storage.deposits([address]);
    if (deposit === undefined || deposit.heldReason !== null) return false;
    const expected = assets.named(deposit.mint);
    const found = await strayDeposits({ ledger, assets }, address, [expected], "finalized");
    return found.deposits.length > 0;
  };

  return {
    intervalMs: deposits.intervalMs,
    poll: async (watches, signal) => {
      const events = await deposits.poll(watches, signal);
      const now = clock.now();
      const waiting = new Map(watches.map(({ key, instance }) => [key, instance]));
      const known = [...lookedAt].filter(([address]) => waiting.has(address));
      const fresh = [...waiting.keys()].filter((address) => !lookedAt.has(address));
      lookedAt = new Map([...known, ...fresh.map((address) => [address, now] as const)]);
      const due = known.filter(([, at]) => now - at >= PAUSE_MS).slice(0, LOOKS_AT_ONCE);
      const found = await Promise.all(
        due.map(async ([address]): Promise<WatchEvent[]> => {
          lookedAt.delete(address);
          lookedAt.set(address, now);
          const isThere = await hasStrays(address).catch(unlessSilent);
          return isThere ? [{ instance: waiting.get(address) ?? "", event: { type: "STRAY_SEEN" } }] : [];
        }),
      );
      return [...events, ...found.flat()];
    },
  };
}

/** What the other watch has found out is not lost over this. */
function unlessSilent(error: unknown): false {
  if (error instanceof LedgerUnavailable) return false;
  throw error;
}
