/** Updates a webhook: URL, events, secret, enabled or disabled. */
import type { PaymentWrite } from "../payment-storage.ts";
import type { WebhookRecord } from "../tables/webhooks.ts";
import { PaymentError } from "../../errors.ts";
import type { RequestOptions } from "../accounts/answer-once.ts";
import type { Caller } from "../accounts/caller.ts";
import { countHit } from "../accounts/count-hit.ts";
import { parseRequest, webhookUpdate, type WebhookUpdateRequest } from "../requests.ts";
import { ownWebhook, wholeWebhookBody, type WholeWebhookBody } from "./webhook-body.ts";
import { readEvents, readUrl } from "./webhook-fields.ts";
import type { WebhookContext } from "./webhook-context.ts";
import { commitWebhookChange } from "./webhook-list.ts";
import { replacedSecret } from "./webhook-secret.ts";

/** The reason that a webhook shows after its owner has disabled it. */
const DISABLED_BY_OWNER = "disabled_by_owner";

/** A request to change a webhook. */
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
    const write: PaymentWrite = { table: "webhooks", id: webhookId, set, expectedVersion };
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
