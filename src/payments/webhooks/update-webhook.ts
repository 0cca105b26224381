/** Changing a webhook: where it is, what it is told, how it is signed, and whether it is told anything at all. */
import type { WebhookRecord } from "../records.ts";
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import { PaymentError } from "../../errors.ts";
import type { Clock, Random } from "../../runtime.ts";
import type { Delivery } from "./sending/attempt.ts";
import type { RequestOptions } from "../accounts/answer-once.ts";
import type { Caller } from "../accounts/caller.ts";
import { countHit } from "../accounts/count-hit.ts";
import { parseRequest, webhookUpdate } from "../requests.ts";
import type { WebhookUpdate } from "../requests.ts";
import type { Sealing } from "../secrets/sealing.ts";
import { ownWebhook, wholeWebhookBody } from "./webhook-body.ts";
import type { WholeWebhookBody } from "./webhook-body.ts";
import { readEvents, readUrl } from "./webhook-fields.ts";
import type { ReceiverRules } from "./webhook-fields.ts";
import { replacedSecret } from "./webhook-secret.ts";

/** The reason that a webhook shows which its owner has disabled. */
const DISABLED_BY_OWNER = "disabled_by_owner";

/** See `PaymentService.updateWebhook`. */
export type UpdateWebhook = (
  caller: Caller,
  webhookId: string,
  request: WebhookUpdate,
  options?: Pick<RequestOptions, "onLimit">,
) => Promise<WholeWebhookBody>;

export function webhookUpdates(deps: {
  readonly storage: PaymentStorage;
  readonly clock: Clock;
  readonly random: Random;
  readonly sealing: Sealing;
  readonly delivery: Delivery;
  readonly rules: ReceiverRules;
  /** How long deliveries are signed with the old secret, too, in milliseconds. */
  readonly secretOverlapMs: number;
  readonly commit: (writes: readonly PaymentWrite[]) => Promise<boolean>;
}): UpdateWebhook {
  const { storage, clock, sealing, delivery, rules, secretOverlapMs, commit } = deps;

  return async (caller, webhookId, body, { onLimit } = {}) => {
    // Another URL is another registration: its limit keeps an account from trying out addresses.
    if (hasUrl(body)) onLimit?.((await countHit(deps, caller, "webhook_registration")).standing);
    const request = parseRequest(webhookUpdate, body);
    await ownWebhook(storage, caller, webhookId);
    const url = request.url === undefined ? undefined : readUrl(request.url, rules);
    const events = request.events === undefined ? undefined : readEvents(request.events);
    // One answer for every cause, so that this is no scanner of the operator's network.
    if (url !== undefined && !(await delivery.reach(url))) throw new PaymentError("URL_UNREACHABLE", { url });

    // Each round that loses has let another request through, so there is an end.
    for (;;) {
      const webhook = await ownWebhook(storage, caller, webhookId);
      const now = clock.now();
      const { secret, enabled } = request;
      const set: Partial<WebhookRecord> = {
        ...(url === undefined ? {} : { url }),
        ...(events === undefined ? {} : { events }),
        ...(secret === undefined
          ? {}
          : replacedSecret(sealing, webhook, { secret, previousUntil: now + secretOverlapMs })),
        ...(enabled === undefined ? {} : switched(webhook, enabled, now)),
      };
      const { version: expectedVersion } = webhook;
      if (await commit([{ table: "webhooks", id: webhookId, set, expectedVersion }])) {
        return wholeWebhookBody({ ...webhook, ...set });
      }
    }
  };
}

/** The body is not checked yet: whatever it is, the schema will say. */
function hasUrl(body: unknown): boolean {
  return typeof body === "object" && body !== null && "url" in body;
}

/** A webhook that was enabled already, or disabled, keeps its time and its reason. */
function switched(webhook: WebhookRecord, enabled: boolean, now: number): Partial<WebhookRecord> {
  if (enabled && webhook.disabledAt === null) return {};
  if (enabled) return { disabledAt: null, disabledReason: null, enabledAt: now };
  return webhook.disabledAt === null ? { disabledAt: now, disabledReason: DISABLED_BY_OWNER } : {};
}
