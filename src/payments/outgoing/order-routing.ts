/** Routing a funded order: whichever way its money takes, the order hears how many payments it has to wait for. */
import type { PaymentFault, PrivateTransferEvent } from "../../../machines/index.ts";
import type { EffectOutcome } from "../../engine/index.ts";
import type { PaymentTables } from "../tables.ts";

/** The result of planning payouts: their starts, their rows and the count for the order, in one commit. */
export type RoutingOutcome = EffectOutcome<
  Extract<PrivateTransferEvent, { readonly type: "ROUTED" | "NOT_NOW" }>,
  PaymentTables
>;

export interface OrderRouting {
  /** Plans the payouts of all recipients of an order. */
  route(transactionId: string): Promise<RoutingOutcome>;
  /** Plans what comes in the place of a failed payout. */
  reroute(transactionId: string, payment: string, fault: PaymentFault | null): Promise<RoutingOutcome>;
}
