/** An order as a tree: its deposit address with the payments out of it, and its notices with their deliveries. */
import type { InspectedStorage } from "../../engine/inspected-engine.ts";
import type { InspectedPaymentParts } from "../../payments/service-context.ts";
import type { NoticeRecord } from "../../payments/tables/notices.ts";
import type { TransactionView } from "../../payments/tables/orders.ts";
import type { PaymentRecord } from "../../payments/tables/payments.ts";
import type { DeliveryRecord } from "../../payments/tables/webhooks.ts";
import { valueOf } from "../read-instances.ts";
import { stateWords } from "../show-values.ts";

/** A branch of an order's tree. */
export interface OrderPart {
  /** The kind, such as `deposit address`. */
  readonly is: string;
  /** The instance with a page of its own; null where the branch has none. */
  readonly id: string | null;
  /** The webhook of a delivery; null for any other branch. */
  readonly webhook: string | null;
  readonly state: string;
  /** A short addition, such as a signature; null without one. */
  readonly note: string | null;
  readonly below: readonly OrderPart[];
}

/** A payroll has hundreds of payments, and its page says how many more there are. */
const MAX_BRANCHES = 50;

export async function readOrderTree(
  { reads }: Pick<InspectedPaymentParts, "reads">,
  storage: Pick<InspectedStorage, "load">,
  { transaction, payments }: TransactionView,
): Promise<OrderPart> {
  const { id, depositAddress, status, type, mode, signature } = transaction;
  const [notices, deliveries, address] = await Promise.all([
    reads.notices(id),
    reads.deliveries(id),
    depositAddress === null ? null : storage.load(depositAddress),
  ]);
  const told = bounded(notices, "notices", (notice) =>
    noticeBranch(
      notice,
      deliveries.filter(({ noticeId }) => noticeId === notice.id),
    ),
  );
  const paid = bounded(payments, "payments", paymentBranch);
  const state = address === null ? "not stored" : stateWords(valueOf(address));
  const ofAddress =
    depositAddress === null
      ? paid
      : [branch({ is: "deposit address", id: depositAddress, state, below: paid })];
  const note = signature === null ? null : `signature ${signature}`;
  return branch({ is: `${type}, ${mode} mode`, id, state: status, note, below: [...ofAddress, ...told] });
}

function branch(own: Pick<OrderPart, "is" | "state"> & Partial<OrderPart>): OrderPart {
  return { id: null, webhook: null, note: null, below: [], ...own };
}

function bounded<Item>(
  items: readonly Item[],
  name: string,
  branchOf: (item: Item) => OrderPart,
): readonly OrderPart[] {
  const more = items.length - MAX_BRANCHES;
  const shown = items.slice(0, MAX_BRANCHES).map(branchOf);
  return more > 0 ? [...shown, branch({ is: `${more} more ${name}`, state: "not shown here" })] : shown;
}

function paymentBranch({ id, kind, status, signature }: PaymentRecord): OrderPart {
  const note = signature === null ? null : `last signed as ${signature}`;
  return branch({ is: `payment: ${kind}`, id, state: status, note });
}

function noticeBranch({ event }: NoticeRecord, deliveries: readonly DeliveryRecord[]): OrderPart {
  const state = deliveries.length === 0 ? "for no webhook" : `for ${deliveries.length}`;
  return branch({ is: `notice: ${event}`, state, below: bounded(deliveries, "deliveries", deliveryBranch) });
}

function deliveryBranch({ id, webhookId, status, attempts }: DeliveryRecord): OrderPart {
  const note = attempts === 1 ? "1 attempt" : `${attempts} attempts`;
  return branch({ is: "delivery", id, webhook: webhookId, state: status, note });
}
