/** `payment` acted out: signing, sending, and reading what the chain made of it. */
import { payment, type PaymentEvent } from "../../../machines/payment.ts";
import type { PaymentTables } from "../tables.ts";
import type { PaymentRecord } from "../tables/payments.ts";
import type { PaymentWrite } from "../payment-storage.ts";
import { workflow } from "../../engine/index.ts";
import { releaseReserved, settleReserved } from "../swap-provider/reserve.ts";
import type { PaymentEffects } from "./payment-effects.ts";
import type { PaymentWorkflow } from "./planned-payment.ts";

export function paymentWorkflow(effects: PaymentEffects): PaymentWorkflow {
  return workflow(payment)<PaymentTables>({
    version: 1,
    effects: {
      sign: ({ paymentId }, { failures }) => effects.sign(paymentId, failures),
      broadcast: ({ signature }) => effects.broadcast(signature),
      readMarker: ({ paymentId, error }) => effects.readMarker(paymentId, error),
      explain: ({ paymentId }) => effects.explain(paymentId),
      hold: ({ paymentId }) => effects.hold(paymentId),
      startLeaves: ({ paymentId }) => effects.startLeaves(paymentId),
    },
    watches: { attempts: ({ signature }) => signature ?? "" },
    project: ({ id, before, after, event }, at) => {
      const status = STATUS_OF[stateOf(after.value)];
      const overtaken = event?.type === "OVERTAKEN" ? rivalWrites(after.context.order, event) : [];
      if (before === null || status === undefined) return overtaken;
      const { signature, fault, reservations = [], order, indexes } = after.context;
      const isOvertaken = event?.type === "OVERTAKEN";
      const reason = isOvertaken ? "superseded" : (fault?.kind ?? null);
      return [
        ...overtaken,
        { table: "payments", id, set: { status, signature, reason, ...(isOver(status) ? OVER : {}) } },
        ...(status === "finalized" ? paidWrites(order, indexes, signature) : []),
        ...(status === "finalized" ? settleReserved(reservations, at) : []),
        ...(status === "failed" ? releaseReserved(reservations, at) : []),
      ];
    },
  });
}

/** Records that the rival payment landed, whatever the rival's own machine concluded. */
function rivalWrites(
  order: string,
  { payment: rival, signature, indexes }: Extract<PaymentEvent, { type: "OVERTAKEN" }>,
): readonly PaymentWrite[] {
  const set = { status: "finalized", signature, reason: null, ...OVER } as const;
  return [{ table: "payments", id: rival, set }, ...paidWrites(order, indexes, signature)];
}

function paidWrites(
  order: string,
  indexes: readonly number[],
  signature: string | null,
): readonly PaymentWrite[] {
  return indexes.map((index) => ({
    table: "recipients",
    id: `${order}:${index}`,
    set: { status: "paid", signature },
  }));
}

/** Nothing is tried any more. */
const OVER = { stuckSince: null };

function isOver(status: PaymentRecord["status"]): boolean {
  return status === "finalized" || status === "failed";
}

const STATUS_OF: Readonly<Record<string, PaymentRecord["status"]>> = {
  "inFlight.signed": "broadcast",
  "inFlight.following": "confirmed",
  "inFlight.confirmed": "confirmed",
  finalized: "finalized",
  failed: "failed",
};

function stateOf(value: unknown): string {
  if (typeof value === "string") return value;
  return Object.entries(value as Record<string, string>)
    .flat()
    .join(".");
}
