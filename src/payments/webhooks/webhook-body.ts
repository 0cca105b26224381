/** A webhook as its owner sees it. The secret is never shown. */
import type { WebhookRecord } from "../tables/webhooks.ts";
import type { PaymentStorage } from "../payment-storage.ts";
import { PaymentError } from "../../errors.ts";
import type { Caller } from "../accounts/caller.ts";
import { isoTime } from "../iso-time.ts";

/** The answer to a registration. */
export interface WebhookBody {
  readonly webhookId: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly createdAt: string;
}

/** The webhook in the answers of all endpoints except registration. */
export interface WholeWebhookBody extends WebhookBody {
  /** Whether the webhook is enabled; a disabled webhook gets no deliveries. */
  readonly enabled: boolean;
  /** `disabled_by_owner` or `disabled_after_failures`; null for an enabled webhook. */
  readonly disabledReason: string | null;
}

export function webhookBody({ id, url, events, createdAt }: WebhookRecord): WebhookBody {
  return { webhookId: id, url, events, createdAt: isoTime(createdAt) };
}

export function wholeWebhookBody(webhook: WebhookRecord): WholeWebhookBody {
  const { disabledAt, disabledReason } = webhook;
  return { ...webhookBody(webhook), enabled: disabledAt === null, disabledReason };
}

/** The caller's webhook. Throws `WEBHOOK_NOT_FOUND`, the same for an unknown, a deleted and another account's one. */
export async function ownWebhook(
  storage: PaymentStorage,
  { accountId }: Caller,
  webhookId: string,
): Promise<WebhookRecord> {
  const webhook = await storage.webhook(webhookId);
  if (webhook === null || webhook.accountId !== accountId || webhook.deletedAt !== null) {
    throw new PaymentError("WEBHOOK_NOT_FOUND", { webhookId });
  }
  return webhook;
}
