/** Shows the notices of transactions with their deliveries, and the attempts of these. */
// modules: webhooks
import type { InspectedPaymentParts } from "../../payments/payment-storage.ts";
import type { NoticeRecord } from "../../payments/frame/tables/notices.ts";
import type { DeliveryRecord } from "../../payments/webhooks/tables.ts";
import type { ModuleView } from "./module-view.ts";
import { bounded, branch, type OrderPart } from "./order-part.ts";
import { readDeliveries } from "./read-webhooks.ts";

export const webhooksView: ModuleView = {
  transactionOf: async ({ reads }, instance) => (await reads.delivery(instance))?.transactionId ?? null,
  async relations({ reads }, transactionId) {
    return (await reads.deliveries(transactionId)).map(({ id }) => [id, "delivery"] as const);
  },
  flows: async () => null,
  async branches({ reads }, transactionId) {
    const [notices, deliveries] = await Promise.all([
      reads.notices(transactionId),
      reads.deliveries(transactionId),
    ]);
    return bounded(notices, "notices", (notice) =>
      noticeBranch(
        notice,
        deliveries.filter(({ noticeId }) => noticeId === notice.id),
      ),
    );
  },
  async search({ reads }, text) {
    const delivery = await reads.delivery(text);
    return delivery === null ? [] : [[delivery.transactionId, "its delivery"] as const];
  },
  troubles,
  /** An order shows all its attempts, a delivery its own, and other instances nothing. */
  async calls(payments, instance, { transactionId, redact }) {
    if (instance === transactionId) return readDeliveries(payments, transactionId, { only: null, redact });
    const delivery = await payments.reads.delivery(instance);
    return delivery === null ? [] : readDeliveries(payments, transactionId, { only: instance, redact });
  },
};

function noticeBranch({ event }: NoticeRecord, deliveries: readonly DeliveryRecord[]): OrderPart {
  const state = deliveries.length === 0 ? "for no webhook" : `for ${deliveries.length}`;
  return branch({ is: `notice: ${event}`, state, below: bounded(deliveries, "deliveries", deliveryBranch) });
}

function deliveryBranch({ id, webhookId, status, attempts }: DeliveryRecord): OrderPart {
  const note = attempts === 1 ? "1 attempt" : `${attempts} attempts`;
  const to = { words: "to the webhook", page: "webhook", id: webhookId };
  return branch({ is: "delivery", id, to, state: status, note });
}

async function troubles(
  { reads }: InspectedPaymentParts,
  limit: number,
): Promise<readonly (readonly [id: string, trouble: string])[]> {
  const [abandoned, retried] = await Promise.all([
    reads.abandonedDeliveries(limit),
    reads.retriedDeliveries(limit),
  ]);
  const given = await Promise.all(
    abandoned.map(async ({ webhookId }) => reads.deliveriesTo(webhookId, { below: null, limit })),
  );
  return [
    ...given
      .flat()
      .filter(({ status }) => status === "abandoned")
      .map(({ id }) => [id, "its webhook did not take it, and it is no longer tried"] as const),
    ...retried.map(({ id, attempts }) => {
      const times = attempts === 1 ? "one attempt" : `${attempts} attempts`;
      return [id, `its webhook did not take it in ${times}; it is tried again`] as const;
    }),
  ];
}
