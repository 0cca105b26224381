/** Rates: how many effects and promises of a key begin within a span of time, and `setLimit`. */
import type { EngineModule } from "../../engine-module.ts";
import { limitCommands } from "./limit-commands.ts";
import { RateLimit, storedStarts } from "./rate-limit.ts";

export const rates: EngineModule = {
  name: "rates",
  tables: [storedStarts],
  begin(engine) {
    const { storage, clock, secondKeys } = engine;
    const starts = new RateLimit(engine);
    return {
      calls: storage.forHost(limitCommands({ storage, now: () => clock.now(), secondKeys })),
      before: (limits) => starts.take(limits.map(({ key, rate = null }) => ({ key, rate }))),
    };
  },
};
