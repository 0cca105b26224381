/** The view of a payment service for the inspector, besides its charts. */
import type { Assets } from "./assets/assets.ts";
import type { PaymentReads } from "./payment-storage.ts";

/** Named reads of the service's tables, and what its amounts are of. */
export interface InspectedPaymentParts {
  readonly reads: PaymentReads;
  readonly assets: Pick<Assets, "ofMint">;
}
