/** A payment service as a viewer sees it. */
import type { Inspected } from "../engine/inspected.ts";
import type { InspectedPayments } from "../payments/inspected-payments.ts";
import type { SeenLedgerCalls } from "./ledger-calls.ts";
import type { Health } from "./read-health.ts";

/** The engine with its charts, and the payments. */
export interface InspectedService extends Inspected {
  readonly payments: InspectedPayments;
  /** Health, at most a second old. Never rejects. */
  readonly health: () => Promise<Health>;
  /** Ledger calls of this process's tasks. */
  readonly calls: SeenLedgerCalls;
}
