/** A bundle as a storage that an inspector reads: one instance, and nothing else. */
import type { InspectedStorage } from "../../engine/inspected.ts";
import type { BundleContent } from "./bundle.ts";

export function bundleStorage({ instance, history, pending }: BundleContent): InspectedStorage {
  const dead = pending.tasks.filter(({ deadAt }) => deadAt !== null);
  const alive = pending.tasks.filter(({ deadAt }) => deadAt === null);
  const failing = alive.filter(({ failures }) => failures > 0);
  const dues = alive.map(({ dueAt }) => dueAt);
  return {
    // How tasks went that have ended is no part of a bundle.
    find: async () => [],
    load: async (id) => (id === instance.id ? instance : null),
    history: async (id, { after, limit }) =>
      id === instance.id ? history.filter(({ version }) => version > after).slice(0, limit) : [],
    pending: async (id) => (id === instance.id ? pending : { tasks: [], watches: [] }),
    newestInstances: async ({ before }) => (before === null ? [instance] : []),
    deadLetters: async (limit) => dead.slice(0, limit).map((task) => ({ ...task, since: task.deadAt ?? 0 })),
    failingTasks: async (_least, limit) =>
      failing.slice(0, limit).map((task) => ({ ...task, since: task.dueAt })),
    earliestTasks: async () =>
      dues.length === 0 ? [] : [{ workflow: instance.workflow, dueAt: Math.min(...dues) }],
    upcomingSteps: async (workflow, limit) =>
      workflow === instance.workflow
        ? alive.filter(({ kind }) => kind === "timer" || kind === "message").slice(0, limit)
        : [],
  };
}
