/** Jobs: an event for each of many instances, by a chart of the engine's own that tells them page by page. */
import type { EngineModule } from "../../engine-module.ts";
import { jobActs } from "./each-acts.ts";
import { eachCalls, eachCommands } from "./each-commands.ts";
import { eachWorkflow } from "./each-workflow.ts";

export const jobs: EngineModule = {
  name: "jobs",
  needs: ["search"],
  workflows: (storage) => [eachWorkflow(storage)],
  begin(engine) {
    const calls = eachCalls(engine);
    return {
      calls: eachCommands(engine.storage.forHost(calls)),
      acts: jobActs({
        workflows: engine.workflows,
        begin: (order, once) => calls.beginEach(order, once === undefined ? {} : { id: `each-${once}` }),
      }),
    };
  },
};
