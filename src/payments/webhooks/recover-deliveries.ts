/** Sends again what a webhook did not receive since a given time. */
import { z } from "zod";
import type { Immutable } from "../../core/immutable.ts";
import { named, text, time } from "../frame/body-schemas.ts";
import type { WebhookRecord } from "./tables.ts";
import type { WebhookStorage, WebhookWrite } from "./webhook-storage.ts";
import {
  answerOnce,
  type Answer,
  type Decision,
  type RequestOptions,
} from "../frame/accounts/answer-once.ts";
import type { Caller } from "../frame/accounts/caller.ts";
import { isOfStatus } from "./announce.ts";
import { beginRuns, refuseDisabled, type DeliveryParts } from "./deliveries.ts";
import { deliveryIdOf, firstRun, nextRun, type BegunRun, type DueNotice } from "./delivery-runs.ts";
import { pageOf } from "../frame/page.ts";
import { parseRequest } from "../frame/request-fields.ts";
import { recovery, type RecoveryRequest } from "./requests.ts";
import { ownWebhook } from "./webhook-fields.ts";

export const recoverySchema = named(
  "Recovered",
  z.object({
    webhookId: text("The webhook's id."),
    since: time("As it was asked for."),
    recovered: z.int().describe("How many deliveries were begun."),
    hasMore: z.boolean().describe("Whether the same request again would begin more."),
  }),
);

/** The number of deliveries that were begun again. @interface */
export type RecoveryBody = Immutable<z.output<typeof recoverySchema>>;

/** Deliveries begun in one commit: as many as do not keep other commits waiting too long. */
const MAX_RECOVERED = 250;
/** Events examined at a time; other work has its turn in between. */
const EVENTS_PAGE = 200;

interface RecoveryCall {
  readonly webhookId: string;
  readonly request: RecoveryRequest;
  readonly options?: RequestOptions | undefined;
}

/** See `PaymentService.recoverWebhook`. */
export function recoverDeliveries(
  parts: DeliveryParts,
  caller: Caller,
  asked: RecoveryCall,
): Promise<Answer<RecoveryBody>> {
  const { webhookId, request, options = {} } = asked;
  const path = `/v1/webhooks/${webhookId}/recover`;
  return answerOnce(parts, { caller, path, request, options }, () => decideRecovery(parts, caller, asked));
}

async function decideRecovery(
  parts: DeliveryParts,
  caller: Caller,
  { webhookId, request }: RecoveryCall,
): Promise<Decision<RecoveryBody>> {
  const { since } = parseRequest(recovery, request);
  const webhook = await ownWebhook(parts.storage, caller, webhookId);
  refuseDisabled(webhook);
  // Before it was created it was not subscribed to anything.
  const lost = await lostSince(parts, webhook, Math.max(Date.parse(since), webhook.createdAt));
  const { data, hasMore } = pageOf(lost, MAX_RECOVERED);
  return {
    body: { webhookId, since, recovered: data.length, hasMore },
    commit: (writes) => beginRuns(parts, data, [...data.flatMap(expectNotice), ...writes]),
  };
}

/** Refuses a first run whose notice was removed as old meanwhile; a later run expects its delivery, which goes with the notice. */
function expectNotice({ write }: BegunRun): readonly WebhookWrite[] {
  if (write.table !== "deliveries" || !("insert" in write)) return [];
  return [{ table: "notices", id: write.insert.noticeId, set: {} }];
}

/** Everything since then that did not arrive, oldest first, and one more than is begun at once. */
async function lostSince(
  parts: DeliveryParts,
  webhook: WebhookRecord,
  since: number,
): Promise<readonly BegunRun[]> {
  const runs: BegunRun[] = [];
  const last = new Map<string, string>();
  for (const id of await announcedSince(parts.storage, webhook.accountId, since)) {
    const notice = await parts.storage.notice(id);
    if (notice === null || notice.createdAt < since || !webhook.events.includes(notice.event)) continue;
    const follows = isOfStatus(notice) ? (last.get(notice.transactionId) ?? null) : null;
    const run = await runFor(parts, { webhook, notice, follows });
    if (run === null) continue;
    if (isOfStatus(notice)) last.set(notice.transactionId, run.start.id);
    runs.push(run);
    if (runs.length > MAX_RECOVERED) break;
  }
  return runs;
}

/** The run that sends a notice; null where it was received, or is still tried. */
async function runFor({ storage, workflow }: DeliveryParts, due: DueNotice): Promise<BegunRun | null> {
  const delivery = await storage.delivery(deliveryIdOf(due.notice, due.webhook));
  if (delivery === null) return firstRun(workflow, due);
  const isLost = delivery.status === "abandoned" || delivery.status === "dropped";
  return isLost ? nextRun(workflow, delivery, due.follows) : null;
}

/** The ids of an account's events since then, oldest first. An event is announced after it has happened. */
async function announcedSince(
  storage: WebhookStorage,
  accountId: string,
  since: number,
): Promise<readonly string[]> {
  const ids: string[] = [];
  const limit = EVENTS_PAGE;
  let beyond: string | null = null;
  for (;;) {
    const rows: Awaited<ReturnType<WebhookStorage["announcements"]>> = await storage.announcements(
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
