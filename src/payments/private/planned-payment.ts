/** From a plan to a payment: its row, and the start of its machine, for the commit that decides on it. */
import type { PaymentRecord } from "../../../storage/records.ts";
import type { PaymentWrite } from "../../../storage/storage.ts";
import { startOf } from "../../engine/index.ts";
import type { StartRequest } from "../../engine/index.ts";
import { derivedId } from "../ids.ts";
import type { Reserved } from "../swap/reserve.ts";
import type { PaymentWorkflow } from "./payment-workflow.ts";
import { writePlan } from "./stored-plan.ts";
import type { StoredPlan } from "./stored-plan.ts";

/** Pause before what may pass by itself (an empty sponsor, a node's mood) is tried again. */
const RETRY_PAUSE_MS = 30_000;

/** Who pays what to whom. */
export interface PlannedPayment {
  readonly transactionId: string;
  readonly address: string;
  readonly kind: PaymentRecord["kind"];
  /** Words that name this payment once and for ever within its address. */
  readonly mark: string;
  readonly mint: string;
  readonly legs: PaymentRecord["legs"];
  readonly plan: StoredPlan;
  /** Whether the order waits for it. */
  readonly isAwaited: boolean;
  /** What is set aside for it, by its id. */
  readonly reserve?: (paymentId: string) => Reserved;
}

/** The id follows from address and words: planning the same payment twice names the same one. */
export function startPayment(
  workflow: PaymentWorkflow,
  planned: PlannedPayment,
  createdAt: number,
): { readonly start: StartRequest; readonly write: PaymentWrite; readonly reserved: Reserved["writes"] } {
  const { transactionId, address, kind, mark, mint, legs, plan, isAwaited } = planned;
  const id = derivedId("pay", address, mark);
  const reserved = planned.reserve?.(id) ?? { names: [], writes: [] };
  return {
    reserved: reserved.writes,
    start: startOf(workflow, id, {
      paymentId: id,
      address,
      order: isAwaited ? transactionId : null,
      indexes: plan.indexes,
      movements: plan.movements,
      retryPauseMs: RETRY_PAUSE_MS,
      reservations: reserved.names.map((each) => each.id),
    }),
    write: {
      table: "payments",
      insert: {
        id,
        transactionId,
        address,
        kind,
        status: "planned",
        mark,
        mint,
        legs,
        plan: writePlan(plan),
        signature: null,
        reason: null,
        createdAt,
      },
    },
  };
}
