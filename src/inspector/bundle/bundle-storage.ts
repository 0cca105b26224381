/** A bundle as a storage that an inspector reads: one instance, and nothing else. */
import type { InspectedStorage } from "../../engine/inspected-engine.ts";
import type { BundleContent } from "./bundle.ts";

export function bundleStorage({ instance, history, tasks }: BundleContent): InspectedStorage {
  const dead = tasks.filter(({ deadAt }) => deadAt !== null);
  const alive = tasks.filter(({ deadAt }) => deadAt === null);
  const failing = alive.filter(({ failures }) => failures > 0);
  const steps = alive.filter(({ kind }) => kind === "timer" || kind === "message");
  return {
    // How tasks went that have ended is no part of a bundle.
    find: async () => [],
    load: async (id) => (id === instance.id ? instance : null),
    history: async (id, { after, limit }) =>
      id === instance.id ? history.filter(({ version }) => version > after).slice(0, limit) : [],
    list: async ({ order, after }) => (order === "newest" && after === null ? [instance] : []),
    tasks: async (listing) => {
      switch (listing.order) {
        case "instance":
          return listing.instance === instance.id ? tasks.slice(0, listing.limit) : [];
        case "dead":
          return dead.slice(0, listing.limit);
        case "failing":
          return failing.slice(0, listing.limit);
        case "due":
          return listing.workflow === instance.workflow ? steps.slice(0, listing.limit) : [];
        case "parked":
          return alive
            .filter(({ isParked, limits }) => isParked && limits.at(-1)?.key === listing.key)
            .slice(0, listing.limit);
        case "forgotten":
          return [];
        case "workflow":
          return alive.toSorted((a, b) => a.visibleAt - b.visibleAt).slice(0, 1);
      }
    },
  };
}
