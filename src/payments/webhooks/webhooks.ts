/** Registering, showing and deleting webhooks. */
import type { WebhookRecord } from "../records.ts";
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import { MOST_WEBHOOKS } from "../accounts/most-webhooks.ts";
import { PaymentError } from "../../errors.ts";
import type { Clock, Random } from "../../runtime.ts";
import type { Delivery } from "./sending/attempt.ts";
import { answerOnce } from "../accounts/answer-once.ts";
import type { Answer, RequestOptions } from "../accounts/answer-once.ts";
import type { Caller } from "../accounts/caller.ts";
import { countHit } from "../accounts/count-hit.ts";
import { newId } from "../ids.ts";
import { parseRequest, webhookRequest } from "../requests.ts";
import type { WebhookRequest } from "../requests.ts";
import type { Sealing } from "../secrets/sealing.ts";
import { ownWebhook, webhookBody, wholeWebhookBody } from "./webhook-body.ts";
import type { WebhookBody, WholeWebhookBody } from "./webhook-body.ts";
import { readEvents, readUrl } from "./webhook-fields.ts";
import type { ReceiverRules } from "./webhook-fields.ts";
import { NO_SECRET, sealedSecret } from "./webhook-secret.ts";

export interface Webhooks {
  readonly register: (
    caller: Caller,
    request: WebhookRequest,
    options?: RequestOptions,
  ) => Promise<Answer<WebhookBody>>;
  readonly list: (caller: Caller) => Promise<{ webhooks: readonly WholeWebhookBody[] }>;
  readonly read: (caller: Caller, webhookId: string) => Promise<WholeWebhookBody>;
  readonly delete: (caller: Caller, webhookId: string) => Promise<{ webhookId: string; deleted: true }>;
}

export function createWebhooks(deps: {
  readonly storage: PaymentStorage;
  readonly clock: Clock;
  readonly random: Random;
  readonly sealing: Sealing;
  readonly delivery: Delivery;
  readonly rules: ReceiverRules;
  readonly commit: (writes: readonly PaymentWrite[]) => Promise<boolean>;
}): Webhooks {
  const { storage, clock, random, sealing, delivery, rules, commit } = deps;

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
        const url = readUrl(request.url, rules);
        const events = readEvents(request.events);
        await refuseWhenFull(caller);
        // One answer for every cause, so that this is no scanner of the operator's network.
        if (!(await delivery.reach(url))) throw new PaymentError("URL_UNREACHABLE", { url });
        const createdAt = clock.now();
        const id = newId("wh", createdAt, random);
        const { accountId, tier } = caller;
        const { secret } = request;
        const webhook: WebhookRecord = {
          ...{ id, version: 1, accountId, url, events },
          ...NO_SECRET,
          ...(secret === undefined ? {} : { sealedSecret: sealedSecret(sealing, { id, accountId }, secret) }),
          disabledAt: null,
          disabledReason: null,
          enabledAt: createdAt,
          createdAt,
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
      return { webhooks: (await storage.webhooks(accountId)).map(wholeWebhookBody) };
    },

    async read(caller, webhookId) {
      return wholeWebhookBody(await ownWebhook(storage, caller, webhookId));
    },

    async delete(caller, webhookId) {
      for (;;) {
        const { version: expectedVersion } = await ownWebhook(storage, caller, webhookId);
        const set = { deletedAt: clock.now() };
        // Refused when it was changed meanwhile; when it was deleted, the next look says that it is not there.
        if (await commit([{ table: "webhooks", id: webhookId, set, expectedVersion }])) {
          return { webhookId, deleted: true };
        }
      }
    },
  };
}
