/** Registering, listing and deleting webhooks. */
import type { Tier, WebhookRecord } from "../../storage/records.ts";
import type { PaymentStorage, PaymentWrite } from "../../storage/storage.ts";
import { PaymentError } from "../errors.ts";
import type { Clock, Random } from "../runtime.ts";
import type { AllowAddress } from "../webhooks/address-guard.ts";
import type { Delivery } from "../webhooks/attempt.ts";
import { NOTICE_EVENTS } from "../webhooks/notice-body.ts";
import type { NoticeEvent } from "../webhooks/notice-body.ts";
import { parseReceiverUrl } from "../webhooks/receiver-url.ts";
import { answerOnce } from "./answer-once.ts";
import type { Answer, RequestOptions } from "./answer-once.ts";
import type { Caller } from "./caller.ts";
import { countHit } from "./count-hit.ts";
import { newId } from "./ids.ts";
import { isoTime } from "./iso-time.ts";
import { parseRequest, webhookRequest } from "./requests.ts";
import type { WebhookRequest } from "./requests.ts";
import type { Sealing } from "./sealing.ts";

/** A webhook as its owner sees it (SPEC, Webhook); the secret is never returned. */
export interface WebhookBody {
  readonly webhookId: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly createdAt: string;
}

export interface Webhooks {
  readonly register: (
    caller: Caller,
    request: WebhookRequest,
    options?: RequestOptions,
  ) => Promise<Answer<WebhookBody>>;
  readonly list: (caller: Caller) => Promise<{ webhooks: readonly WebhookBody[] }>;
  readonly delete: (caller: Caller, webhookId: string) => Promise<{ webhookId: string; deleted: true }>;
}

/** Webhooks an account may have at a time (SPEC, Limits). */
const MOST_WEBHOOKS: Readonly<Record<Tier, number>> = { free: 3, pro: 10, enterprise: 50 };

export function createWebhooks(deps: {
  readonly storage: PaymentStorage;
  readonly clock: Clock;
  readonly random: Random;
  readonly sealing: Sealing;
  readonly delivery: Delivery;
  readonly allowAddress?: AllowAddress;
  readonly commit: (writes: readonly PaymentWrite[]) => Promise<boolean>;
}): Webhooks {
  const { storage, clock, random, sealing, delivery, allowAddress, commit } = deps;

  const refuseWhenFull = async ({ accountId, tier }: Caller): Promise<void> => {
    const current = (await storage.webhooks(accountId)).length;
    const limit = MOST_WEBHOOKS[tier];
    if (current >= limit) throw new PaymentError("WEBHOOK_LIMIT_EXCEEDED", { limit, current, tier });
  };

  return {
    register(caller, body, options = {}) {
      const count = async (): Promise<() => Promise<void>> => {
        const { standing, takeBack } = await countHit(deps, caller, "webhook_registration");
        options.onLimit?.(standing);
        return async () => options.onLimit?.(await takeBack());
      };
      return answerOnce(deps, { caller, path: "/v1/webhooks", request: body, options, count }, async () => {
        const request = parseRequest(webhookRequest, body);
        const url = readUrl(request.url, allowAddress);
        const events = readEvents(request.events);
        await refuseWhenFull(caller);
        // One answer for every cause, so that this is no scanner of the operator's network (CONTRACT section 2).
        if (!(await delivery.reach(url))) throw new PaymentError("URL_UNREACHABLE", { url });
        const id = newId("wh", random);
        const { accountId, tier } = caller;
        const { secret } = request;
        const place = { table: "webhooks", row: id, owner: accountId };
        const webhook: WebhookRecord = {
          id,
          version: 1,
          accountId,
          url,
          events,
          sealedSecret: secret === undefined ? null : sealing.seal(secret, place),
          createdAt: clock.now(),
          deletedAt: null,
        };
        const insert: PaymentWrite = {
          table: "webhooks",
          insert: webhook,
          atMost: { count: MOST_WEBHOOKS[tier] },
        };
        return { body: webhookBody(webhook), commit: (writes) => commit([insert, ...writes]) };
      });
    },

    async list({ accountId }) {
      return { webhooks: (await storage.webhooks(accountId)).map(webhookBody) };
    },

    async delete({ accountId }, webhookId) {
      const webhook = await storage.webhook(webhookId);
      const gone = new PaymentError("WEBHOOK_NOT_FOUND", { webhookId });
      if (webhook === null || webhook.accountId !== accountId || webhook.deletedAt !== null) throw gone;
      const { version: expectedVersion } = webhook;
      const set = { deletedAt: clock.now() };
      if (!(await commit([{ table: "webhooks", id: webhookId, set, expectedVersion }]))) throw gone;
      return { webhookId, deleted: true };
    },
  };
}

function readUrl(putativeUrl: string, allowAddress: AllowAddress | undefined): string {
  const read = parseReceiverUrl(putativeUrl, allowAddress);
  if ("ok" in read) return read.ok.href;
  // A URL may carry a password; what is refused for that is not said back in full.
  const url = putativeUrl.slice(0, 256).replace(/\/\/[^/@]*@/, "//***@");
  throw new PaymentError("INVALID_URL", { url, reason: read.refused });
}

/** Known events without duplicates, or `INVALID_EVENTS` (EDGE-CASES H15). */
function readEvents(putativeEvents: readonly string[]): readonly NoticeEvent[] {
  const known = (event: string): event is NoticeEvent => (NOTICE_EVENTS as readonly string[]).includes(event);
  const invalid = putativeEvents.filter((event) => !known(event));
  if (putativeEvents.length === 0 || invalid.length > 0) {
    throw new PaymentError("INVALID_EVENTS", { invalid, allowed: NOTICE_EVENTS });
  }
  return [...new Set(putativeEvents.filter(known))];
}

function webhookBody({ id, url, events, createdAt }: WebhookRecord): WebhookBody {
  return { webhookId: id, url, events, createdAt: isoTime(createdAt) };
}
