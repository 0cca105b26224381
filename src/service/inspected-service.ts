/** A payment service as a viewer sees it. */
import type { InspectedEngine } from "../engine/inspected-engine.ts";
import type { InspectedPaymentParts } from "../payments/inspected-payments.ts";
import type { LedgerCallReads } from "./ledger-call-history.ts";
import type { Health } from "./read-health.ts";

/** The engine with its charts, and the payments. */
export interface InspectedService extends InspectedEngine {
  readonly payments: InspectedPaymentParts;
  /** As it was read no longer than a second ago. Never rejects. */
  readonly health: () => Promise<Health>;
  /** What tasks of this process have asked the ledger. */
  readonly calls: LedgerCallReads;
}
