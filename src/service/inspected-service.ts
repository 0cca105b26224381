/** A payment service as a viewer sees it. */
import type { InspectedEngine } from "../engine/inspected-engine.ts";
import type { InspectedPaymentParts } from "../payments/inspected-payments.ts";
import type { LedgerCallReads } from "./ledger-call-history.ts";
import type { Health } from "./read-health.ts";

/** The engine with its charts, and the payments. */
export interface InspectedService extends InspectedEngine {
  readonly payments: InspectedPaymentParts;
  /** Health, at most a second old. Never rejects. */
  readonly health: () => Promise<Health>;
  /** Ledger calls of this process's tasks. */
  readonly calls: LedgerCallReads;
}
