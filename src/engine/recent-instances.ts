/** What this process last committed of an instance, so that the next step of a busy one need not be read. */
import type { InstanceRecord } from "../../storage/storage.ts";

/** As much of a stored instance as a step is decided from. */
export type KnownInstance = Pick<
  InstanceRecord,
  "id" | "workflow" | "hash" | "version" | "status" | "snapshot"
>;

/**
 * Another process may have moved the instance on since. So what is known here may only lead to a commit, which is
 * refused when it is out of date; who would conclude that nothing is to be done looks into the storage first.
 */
export interface RecentInstances {
  /** Hands out what is known and forgets it: whatever goes wrong with it, the next look is at the storage. */
  take(id: string): KnownInstance | undefined;
  /** Remembers it, unless it is done: nothing will be asked of it any more. */
  keep(instance: KnownInstance): void;
  has(id: string): boolean;
}

// Somewhat more than are under way at once; with contexts of a kilobyte, four megabytes.
const MOST_KNOWN = 4_096;

export function createRecentInstances(): RecentInstances {
  const known = new Map<string, KnownInstance>();
  return {
    has: (id) => known.has(id),
    take(id) {
      const instance = known.get(id);
      known.delete(id);
      return instance;
    },
    keep(instance) {
      if (instance.status === "done") return;
      known.set(instance.id, instance);
      if (known.size <= MOST_KNOWN) return;
      for (const oldest of known.keys()) {
        known.delete(oldest);
        return;
      }
    },
  };
}
