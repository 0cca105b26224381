/** A webhook's deliveries: what became of each, and sending again what did not arrive. */
import type { DeliveryRecord, NoticeRecord, PaymentTables, WebhookRecord } from "../records.ts";
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import type { Engine } from "../../engine/index.ts";
import { PaymentError } from "../../errors.ts";
import type { Clock } from "../../runtime.ts";
import { answerOnce } from "../accounts/answer-once.ts";
import type { Answer, Decision, RequestOptions } from "../accounts/answer-once.ts";
import type { Caller } from "../accounts/caller.ts";
import { deliveryBody } from "./delivery-body.ts";
import type { DeliveryBody } from "./delivery-body.ts";
import { deliveryIdOf, firstRun, nextRun, runIdOf } from "./delivery-runs.ts";
import type { BegunRun } from "./delivery-runs.ts";
import { notInList, pageOf } from "../page.ts";
import type { Page } from "../page.ts";
import { pageQuery, parseRequest, recovery } from "../requests.ts";
import type { PageQuery, Recovery } from "../requests.ts";
import { ownWebhook } from "./webhook-body.ts";
import type { WebhookDeliveryWorkflow } from "./webhook-delivery-workflow.ts";

/** How many deliveries were begun once more. */
export interface RecoveryBody {
  readonly webhookId: string;
  readonly since: string;
  readonly recovered: number;
  /** Whether there are more: the same request again begins those. */
  readonly hasMore: boolean;
}

export interface Deliveries {
  readonly list: (caller: Caller, webhookId: string, query?: PageQuery) => Promise<Page<DeliveryBody>>;
  readonly redeliver: (
    caller: Caller,
    ids: { readonly webhookId: string; readonly deliveryId: string },
    options?: RequestOptions,
  ) => Promise<Answer<DeliveryBody>>;
  readonly recover: (
    caller: Caller,
    webhookId: string,
    request: Recovery,
    options?: RequestOptions,
  ) => Promise<Answer<RecoveryBody>>;
}

/** Begun in one commit, so that it takes no longer than others can wait. */
const MOST_RECOVERED = 250;
/** Events looked through at a time; between two times others have a turn. */
const EVENTS_AT_A_TIME = 200;

