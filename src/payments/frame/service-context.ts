/** The context that all use cases of the payment service share: storage, ledger, clock and random source. */
import type { DisputeList } from "../../ledger/disputes.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Clock, Logger, Random } from "../../core/runtime.ts";
import type { Assets } from "./assets/assets.ts";
import type { FrameStorage } from "./frame-storage.ts";

/** Made once for each service and given to every use case, which names the parts that it needs. A module names its own storage. */
export interface ServiceContext<Storage extends FrameStorage = FrameStorage> {
  readonly storage: Storage;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly random: Random;
  readonly assets: Assets;
  /** Disagreements between endpoints, for use cases that compare answers themselves. */
  readonly disputes: DisputeList;
  /** Shows no secret; see `redactingLogger`. */
  readonly log: Logger;
}

/**
 * The time for quotes, on which processes whose clocks differ agree: the database's clock if it has one, else this process's.
 */
export async function storageTime({
  storage,
  clock,
}: Pick<ServiceContext, "clock"> & {
  readonly storage: Pick<ServiceContext["storage"], "time">;
}): Promise<number> {
  const now = clock.now();
  return (await storage.time?.(now)) ?? now;
}
