/** The fields of a webhook: checked as a caller gives them, shown as its owner sees them, without the secret. */
import { z } from "zod";
import type { Immutable } from "../../core/immutable.ts";
import { named, text, time } from "../frame/body-schemas.ts";
import { PaymentError } from "../../errors/errors.ts";
import { parseReceiverUrl, type ReceiverRules } from "./sending/receiver-url.ts";
import { NOTICE_EVENTS, type NoticeEvent } from "../frame/notices/notice-body.ts";
import type { WebhookRecord } from "./tables.ts";
import type { WebhookStorage, WebhookWrite } from "./webhook-storage.ts";
import type { Caller } from "../frame/accounts/caller.ts";
import { isoTime } from "../frame/iso-time.ts";
import type { ServiceContext } from "../frame/service-context.ts";
import type { SecretBox } from "../frame/secrets/secret-box.ts";
import type { DeliveryClient } from "./sending/attempt.ts";

/** The URL in its normal form, or `INVALID_URL` with the reason. */
export function readUrl(putativeUrl: string, rules: ReceiverRules): string {
  const read = parseReceiverUrl(putativeUrl, rules);
  if ("ok" in read) return read.ok.href;
  // A URL may carry a password; the error does not repeat it.
  const url = putativeUrl.slice(0, 256).replace(/\/\/[^/@]*@/, "//***@");
  throw new PaymentError("INVALID_URL", { url, reason: read.refused });
}

/** Known events without duplicates, or `INVALID_EVENTS`. */
export function readEvents(putativeEvents: readonly string[]): readonly NoticeEvent[] {
  const known = (event: string): event is NoticeEvent => (NOTICE_EVENTS as readonly string[]).includes(event);
  const invalid = putativeEvents.filter((event) => !known(event));
  if (putativeEvents.length === 0 || invalid.length > 0) {
    throw new PaymentError("INVALID_EVENTS", { invalid, allowed: NOTICE_EVENTS });
  }
  return [...new Set(putativeEvents.filter(known))];
}

/** Reads a known event. Throws `INVALID_EVENTS`. */
export function readEvent(putativeEvent: string): NoticeEvent {
  const [event] = readEvents([putativeEvent]);
  if (event === undefined) throw new Error("one event was read as none");
  return event;
}

/** The answer to a registration. */
export const registeredWebhook = named(
  "RegisteredWebhook",
  z.object({
    webhookId: text("The webhook's id."),
    url: text("Where notices are sent."),
    events: z.array(z.string()).describe("The events that it is told."),
    createdAt: time("When it was registered."),
  }),
);

/** The webhook in the answers of all endpoints except registration. */
export const webhookSchema = named(
  "Webhook",
  registeredWebhook.extend({
    enabled: z.boolean().describe("Nothing is delivered to a webhook that is not enabled."),
    disabledReason: z
      .string()
      .nullable()
      .describe("Why it is not enabled, disabled_by_owner or disabled_after_failures; null while it is."),
  }),
);

/** The answer to a registration. @interface */
export type WebhookBody = Immutable<z.output<typeof registeredWebhook>>;

/** The webhook in the answers of all endpoints except registration. @interface */
export type WholeWebhookBody = Immutable<z.output<typeof webhookSchema>>;

export function webhookBody({ id, url, events, createdAt }: WebhookRecord): WebhookBody {
  return { webhookId: id, url, events, createdAt: isoTime(createdAt) };
}

export function wholeWebhookBody(webhook: WebhookRecord): WholeWebhookBody {
  const { disabledAt, disabledReason } = webhook;
  return { ...webhookBody(webhook), enabled: disabledAt === null, disabledReason };
}

/** The caller's webhook. Throws `WEBHOOK_NOT_FOUND`, the same for an unknown, a deleted and another account's one. */
export async function ownWebhook(
  storage: WebhookStorage,
  { accountId }: Caller,
  webhookId: string,
): Promise<WebhookRecord> {
  const webhook = await storage.webhook(webhookId);
  if (webhook === null || webhook.accountId !== accountId || webhook.deletedAt !== null) {
    throw new PaymentError("WEBHOOK_NOT_FOUND", { webhookId });
  }
  return webhook;
}

/** The parts that all use cases about webhooks share; made once for each service. */
export interface WebhookContext extends Pick<ServiceContext<WebhookStorage>, "storage" | "clock" | "random"> {
  readonly sealing: SecretBox;
  readonly delivery: DeliveryClient;
  readonly rules: ReceiverRules;
  /** For how long deliveries are signed with the replaced secret, too, in milliseconds. */
  readonly secretOverlapMs: number;
  /** Commits these writes together; false when one of them was refused. */
  readonly commit: (writes: readonly WebhookWrite[]) => Promise<boolean>;
}