export function webhookDeliveries(deps: {
  readonly storage: PaymentStorage;
  readonly clock: Clock;
  readonly engine: Engine<PaymentTables>;
  readonly workflow: WebhookDeliveryWorkflow;
}): Deliveries {
  const { storage, engine, workflow } = deps;

  const ownDelivery = async (webhook: WebhookRecord, deliveryId: string): Promise<DeliveryRecord> => {
    const delivery = await storage.delivery(deliveryId);
    if (delivery?.webhookId === webhook.id) return delivery;
    throw new PaymentError("DELIVERY_NOT_FOUND", { deliveryId });
  };

  /** Whether these runs were begun; not, when another request came first. */
  const begin = async (runs: readonly BegunRun[], writes: readonly PaymentWrite[]): Promise<boolean> => {
    if (runs.length === 0 && writes.length === 0) return true;
    const starts = runs.map(({ start }) => start);
    return (await engine.commit({ starts, writes: [...runs.map(({ write }) => write), ...writes] })).ok;
  };

  /** Ends the pause of a delivery that is under way; one that is being attempted, or waits for its turn, goes on. */
  const hurry = async (delivery: DeliveryRecord, writes: readonly PaymentWrite[]): Promise<boolean> => {
    const sent = await engine.send(workflow, runIdOf(delivery), { type: "RETRY" }, { writes });
    return sent.kind === "unchanged" ? begin([], writes) : sent.kind === "stepped";
  };

  const decideRedelivery = async (
    caller: Caller,
    ids: { readonly webhookId: string; readonly deliveryId: string },
  ): Promise<Decision<DeliveryBody>> => {
    const webhook = await ownWebhook(storage, caller, ids.webhookId);
    const delivery = await ownDelivery(webhook, ids.deliveryId);
    refuseDisabled(webhook);
    const body = await deliveryBody(storage, { ...delivery, status: "pending" });
    if (delivery.status === "pending") return { body, commit: (writes) => hurry(delivery, writes) };
    return { body, commit: (writes) => begin([nextRun(workflow, delivery, null)], writes) };
  };

  /** The delivery of this notice as it has to be begun; null when there is nothing to be done. */
  const runFor = async (
    webhook: WebhookRecord,
    notice: NoticeRecord,
    follows: string | null,
  ): Promise<BegunRun | null> => {
    const delivery = await storage.delivery(deliveryIdOf(notice, webhook));
    if (delivery === null) return firstRun(workflow, { notice, webhook, follows });
    const isLost = delivery.status === "abandoned" || delivery.status === "dropped";
    return isLost ? nextRun(workflow, delivery, follows) : null;
  };

  /** Everything since then that did not arrive, oldest first, and one more than is begun at once. */
  const lostSince = async (webhook: WebhookRecord, since: number): Promise<readonly BegunRun[]> => {
    const runs: BegunRun[] = [];
    const last = new Map<string, string>();
    for (const id of await announcedSince(storage, webhook.accountId, since)) {
      const notice = await storage.notice(id);
      if (notice === null || notice.createdAt < since || !webhook.events.includes(notice.event)) continue;
      const run = await runFor(webhook, notice, last.get(notice.transactionId) ?? null);
      if (run === null) continue;
      last.set(notice.transactionId, run.start.id);
      runs.push(run);
      if (runs.length > MOST_RECOVERED) break;
    }
    return runs;
  };

  return {
    async list(caller, webhookId, query = {}) {
      const { limit, startingAfter } = parseRequest(pageQuery, query);
      await ownWebhook(storage, caller, webhookId);
      const below = startingAfter === undefined ? null : await storage.delivery(startingAfter);
      if (startingAfter !== undefined && below?.webhookId !== webhookId) throw notInList("delivery");
      const found = await storage.deliveriesTo(webhookId, { below, limit: limit + 1 });
      const { data, hasMore } = pageOf(found, limit);
      return { data: await Promise.all(data.map((each) => deliveryBody(storage, each))), hasMore };
    },

    redeliver(caller, ids, options = {}) {
      const path = `/v1/webhooks/${ids.webhookId}/deliveries/${ids.deliveryId}/redeliver`;
      return answerOnce(deps, { caller, path, request: null, options }, () => decideRedelivery(caller, ids));
    },

    recover(caller, webhookId, body, options = {}) {
      const path = `/v1/webhooks/${webhookId}/recover`;
      return answerOnce(deps, { caller, path, request: body, options }, async () => {
        const { since } = parseRequest(recovery, body);
        const webhook = await ownWebhook(storage, caller, webhookId);
        refuseDisabled(webhook);
        // It was not subscribed to anything before it was there.
        const lost = await lostSince(webhook, Math.max(Date.parse(since), webhook.createdAt));
        const { data, hasMore } = pageOf(lost, MOST_RECOVERED);
        return {
          body: { webhookId, since, recovered: data.length, hasMore },
          commit: (writes) => begin(data, writes),
        };
      });
    },
  };
}

/** The ids of an account's events since then, oldest first. An event is announced after it has happened. */
async function announcedSince(
  storage: PaymentStorage,
  accountId: string,
  since: number,
): Promise<readonly string[]> {
  const ids: string[] = [];
  const limit = EVENTS_AT_A_TIME;
  let beyond: string | null = null;
  for (;;) {
    const rows: Awaited<ReturnType<PaymentStorage["announcements"]>> = await storage.announcements(
      accountId,
      { order: "desc", beyond, limit },
    );
    const recent = rows.filter(({ at }) => at >= since);
    ids.push(...recent.map(({ id }) => id));
    beyond = rows.at(-1)?.id ?? null;
    if (recent.length < limit) return ids.toReversed();
    await new Promise(setImmediate);
  }
}

/** What is begun for a disabled webhook would be dropped at once. */
function refuseDisabled({ disabledAt }: WebhookRecord): void {
  if (disabledAt === null) return;
  const message = "is disabled; enable it first";
  throw new PaymentError("VALIDATION_ERROR", { fields: [{ path: "webhookId", message }] });
}
