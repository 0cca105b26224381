/** Watching: the host's watchers poll the outside world on behalf of instances, each kind by itself. */
import type { EngineModule } from "../../engine-module.ts";
import { givenEvent } from "../../kernel/given-events.ts";
import { begunKinds, watchRows } from "../../../workflow/watch-rows.ts";
import type { WatchStatus } from "../../watcher-options.ts";
import { WatchLoop } from "./watch-loop.ts";

/** The members that watching adds to an engine. */
export interface WatchingCalls {
  /** The watches in this process by kind: their number, and the longest wait. Empty while the engine does not run. */
  watching(): Readonly<Record<string, WatchStatus>>;
}

export const watching: EngineModule = {
  name: "watching",
  neededBy: ["src/payments"],
  tables: [watchRows],
  begin(engine) {
    const { steps, options } = engine;
    const loop = new WatchLoop(options.watchers ?? {}, {
      ...engine,
      send: ({ instance, event }, by) => steps.send(instance, givenEvent(event), by),
    });
    const calls: WatchingCalls = { watching: () => loop.standing() };
    return {
      calls,
      loop,
      began: () => loop.stir(),
      committed({ writes }) {
        for (const kind of begunKinds(writes)) loop.armed(kind);
      },
    };
  },
};
