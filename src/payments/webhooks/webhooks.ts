/** Registers, shows, updates and deletes webhooks. */
import type { WebhookRecord } from "./tables.ts";
import type { WebhookStorage, WebhookWrite } from "./webhook-storage.ts";
import { MAX_WEBHOOKS } from "./webhook-limit.ts";
import { PaymentError } from "../../errors/errors.ts";
import {
  answerOnce,
  type Answer,
  type Decision,
  type RequestOptions,
} from "../frame/accounts/answer-once.ts";
import type { Caller } from "../frame/accounts/caller.ts";
import { countHit } from "../frame/accounts/count-hit.ts";
import { newId } from "../frame/ids.ts";
import { parseRequest } from "../frame/request-fields.ts";
import { webhookRequest, type WebhookRequest, webhookUpdate, type WebhookUpdateRequest } from "./requests.ts";
import {
  ownWebhook,
  webhookBody,
  wholeWebhookBody,
  type WebhookBody,
  type WholeWebhookBody,
  readEvents,
  readUrl,
  type WebhookContext,
} from "./webhook-fields.ts";
import { commitWebhookChange, DELETED } from "./webhook-list.ts";
import { NO_SECRET, sealedSecret, replacedSecret } from "./webhook-secret.ts";

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
  const insert: WebhookWrite = { table: "webhooks", insert: webhook, atMost };
  return {
    body: webhookBody(webhook),
    commit: (writes) => commitWebhookChange(context, accountId, [insert, ...writes]),
  };
}

async function refuseWhenFull(storage: WebhookStorage, { accountId, tier }: Caller): Promise<void> {
  const current = (await storage.webhooks(accountId)).length;
  const limit = MAX_WEBHOOKS[tier];
  if (current >= limit) throw new PaymentError("WEBHOOK_LIMIT_EXCEEDED", { limit, current, tier });
}

/** See `PaymentService.webhooks`. */
export async function listWebhooks(
  storage: WebhookStorage,
  { accountId }: Caller,
): Promise<{ readonly webhooks: readonly WholeWebhookBody[] }> {
  return { webhooks: (await storage.webhooks(accountId)).map(wholeWebhookBody) };
}

/** See `PaymentService.webhook`. */
export async function readWebhook(
  storage: WebhookStorage,
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
    const set = { ...DELETED, deletedAt: context.clock.now() };
    const write: WebhookWrite = { table: "webhooks", id: webhookId, set, expectedVersion };
    // Refused when the webhook was changed meanwhile; if the webhook was deleted, the next round throws not found.
    if (await commitWebhookChange(context, caller.accountId, [write])) return { webhookId, deleted: true };
  }
}

const DISABLED_BY_OWNER = "disabled_by_owner";

interface WebhookUpdateCall extends Pick<RequestOptions, "onLimit"> {
  readonly webhookId: string;
  readonly request: WebhookUpdateRequest;
}

/** See `PaymentService.updateWebhook`. */
export async function updateWebhook(
  context: WebhookContext,
  caller: Caller,
  { webhookId, request: body, onLimit }: WebhookUpdateCall,
): Promise<WholeWebhookBody> {
  const { storage, clock, delivery, rules } = context;
  // Another URL is another registration: its limit keeps an account from trying out addresses.
  if (hasUrl(body)) onLimit?.((await countHit(context, caller, "webhook_registration")).standing);
  const request = parseRequest(webhookUpdate, body);
  await ownWebhook(storage, caller, webhookId);
  const url = request.url === undefined ? undefined : readUrl(request.url, rules);
  const events = request.events === undefined ? undefined : readEvents(request.events);
  // The same answer for every cause, so that callers cannot scan the operator's network.
  if (url !== undefined && !(await delivery.reach(url))) throw new PaymentError("URL_UNREACHABLE", { url });

  // A lost round means that a different request got through, so the loop ends.
  for (;;) {
    const webhook = await ownWebhook(storage, caller, webhookId);
    const set: Partial<WebhookRecord> = {
      ...(url === undefined ? {} : { url }),
      ...(events === undefined ? {} : { events }),
      ...secretFields(context, webhook, request.secret),
      ...(request.enabled === undefined ? {} : switched(webhook, request.enabled, clock.now())),
    };
    const { version: expectedVersion } = webhook;
    const write: WebhookWrite = { table: "webhooks", id: webhookId, set, expectedVersion };
    if (await commitWebhookChange(context, caller.accountId, [write])) {
      return wholeWebhookBody({ ...webhook, ...set });
    }
  }
}

/** The changed fields of the secret; none when the request names no secret. */
function secretFields(
  { sealing, clock, secretOverlapMs }: WebhookContext,
  webhook: WebhookRecord,
  secret: string | null | undefined,
): Partial<WebhookRecord> {
  if (secret === undefined) return {};
  return replacedSecret(sealing, webhook, { secret, previousUntil: clock.now() + secretOverlapMs });
}

/** The body is not checked yet, and may be anything. */
function hasUrl(body: unknown): boolean {
  return typeof body === "object" && body !== null && "url" in body;
}

/** A webhook that is in the wanted state already keeps its time and its reason. */
function switched(webhook: WebhookRecord, enabled: boolean, now: number): Partial<WebhookRecord> {
  if (enabled && webhook.disabledAt === null) return {};
  if (enabled) return { disabledAt: null, disabledReason: null, enabledAt: now };
  return webhook.disabledAt === null ? { disabledAt: now, disabledReason: DISABLED_BY_OWNER } : {};
}
