/** Retention: how long ended instances are kept, and the archive that gets them before they go. */
import type { EngineModule } from "../../engine-module.ts";
import { InstanceRetentionLoop, type RetentionStatus } from "./retention.ts";

/** The members that retention adds to an engine. */
export interface RetentionCalls {
  /** The retention of ended instances, with the size of the storage. Rejects when the storage does. */
  retention(): Promise<RetentionStatus>;
}

export const retention: EngineModule = {
  name: "retention",
  begin(engine) {
    const { keep, archive = null, clock } = engine.options;
    // By the host's own clock: what is trusted is judged of it.
    const loop = new InstanceRetentionLoop({ ...engine, clock, keepMs: keep?.finished ?? null, archive });
    const calls: RetentionCalls = engine.storage.forHost({ retention: () => loop.standingWithStorage() });
    return { calls, loop };
  },
};
