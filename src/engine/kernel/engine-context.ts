/** A process at work on a storage, as the parts of its engine see it. */
import type { AnyWrite, EngineStorage } from "../../../storage/storage.ts";
import type { Clock, Logger } from "../../core/runtime.ts";
import type { AnyWorkflow } from "../../workflow/workflow.ts";

export interface EngineContext {
  readonly storage: EngineStorage;
  readonly clock: Clock;
  readonly log: Logger;
  /** Names this process among the holders of leases. */
  readonly holder: string;
  readonly leaseMs: number;
}

/** Rows of other tables that are written beside the stored charts. */
export interface ChartRows {
  /** For the commit that registers a version of a workflow for the first time. */
  first(workflow: AnyWorkflow): readonly AnyWrite[];
  /** Each as a commit of its own, whenever a process registers its workflows. */
  again(
    storage: Pick<EngineStorage, "find">,
    workflows: readonly AnyWorkflow[],
  ): Promise<readonly AnyWrite[]>;
}
