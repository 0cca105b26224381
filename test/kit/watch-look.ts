/** A look as the engine hands it to a watcher, for tests of a watcher alone: it notes what is told and what is missed. */
import type { WatchRecord } from "../../src/workflow/watch-rows.ts";
import type { PollContext, WatchEvent } from "../../src/engine/index.ts";

/** What became of one look, or of several. */
export interface NotedLook extends PollContext {
  /** In the order it was told. */
  readonly told: WatchEvent[];
  readonly left: WatchRecord[];
  /** Instances that cannot be told anything. */
  readonly deaf: Set<string>;
}

/** A look whose time is over when the signal aborts. */
export function notedLook(signal: AbortSignal = new AbortController().signal): NotedLook {
  const told: WatchEvent[] = [];
  const left: WatchRecord[] = [];
  const deaf = new Set<string>();
  return {
    told,
    left,
    deaf,
    signal,
    tell: async (events) => {
      told.push(...events.filter(({ instance }) => !deaf.has(instance)));
      return events.filter(({ instance }) => deaf.has(instance));
    },
    missed: (watches) => left.push(...watches),
  };
}
