/** What the use cases of the payment service have in common: where rows, money, time and chance come from. */
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
  /** What endpoints tell differently, where a use case compares their answers itself. */
  readonly disputes: DisputeList;
  /** Shows no secret; see `redactingLogger`. */
  readonly log: Logger;
}
