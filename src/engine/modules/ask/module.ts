/** Ask: an event and the state that follows it, in one call. */
import type { EngineModule } from "../../engine-module.ts";
import { askCommands } from "./ask.ts";

export const ask: EngineModule = {
  name: "ask",
  begin: (engine) => ({ calls: engine.storage.forHost(askCommands(engine)) }),
};
