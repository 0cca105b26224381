/** Following the attempts at a payment: an answer that comes late must not be taken for one about the next attempt. */
import type { Watcher } from "../../engine/index.ts";

/** As the given watch of signatures, with each event saying which signature it is about. */
export function watchAttempts(landing: Watcher): Watcher {
  return {
    intervalMs: landing.intervalMs,
    poll: async (watches, signal) => {
      const signatures = new Map(watches.map(({ instance, key }) => [instance, key]));
      const events = await landing.poll(watches, signal);
      return events.map(({ instance, event }) => ({
        instance,
        event: { ...event, about: signatures.get(instance) },
      }));
    },
  };
}
