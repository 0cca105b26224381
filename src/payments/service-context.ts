/** The context that all use cases of the payment service share: storage, ledger, clock and random source. */
import type { DisputeList } from "../ledger/disputes.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Clock, Logger, Random } from "../runtime.ts";
import type { Assets } from "./assets/assets.ts";
import type { PaymentStorage } from "./payment-storage.ts";

/** Made once for each service and given to every use case, which names the parts that it needs. */
export interface ServiceContext {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly random: Random;
  readonly assets: Assets;
  /** Disagreements between endpoints, for use cases that compare answers themselves. */
  readonly disputes: DisputeList;
  /** Shows no secret; see `redactingLogger`. */
  readonly log: Logger;
}
