/** Starts payments from plans: the row and the start of the machine, for the deciding commit. */
import type { payment, PaymentRole, PaymentFault, PrivateTransferEvent } from "../../../machines/index.ts";
import type { PaymentTables } from "../tables.ts";
import type { PaymentRecord } from "../tables/payments.ts";
import type { PaymentWrite } from "../payment-storage.ts";
import { startOf, type StartRequest, type Workflow, type EffectOutcome } from "../../engine/index.ts";
import type { Address } from "../../address.ts";
import type { Clock } from "../../runtime.ts";
import { derivedId } from "../ids.ts";
import type { ReservationResult } from "../swap-provider/reserve.ts";
import { writePlan, type StoredPlan } from "./plans/stored-plan.ts";

/** Pause before what may pass by itself (an empty sponsor, a node's mood) is tried again. */
const RETRY_PAUSE_MS = 30_000;

/** The registered chart of payments that the service signs. */
export type PaymentWorkflow = Workflow<typeof payment, PaymentTables>;

/** A planned payment: payer, recipients and amounts. */
export interface PlannedPayment {
  readonly transactionId: string;
  readonly address: Address;
  readonly kind: PaymentRecord["kind"];
  /** Names this payment within its address, once. */
  readonly mark: string;
  readonly mint: string;
  readonly legs: PaymentRecord["legs"];
  readonly plan: StoredPlan;
  readonly role: PaymentRole;
  /** The reservation for the payment, by its id. */
  readonly reserve?: (paymentId: string) => ReservationResult;
}

/** Parts of the commit that starts a payment: the machine's start, the row, and the reservations. */
interface StartedPayment {
  readonly start: StartRequest;
  readonly write: PaymentWrite;
  readonly reserved: ReservationResult["writes"];
}

/** The id follows from address and mark: planning a payment twice gives the same id. */
export type StartPayment = (planned: PlannedPayment) => StartedPayment;

/** `workflow` is asked for late, since payments start payments. */
export function paymentStarter(workflow: () => PaymentWorkflow, clock: Clock): StartPayment {
  return (planned) => {
    const { transactionId, address, kind, mark, mint, legs, plan, role } = planned;
    const id = derivedId("pay", transactionId, address, mark);
    const reserved = planned.reserve?.(id) ?? { names: [], writes: [] };
    const leaves = plan.leaves?.flatMap(({ indexes }) => indexes) ?? [];
    const start = startOf(workflow(), id, {
      paymentId: id,
      address,
      order: transactionId,
      role,
      indexes: plan.indexes,
      recipients: plan.indexes.length + leaves.length + (plan.leftOut?.length ?? 0),
      movements: plan.movements,
      retryPauseMs: RETRY_PAUSE_MS,
      reservations: reserved.names.map((each) => each.id),
    });
    const row: PaymentRecord = {
      id,
      transactionId,
      address,
      kind,
      mark,
      mint,
      legs,
      plan: writePlan(plan),
      status: "planned",
      signature: null,
      reason: null,
      createdAt: clock.now(),
      stuckSince: null,
    };
    return { start, write: { table: "payments", insert: row }, reserved: reserved.writes };
  };
}

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
