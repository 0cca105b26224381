/** Tells webhooks: serialises a notice once, and in the same commit begins a delivery for each webhook that is subscribed to it. */
import type { NoticeRecord } from "../frame/tables/notices.ts";
import type { RecipientRecord, TransactionRecord, TransactionView } from "../frame/tables/orders.ts";
import type { DeliveryRecord, WebhookRecord } from "./tables.ts";
import type { WebhookStorage, WebhookWrite } from "./webhook-storage.ts";
import { formatAmount } from "../../core/amount.ts";
import type { Clock } from "../../core/runtime.ts";
import {
  NOTICE_EVENTS,
  noticeBody,
  STATUS_EVENTS,
  type Notice,
  type NoticeEvent,
  type NoticeRecipient,
} from "../frame/notices/notice-body.ts";
import type { Assets } from "../frame/assets/assets.ts";
import { factsOf } from "../frame/quotes/transaction-facts.ts";
import { deliveryIdOf, firstRun, type BegunRun } from "./delivery-runs.ts";
import type { NoticedTransactionCache } from "./webhook-list.ts";
import { recipientShare, transactionFee } from "../frame/transactions/read-transaction.ts";
import type { WebhookDeliveryWorkflow } from "./webhook-delivery-workflow.ts";

/** Dependencies of telling webhooks. */
export interface AnnounceParts {
  readonly storage: WebhookStorage;
  readonly clock: Clock;
  readonly assets: Assets;
  readonly deliveries: WebhookDeliveryWorkflow;
}

/** Parts, with the transactions that were announced last. */
export type AnnouncingParts = AnnounceParts & { readonly transactions: NoticedTransactionCache };

/** Notices of one transaction, and the data to announce them. */
interface Announceable {
  readonly view: TransactionView;
  readonly notices: readonly NoticeRecord[];
  /** Notices of this commit: `webhooks` are the webhooks at the time of this commit. */
  readonly own: readonly NoticeRecord[];
  readonly webhooks: readonly WebhookRecord[];
  /** Deliveries that have begun, read after the notices. */
  readonly deliveries: readonly DeliveryRecord[];
}

/** The notices that have no body yet, with their bodies, and the deliveries that begin with them. */
export function announce(
  { assets, deliveries: workflow }: Pick<AnnounceParts, "assets" | "deliveries">,
  { view, notices, own, webhooks, deliveries }: Announceable,
): { readonly notices: readonly NoticeRecord[]; readonly runs: readonly BegunRun[] } {
  const { accountId } = view.transaction;
  const told: NoticeRecord[] = [];
  const runs: BegunRun[] = [];
  const previous = new Map<string, string | null>();
  for (const notice of inOrder(notices)) {
    const isOrdered = isOfStatus(notice);
    if (notice.body !== null) {
      const begun = deliveries.filter(({ noticeId }) => isOrdered && noticeId === notice.id);
      for (const delivery of begun) previous.set(delivery.webhookId, followed(delivery));
      continue;
    }
    told.push({ ...notice, body: noticeBody(noticeOf(notice, view, assets)) });
    const listening = webhooks.filter((webhook) => isSubscribed(webhook, notice));
    for (const webhook of listening.filter((each) => own.includes(notice) || wasThere(each, notice))) {
      const { id } = webhook;
      const follows = isOrdered ? (previous.get(id) ?? null) : null;
      runs.push(firstRun(workflow, { notice, webhook: { id, accountId }, follows }));
      if (isOrdered) previous.set(id, deliveryIdOf(notice, webhook));
    }
  }
  return { notices: told, runs };
}

/** The delivery whose first attempt a later one waits for; null where that attempt, or the delivery, is over. */
function followed({ id, status, attempts }: DeliveryRecord): string | null {
  return status === "pending" && attempts === 0 ? id : null;
}

/** The parts that a commit adds for a stored notice. */
export function serialised({ id, body }: NoticeRecord): WebhookWrite {
  return { table: "notices", id, set: { body } };
}

/** Writes that announce notices: of two commits that announce a notice at once, the second is refused. */
export function announcements(
  { clock }: Pick<AnnounceParts, "clock">,
  notices: readonly NoticeRecord[],
  accountId: string,
): readonly WebhookWrite[] {
  const at = clock.now();
  return notices.map(({ id }) => ({ table: "announcements", insert: { id, accountId, at } }));
}

/** A disabled webhook gets no notice. */
export function isSubscribed({ events, disabledAt }: WebhookRecord, { event }: NoticeRecord): boolean {
  return disabledAt === null && events.includes(event);
}

/**
 * An announcement after the commit may see webhooks newer than the notice. Webhook and notice may be dated by processes with
 * different clocks: a notice from before the registration is better than a lost notice.
 */
const MAX_CLOCK_SKEW_MS = 60_000;

function wasThere({ createdAt }: WebhookRecord, notice: NoticeRecord): boolean {
  return createdAt <= notice.createdAt + MAX_CLOCK_SKEW_MS;
}

/** Notices in the order of the contract, which those beside the status only have here; two of one commit share their time. */
function inOrder(notices: readonly NoticeRecord[]): readonly NoticeRecord[] {
  const rank = ({ event }: NoticeRecord): number => NOTICE_EVENTS.indexOf(event as NoticeEvent);
  return notices.toSorted((one, other) => rank(one) - rank(other));
}

/** Whether it waits for the earlier notice, and later ones wait for it. */
export function isOfStatus({ event }: NoticeRecord): boolean {
  return (STATUS_EVENTS as readonly string[]).includes(event);
}

/** A stored notice with the facts of its transaction that never change. */
export function noticeOf(
  notice: NoticeRecord,
  { transaction, recipients }: TransactionView,
  assets: Assets,
): Notice {
  const { transactionId, status, reason, signature, blockTime, received, remaining } = notice;
  // In private mode the fee is of the asset that is deposited.
  const inDeposited = (sum: bigint): string => formatAmount(sum, assets.named(transaction.feeMint).decimals);
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
        ...paidStatus(share, notice.status, transaction),
      })),
      reason,
      reference: transaction.reference,
      ...factsOf(transaction, assets),
      ...(received !== null && { received: inDeposited(received) }),
      ...(remaining !== null && { remaining: inDeposited(remaining) }),
    },
  };
}

/** The payee's status in a private payroll: "unpaid" until the payroll has ended. Empty for all other transactions. */
function paidStatus(
  share: RecipientRecord,
  status: NoticeRecord["status"],
  { mode, type }: TransactionRecord,
): Pick<NoticeRecipient, "status"> {
  if (mode !== "private" || type !== "payroll") return {};
  const hasEnded = status === "completed" || status === "failed";
  return { status: hasEnded ? share.status : "unpaid" };
}
