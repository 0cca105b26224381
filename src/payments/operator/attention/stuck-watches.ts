/** Finds kinds of watches that this process polls and that have had no answer for too long. */
import type { WatchStatus } from "../../../engine/index.ts";
import type { Clock } from "../../../runtime.ts";
import { matterId, type AttentionSource } from "./matter.ts";

/** A node that restarts is back sooner. */
const STUCK_MS = 5 * 60_000;

/** Known to this process alone: another one polls other shards. */
export function stuckWatches(
  watching: () => Readonly<Record<string, WatchStatus>>,
  clock: Clock,
): AttentionSource {
  return async (limit) =>
    Object.entries(watching())
      .filter(([, { lateMs }]) => lateMs >= STUCK_MS)
      .slice(0, limit)
      .map(([kind, { watched, oldestMs }]) => ({
        kind: "stuck_watch",
        id: matterId("stuck_watch", kind),
        since: clock.now() - oldestMs,
        message: `nothing was found out about some of ${watched} watches (${kind}): see the log for what the nodes answer`,
        actions: [],
      }));
}
