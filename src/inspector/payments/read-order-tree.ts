/** An order as a tree: what its module shows of it, and its notices with their deliveries. */
import type { InspectedPaymentParts } from "../../payments/payment-storage.ts";
import type { TransactionView } from "../../payments/frame/tables/orders.ts";
import type { NoticeRecord } from "../../payments/frame/tables/notices.ts";
import type { DeliveryRecord } from "../../payments/webhooks/tables.ts";
import { firstShown } from "./module-views.ts";
import { bounded, branch, type OrderPart } from "./order-part.ts";

export async function readOrderTree(
  payments: InspectedPaymentParts,
  { transaction }: TransactionView,
): Promise<OrderPart> {
  const { reads } = payments;
  const { id, status, type, mode, signature } = transaction;
  const [notices, deliveries, own] = await Promise.all([
    reads.notices(id),
    reads.deliveries(id),
    firstShown((module) => module.branch(payments, id)),
  ]);
  const told = bounded(notices, "notices", (notice) =>
    noticeBranch(
      notice,
      deliveries.filter(({ noticeId }) => noticeId === notice.id),
    ),
  );
  const note = signature === null ? null : `signature ${signature}`;
  return branch({
    is: `${type}, ${mode} mode`,
    id,
    state: status,
    note,
    below: [...(own === null ? [] : [own]), ...told],
  });
}

function noticeBranch({ event }: NoticeRecord, deliveries: readonly DeliveryRecord[]): OrderPart {
  const state = deliveries.length === 0 ? "for no webhook" : `for ${deliveries.length}`;
  return branch({ is: `notice: ${event}`, state, below: bounded(deliveries, "deliveries", deliveryBranch) });
}

function deliveryBranch({ id, webhookId, status, attempts }: DeliveryRecord): OrderPart {
  const note = attempts === 1 ? "1 attempt" : `${attempts} attempts`;
  return branch({ is: "delivery", id, webhook: webhookId, state: status, note });
}
