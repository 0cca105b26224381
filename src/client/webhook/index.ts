/** `paystate/webhook`: what a receiver of webhooks needs. It has no dependencies and runs wherever there is Web Crypto. */
export { verifyWebhook, WebhookRefused } from "./verify-webhook.ts";
export type {
  VerifyWebhookOptions,
  WebhookHeaders,
  WebhookNotice,
  WebhookRefusal,
  WebhookSecret,
} from "./verify-webhook.ts";
export type {
  Notice,
  NoticeEvent,
  NoticeRecipient,
  TransactionFacts,
} from "../../payments/frame/notices/notice-body.ts";
