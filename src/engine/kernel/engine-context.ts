/** A process at work on a storage, as the parts of its engine see it. */
import type { EngineStorage } from "../../../storage/storage.ts";
import type { Clock, Logger } from "../../core/runtime.ts";

export interface EngineContext {
  readonly storage: EngineStorage;
  readonly clock: Clock;
  readonly log: Logger;
  /** Names this process among the holders of leases. */
  readonly holder: string;
  readonly leaseMs: number;
}
