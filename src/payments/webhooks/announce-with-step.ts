/** Announces notices in the commit of the step that has them. */
// modules: with-step
import type { TransactionView } from "../frame/tables/orders.ts";
import type { AnnounceParams } from "../../../machines/wallet-transfer.ts";
import type { WebhookTables, WebhookWrite } from "./webhook-storage.ts";
import type { CommittingStep, DoneWithStep } from "../../engine/index.ts";
import { announce, announcements, isSubscribed, serialised, type AnnouncingParts } from "./announce.ts";
import { readWebhookList } from "./webhook-list.ts";

export async function announceWithStep(
  parts: AnnouncingParts,
  { instance: transactionId, writes, companions }: CommittingStep<AnnounceParams, WebhookTables>,
): Promise<DoneWithStep<WebhookTables> | null> {
  const { storage, transactions } = parts;
  const begun = takenWith(companions, transactionId);
  if (begun !== null) transactions.keep(begun);
  const [view, earlier] = await Promise.all([
    transactions.read(transactionId),
    begun === null ? storage.notices(transactionId) : [],
  ]);
  if (view === null) return null;
  const own = insertsOf(writes, "notices");
  const { accountId } = view.transaction;
  const { webhooks, unchanged } = await readWebhookList(storage, accountId);
  const notices = [...earlier, ...own];
  const isTold = notices.some(
    (notice) => notice.body === null && webhooks.some((webhook) => isSubscribed(webhook, notice)),
  );
  const deliveries = isTold && earlier.length > 0 ? await storage.deliveries(transactionId) : [];
  const after = asCommitted(view, [...companions, ...writes]);
  const announced = announce(parts, { view: after, notices, own, webhooks, deliveries });
  const ownIds = new Set(own.map(({ id }) => id));
  return {
    writes: [
      ...writes.filter((write) => write.table !== "notices"),
      ...announced.notices.map((notice) =>
        ownIds.has(notice.id) ? { table: "notices" as const, insert: notice } : serialised(notice),
      ),
      ...announcements(parts, announced.notices, accountId),
      unchanged,
      ...announced.runs.map(({ write }) => write),
    ],
    starts: announced.runs.map(({ start }) => start),
    isWhole: true,
  };
}

/** A transaction that begins with this commit. */
function takenWith(companions: readonly WebhookWrite[], transactionId: string): TransactionView | null {
  const transaction = insertsOf(companions, "transactions").find(({ id }) => id === transactionId);
  if (transaction === undefined) return null;
  const recipients = insertsOf(companions, "recipients").filter(
    (share) => share.transactionId === transactionId,
  );
  return { transaction, recipients };
}

/** The transaction as this commit leaves it: the step that ends a payroll pays its last payees. */
function asCommitted(view: TransactionView, writes: readonly WebhookWrite[]): TransactionView {
  const changes = new Map(
    writes.flatMap((write) =>
      write.table === "recipients" && "set" in write ? [[write.id, write.set] as const] : [],
    ),
  );
  if (changes.size === 0) return view;
  return { ...view, recipients: view.recipients.map((share) => ({ ...share, ...changes.get(share.id) })) };
}

function insertsOf<T extends keyof WebhookTables>(
  writes: readonly WebhookWrite[],
  table: T,
): readonly WebhookTables[T][] {
  return writes.flatMap((write) =>
    write.table === table && "insert" in write ? [write.insert as WebhookTables[T]] : [],
  );
}
