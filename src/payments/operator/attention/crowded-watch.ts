/** Finds that nearly as many deposits are waited for as the endpoints permit to be looked at in time. */
import type { WatchStatus } from "../../../engine/index.ts";
import { matterId, type AttentionSource } from "./matter.ts";

/** Told before orders are taken beyond what is permitted: there is time to raise a limit, or to add an endpoint. */
const CROWDED_SHARE = 0.8;
/** The watches whose orders wait for money. */
export const DEPOSIT_KIND = "deposits";

/** Known to this process alone: a process has endpoints with limits of their own, and polls shards of its own. */
export function crowdedWatch(
  watching: () => Readonly<Record<string, WatchStatus>>,
  permitted: () => number | null,
): AttentionSource {
  return async () => {
    const most = permitted();
    const watched = watching()[DEPOSIT_KIND]?.watched ?? 0;
    if (most === null || watched <= most * CROWDED_SHARE) return [];
    return [
      {
        kind: "crowded_watch",
        id: matterId("crowded_watch", DEPOSIT_KIND),
        since: null,
        message:
          `${watched} deposit addresses wait for their deposit, and the endpoints permit ${most} to be looked at within ` +
          "5 seconds: raise requestsPerSecond, add an endpoint or a process; beyond it deposits are seen later",
        actions: [],
      },
    ];
  };
}
