/** The effect by which steps announce their notices. */
import type { WebhookTables } from "./webhook-storage.ts";
import type { AnnounceParams } from "../../../machines/wallet-transfer.ts";
import type { Effect, EffectOutcome } from "../../engine/index.ts";
import type { AnnounceEffect } from "../frame/notices/notice-writes.ts";
import { announce, announcements, serialised, type AnnounceParts, type AnnouncingParts } from "./announce.ts";
import { announceWithStep } from "./announce-with-step.ts";
import { NoticedTransactionCache, readWebhookList } from "./webhook-list.ts";

/**
 * The effect `announce`, which tells of statuses. A step announces its notices in its own commit, which is refused when
 * the account's webhooks have changed since they were read. No step waits for them: where they have changed three times
 * meanwhile, or could not be read, the next step announces the rest, or a task, whichever comes first.
 */
export function announceEffect(given: AnnounceParts): AnnounceEffect {
  const parts = { ...given, transactions: new NoticedTransactionCache(given.storage) };
  const effect: Effect<AnnounceParams, never, WebhookTables> = {
    withStep: (step) => announceWithStep(parts, step),
    run: (_params, { instance }) => announceLate(parts, instance),
  };
  // The charts that announce know nothing of the tables that this writes.
  return effect as AnnounceEffect;
}

async function announceLate(
  parts: AnnouncingParts,
  transactionId: string,
): Promise<EffectOutcome<never, WebhookTables>> {
  const { storage, transactions } = parts;
  const view = await transactions.read(transactionId);
  if (view === null) throw new Error(`transaction ${transactionId} is not stored`);
  const { accountId } = view.transaction;
  const { webhooks, unchanged } = await readWebhookList(storage, accountId);
  const notices = await storage.notices(transactionId);
  // Read after the notices, so that a notice announced in a single commit comes with all its deliveries.
  const deliveries = await storage.deliveries(transactionId);
  const announced = announce(parts, { view, notices, own: [], webhooks, deliveries });
  return {
    starts: announced.runs.map(({ start }) => start),
    writes: [
      ...announced.notices.map(serialised),
      ...announcements(parts, announced.notices, accountId),
      ...(announced.notices.length === 0 ? [] : [unchanged]),
      ...announced.runs.map(({ write }) => write),
    ],
  };
}
