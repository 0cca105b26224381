/** The calls of webhooks for callers of a service. */
import type { Answer, RequestOptions } from "../frame/accounts/answer-once.ts";
import type { Caller } from "../frame/accounts/caller.ts";
import type { ModuleEngine } from "../frame/module-engine.ts";
import type { Page } from "../frame/page.ts";
import type { PageQuery } from "../frame/request-fields.ts";
import type { ServiceContext } from "../frame/service-context.ts";
import { listDeliveries, redeliver, type DeliveryBody } from "./deliveries.ts";
import { listEvents, listTransactionEvents, type EventBody } from "./list-events.ts";
import type { Notice } from "../frame/notices/notice-body.ts";
import type { NoticeFilter } from "./notice-feed.ts";
import { recoverDeliveries, type RecoveryBody } from "./recover-deliveries.ts";
import type {
  EventsQuery,
  RecoveryRequest,
  WebhookRequest,
  WebhookTestRequest,
  WebhookUpdateRequest,
} from "./requests.ts";
import { testWebhook, type TestedWebhookBody } from "./test-webhook.ts";
import type { WebhookBody, WebhookContext, WholeWebhookBody } from "./webhook-fields.ts";
import type { WebhookDeliveryWorkflow } from "./webhook-delivery-workflow.ts";
import type { WebhookStorage, WebhookTables, WebhookWrite } from "./webhook-storage.ts";
import { deleteWebhook, listWebhooks, readWebhook, registerWebhook, updateWebhook } from "./webhooks.ts";

/** Calls about webhooks, their deliveries and the events of an account. */
export interface WebhookCalls {
  /**
   * Tells a listener of notices without a webhook: at once of notices that this process commits, and, while the service
   * runs, a second later of notices of other processes on the same database. A notice is told at most once; notices of
   * the status of one transaction come in the order of its steps. For screens and logs: notices that must not be
   * missed, even while this process is down, need a webhook. Returns the function that stops.
   */
  subscribe(filter: NoticeFilter, listener: (notice: Notice) => void): () => void;
  registerWebhook(
    caller: Caller,
    request: WebhookRequest,
    options?: RequestOptions,
  ): Promise<Answer<WebhookBody>>;
  webhooks(caller: Caller): Promise<{ readonly webhooks: readonly WholeWebhookBody[] }>;
  webhook(caller: Caller, webhookId: string): Promise<WholeWebhookBody>;
  /**
   * Changes what is named and nothing else. A new `url` counts as a registration and is checked like one. A new `secret`
   * signs at once, and the one before for `webhooks.secretOverlapMs` longer; null ends signing. While a webhook is not
   * enabled nothing is started for it, and what becomes due is dropped. Throws what registering throws,
   * `WEBHOOK_NOT_FOUND`, and `VALIDATION_ERROR` for an empty change.
   */
  updateWebhook(
    caller: Caller,
    webhookId: string,
    request: WebhookUpdateRequest,
    options?: Pick<RequestOptions, "onLimit">,
  ): Promise<WholeWebhookBody>;
  /**
   * Sends one sample notice of this event to a webhook, signed like a real one; the webhook need not be enabled or subscribed
   * to the event. One attempt, never repeated and never listed: its `transactionId` begins with `tx_test_`. Resolves
   * whatever the receiver does. Throws `WEBHOOK_NOT_FOUND`, `INVALID_EVENTS`, `VALIDATION_ERROR`.
   */
  testWebhook(
    caller: Caller,
    webhookId: string,
    request: WebhookTestRequest,
    options?: RequestOptions,
  ): Promise<Answer<TestedWebhookBody>>;
  /**
   * Notices announced since the account exists, newest first, or with `order: "asc"` oldest first. The list grows only
   * at its new end: reading on from the last id misses nothing. Throws `VALIDATION_ERROR`.
   */
  events(caller: Caller, query?: EventsQuery): Promise<Page<EventBody>>;
  /** The timeline of one transaction. Throws `TRANSACTION_NOT_FOUND`, `VALIDATION_ERROR`. */
  transactionEvents(caller: Caller, transactionId: string, query?: EventsQuery): Promise<Page<EventBody>>;
  /** A webhook's deliveries with their attempts, newest first. Throws `WEBHOOK_NOT_FOUND`, `VALIDATION_ERROR`. */
  deliveries(caller: Caller, webhookId: string, query?: PageQuery): Promise<Page<DeliveryBody>>;
  /**
   * Sends a notice once more, the same id and the same bytes, with six attempts of its own; of a delivery that waits for
   * its next attempt it ends the pause. Throws `WEBHOOK_NOT_FOUND`, `DELIVERY_NOT_FOUND`, and `VALIDATION_ERROR` while the
   * webhook is disabled.
   */
  redeliver(
    caller: Caller,
    ids: { readonly webhookId: string; readonly deliveryId: string },
    options?: RequestOptions,
  ): Promise<Answer<DeliveryBody>>;
  /**
   * Redelivers all subscribed notices since then that were not delivered, including those never attempted because the webhook
   * was disabled: oldest first, at most 250 at a time. Deliveries that are still tried are left alone.
   * Throws `WEBHOOK_NOT_FOUND`, and `VALIDATION_ERROR` also while the webhook is disabled.
   */
  recoverWebhook(
    caller: Caller,
    webhookId: string,
    request: RecoveryRequest,
    options?: RequestOptions,
  ): Promise<Answer<RecoveryBody>>;
  deleteWebhook(
    caller: Caller,
    webhookId: string,
  ): Promise<{ readonly webhookId: string; readonly deleted: true }>;
}

