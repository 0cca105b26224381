/** Tells webhooks: serialises a notice once and starts a delivery for each webhook that subscribed to it. */
import type { AnnounceParams } from "../../../machines/wallet-transfer.ts";
import type {
  NoticeRecord,
  PaymentTables,
  RecipientRecord,
  TransactionRecord,
  WebhookRecord,
} from "../records.ts";
import type { PaymentStorage, PaymentWrite, TransactionView } from "../payment-storage.ts";
import type { EffectHandler, StartRequest } from "../../engine/index.ts";
import type { Clock } from "../../runtime.ts";
import {
  NOTICE_EVENTS,
  noticeBody,
  type Notice,
  type NoticeEvent,
  type NoticeRecipient,
} from "./sending/notice-body.ts";
import type { Assets } from "../assets/assets.ts";
import { deliveryIdOf, firstRun } from "./delivery-runs.ts";
import { recipientShare, transactionFee } from "../transactions/read-transaction.ts";
import type { WebhookDeliveryWorkflow } from "./webhook-delivery-workflow.ts";

/** What announcing needs. */
export interface Announcing {
  readonly storage: PaymentStorage;
  readonly clock: Clock;
  readonly assets: Assets;
  readonly deliveries: WebhookDeliveryWorkflow;
}

/**
 * The effect `announce`. It looks at all notices of the transaction and not only at its own, because of two announced
 * at once either may run first: each starts what is missing, in the order in which the notices follow each other, and
 * ids that are derived from notice and webhook keep a delivery from being started twice.
 */
export function announceEffect({
  storage,
  clock,
  assets,
  deliveries: deliveryWorkflow,
}: Announcing): EffectHandler<AnnounceParams, never, PaymentTables> {
  return async (_params, { instance: transactionId }) => {
    const view = await storage.transaction(transactionId);
    if (view === null) throw new Error(`transaction ${transactionId} is not stored`);
    const { accountId } = view.transaction;
    const notices = await storage.notices(transactionId);
    // Read after the notices: one that is announced has all its deliveries by then.
    const [webhooks, deliveries] = await Promise.all([
      storage.webhooks(accountId),
      storage.deliveries(transactionId),
    ]);
    const started = new Set(deliveries.map(({ id }) => id));
    const starts: StartRequest[] = [];
    const writes: PaymentWrite[] = [];
    const previous = new Map<string, string>();

    for (const notice of inOrder(notices)) {
      const isNew = notice.body === null;
      if (isNew) {
        const body = noticeBody(noticeOf(notice, view, assets));
        writes.push(
          { table: "notices", id: notice.id, set: { body } },
          { table: "announcements", insert: { id: notice.id, accountId, at: clock.now() } },
        );
      }
      for (const webhook of webhooks.filter((candidate) => subscribed(candidate, notice))) {
        const id = deliveryIdOf(notice, webhook);
        // What was announced started all its deliveries in the same commit: this webhook came later.
        if (!isNew && !started.has(id)) continue;
        const follows = previous.get(webhook.id) ?? null;
        previous.set(webhook.id, id);
        if (started.has(id)) continue;
        const { start, write } = firstRun(deliveryWorkflow, { notice, webhook, follows });
        starts.push(start);
        writes.push(write);
      }
    }
    return { starts, writes };
  };
}

/**
 * The process that registered the webhook and the one that committed the notice each have a clock. One notice from before
 * the registration is better than one that is lost.
 */
const MAX_CLOCK_SKEW_MS = 60_000;

/** Webhooks subscribed at the notice's commit receive it, unless they are disabled. */
function subscribed({ createdAt, events, disabledAt }: WebhookRecord, notice: NoticeRecord): boolean {
  const isThere = createdAt <= notice.createdAt + MAX_CLOCK_SKEW_MS;
  return isThere && disabledAt === null && events.includes(notice.event);
}

/** Notices in the order of the contract; two of one commit share their time. */
function inOrder(notices: readonly NoticeRecord[]): readonly NoticeRecord[] {
  const rank = ({ event }: NoticeRecord): number => NOTICE_EVENTS.indexOf(event as NoticeEvent);
  return notices.toSorted((one, other) => rank(one) - rank(other));
}

/** What a notice needs of its transaction. */
type NoticedTransaction = Pick<TransactionView, "transaction" | "recipients">;

/** A stored notice with the facts of its transaction that never change. */
export function noticeOf(
  notice: NoticeRecord,
  { transaction, recipients }: NoticedTransaction,
  assets: Assets,
): Notice {
  const { transactionId, status, reason, signature, blockTime } = notice;
  return {
    event: notice.event as NoticeEvent,
    transactionId,
    timestamp: notice.createdAt,
    data: {
      transactionId,
      status,
      mode: transaction.mode,
      type: transaction.type,
      signature,
      blockTime,
      fee: transactionFee(notice.fee, transaction, assets),
      recipients: recipients.map((share) => ({
        ...recipientShare(share, transaction, assets),
        ...paidStatus(share, notice, transaction),
      })),
      reason,
      reference: transaction.reference,
    },
  };
}

/** Of a private payroll, whether this payee was paid: "unpaid" until the payroll has ended. Empty for all others. */
function paidStatus(
  share: RecipientRecord,
  { event }: NoticeRecord,
  { mode, type }: TransactionRecord,
): Pick<NoticeRecipient, "status"> {
  if (mode !== "private" || type !== "payroll") return {};
  const hasEnded = event === "transaction.completed" || event === "transaction.failed";
  return { status: hasEnded ? share.status : "unpaid" };
}
