/** What a viewer sees of a running engine: its charts, and reads of what is stored. */
import type { EngineStorage } from "../../storage/storage.ts";
import type { AnyWorkflow } from "./workflow.ts";

/** The reads of a storage that a viewer needs. None of them writes or takes a lease. */
export type InspectedStorage = Pick<
  EngineStorage,
  "load" | "history" | "pending" | "newestInstances" | "deadLetters" | "failingTasks" | "earliestTasks"
>;

/** An engine as a viewer sees it. */
export interface Inspected {
  readonly workflows: readonly AnyWorkflow[];
  readonly storage: InspectedStorage;
  /** Whether it works with real money: then only viewers whom the host admits see it. */
  isProduction(): boolean;
}
