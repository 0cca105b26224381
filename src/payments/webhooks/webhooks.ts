/** Registers, shows and deletes webhooks. */
import type { WebhookRecord } from "../tables/webhooks.ts";
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import { MAX_WEBHOOKS } from "../accounts/read-account.ts";
import { PaymentError } from "../../errors.ts";
import { answerOnce, type Answer, type Decision, type RequestOptions } from "../accounts/answer-once.ts";
import type { Caller } from "../accounts/caller.ts";
import { countHit } from "../accounts/count-hit.ts";
import { newId } from "../ids.ts";
import { parseRequest, webhookRequest, type WebhookRequest } from "../requests.ts";
import {
  ownWebhook,
  webhookBody,
  wholeWebhookBody,
  type WebhookBody,
  type WholeWebhookBody,
} from "./webhook-body.ts";
import { readEvents, readUrl } from "./webhook-fields.ts";
import type { WebhookContext } from "./webhook-context.ts";
import { commitWebhookChange } from "./webhook-list.ts";
import { NO_SECRET, sealedSecret } from "./webhook-secret.ts";

/** A request to register a webhook. */
interface RegistrationCall {
  readonly request: WebhookRequest;
  readonly options?: RequestOptions | undefined;
}

/** See `PaymentService.registerWebhook`. */
export function registerWebhook(
  context: WebhookContext,
  caller: Caller,
  { request, options = {} }: RegistrationCall,
): Promise<Answer<WebhookBody>> {
  const count = async (): Promise<() => Promise<void>> => {
    const { standing, takeBack } = await countHit(context, caller, "webhook_registration");
    options.onLimit?.(standing);
    return async () => options.onLimit?.(await takeBack());
  };
  return answerOnce(context, { caller, path: "/v1/webhooks", request, options, count }, () =>
    decideRegistration(context, caller, request),
  );
}

async function decideRegistration(
  context: WebhookContext,
  caller: Caller,
  body: WebhookRequest,
): Promise<Decision<WebhookBody>> {
  const { storage, clock, random, sealing, delivery, rules } = context;
  const request = parseRequest(webhookRequest, body);
  const url = readUrl(request.url, rules);
  const events = readEvents(request.events);
  await refuseWhenFull(storage, caller);
  // The same answer for every cause, so that callers cannot scan the operator's network.
  if (!(await delivery.reach(url))) throw new PaymentError("URL_UNREACHABLE", { url });
  const createdAt = clock.now();
  const id = newId("wh", createdAt, random);
  const { accountId, tier } = caller;
  const { secret } = request;
  const webhook: WebhookRecord = {
    id,
    version: 1,
    accountId,
    url,
    events,
    ...NO_SECRET,
    ...(secret === undefined ? {} : { sealedSecret: sealedSecret(sealing, { id, accountId }, secret) }),
    disabledAt: null,
    disabledReason: null,
    enabledAt: createdAt,
    createdAt,
    deletedAt: null,
  };
  const atMost = { count: MAX_WEBHOOKS[tier] };
  const insert: PaymentWrite = { table: "webhooks", insert: webhook, atMost };
  return {
    body: webhookBody(webhook),
    commit: (writes) => commitWebhookChange(context, accountId, [insert, ...writes]),
  };
}

async function refuseWhenFull(storage: PaymentStorage, { accountId, tier }: Caller): Promise<void> {
  const current = (await storage.webhooks(accountId)).length;
  const limit = MAX_WEBHOOKS[tier];
  if (current >= limit) throw new PaymentError("WEBHOOK_LIMIT_EXCEEDED", { limit, current, tier });
}

/** See `PaymentService.webhooks`. */
export async function listWebhooks(
  storage: PaymentStorage,
  { accountId }: Caller,
): Promise<{ readonly webhooks: readonly WholeWebhookBody[] }> {
  return { webhooks: (await storage.webhooks(accountId)).map(wholeWebhookBody) };
}

/** See `PaymentService.webhook`. */
export async function readWebhook(
  storage: PaymentStorage,
  caller: Caller,
  webhookId: string,
): Promise<WholeWebhookBody> {
  return wholeWebhookBody(await ownWebhook(storage, caller, webhookId));
}

/** See `PaymentService.deleteWebhook`. */
export async function deleteWebhook(
  context: WebhookContext,
  caller: Caller,
  webhookId: string,
): Promise<{ readonly webhookId: string; readonly deleted: true }> {
  // A lost round means that a different request got through, so the loop ends.
  for (;;) {
    const { version: expectedVersion } = await ownWebhook(context.storage, caller, webhookId);
    const set = { deletedAt: context.clock.now() };
    const write: PaymentWrite = { table: "webhooks", id: webhookId, set, expectedVersion };
    // Refused when the webhook was changed meanwhile; if the webhook was deleted, the next round throws not found.
    if (await commitWebhookChange(context, caller.accountId, [write])) return { webhookId, deleted: true };
  }
}