/** Calls that read or write the storage. */
export type AskedWebhookCalls = Omit<WebhookCalls, "subscribe">;

/** Dependencies of the calls. */
interface WebhookCallParts
  extends
    Pick<ServiceContext<WebhookStorage>, "storage" | "clock" | "random" | "assets">,
    Pick<WebhookContext, "sealing" | "delivery" | "rules" | "secretOverlapMs"> {
  readonly engine: () => ModuleEngine<WebhookTables>;
  readonly deliveries: WebhookDeliveryWorkflow;
}

export function webhookCalls({ engine, deliveries, ...given }: WebhookCallParts): AskedWebhookCalls {
  const { storage, clock } = given;
  const commit = async (writes: readonly WebhookWrite[]): Promise<boolean> =>
    (await engine().commit({ writes })).ok;
  const webhooks = { ...given, commit };
  const sending = { storage, clock, engine, workflow: deliveries };
  return {
    registerWebhook: (caller, request, options) => registerWebhook(webhooks, caller, { request, options }),
    webhooks: (caller) => listWebhooks(storage, caller),
    webhook: (caller, webhookId) => readWebhook(storage, caller, webhookId),
    // oxlint-disable-next-line eslint/max-params -- a public method: caller, id, request, options
    updateWebhook: (caller, webhookId, request, options) =>
      updateWebhook(webhooks, caller, { webhookId, request, ...options }),
    // oxlint-disable-next-line eslint/max-params -- a public method: caller, id, request, options
    testWebhook: (caller, webhookId, request, options) =>
      testWebhook(webhooks, caller, { webhookId, request, options }),
    deleteWebhook: (caller, webhookId) => deleteWebhook(webhooks, caller, webhookId),
    deliveries: (caller, webhookId, query) => listDeliveries(storage, caller, { webhookId, query }),
    redeliver: (caller, ids, options) => redeliver(sending, caller, { ...ids, options }),
    // oxlint-disable-next-line eslint/max-params -- a public method: caller, id, request, options
    recoverWebhook: (caller, webhookId, request, options) =>
      recoverDeliveries(sending, caller, { webhookId, request, options }),
    events: (caller, query) => listEvents(given, caller, query),
    transactionEvents: (caller, transactionId, query) =>
      listTransactionEvents(given, caller, { transactionId, query }),
  };
}
