/** Lists a webhook's deliveries as its owner sees them, and sends one of them again. */
import { z } from "zod";
import type { Immutable } from "../../core/immutable.ts";
import { named, text, time } from "../frame/body-schemas.ts";
import type { WebhookTables, WebhookStorage, WebhookWrite } from "./webhook-storage.ts";
import type { DeliveryRecord, WebhookRecord, DeliveryAttemptRecord } from "./tables.ts";
import type { ModuleEngine } from "../frame/module-engine.ts";
import { PaymentError, fieldError } from "../../errors/errors.ts";
import type { Clock } from "../../core/runtime.ts";
import {
  answerOnce,
  type Answer,
  type Decision,
  type RequestOptions,
} from "../frame/accounts/answer-once.ts";
import type { Caller } from "../frame/accounts/caller.ts";
import { nextRun, type BegunRun } from "./delivery-runs.ts";
import { notInList, pageOf, type Page } from "../frame/page.ts";
import { pageQuery, parseRequest, type PageQuery } from "../frame/request-fields.ts";
import { ownWebhook } from "./webhook-fields.ts";
import type { WebhookDeliveryWorkflow } from "./webhook-delivery-workflow.ts";
import { isoTime } from "../frame/iso-time.ts";
import type { AttemptError } from "./sending/attempt.ts";

export interface DeliveryParts {
  readonly storage: WebhookStorage;
  readonly clock: Clock;
  readonly engine: () => ModuleEngine<WebhookTables>;
  readonly workflow: WebhookDeliveryWorkflow;
}

interface DeliveryListCall {
  readonly webhookId: string;
  readonly query?: PageQuery | undefined;
}

/** See `PaymentService.deliveries`. */
export async function listDeliveries(
  storage: WebhookStorage,
  caller: Caller,
  { webhookId, query = {} }: DeliveryListCall,
): Promise<Page<DeliveryBody>> {
  const { limit, startingAfter } = parseRequest(pageQuery, query);
  await ownWebhook(storage, caller, webhookId);
  const below = startingAfter === undefined ? null : await storage.delivery(startingAfter);
  if (startingAfter !== undefined && below?.webhookId !== webhookId) throw notInList("delivery");
  const found = await storage.deliveriesTo(webhookId, { below, limit: limit + 1 });
  const { data, hasMore } = pageOf(found, limit);
  return { data: await Promise.all(data.map((each) => deliveryBody(storage, each))), hasMore };
}

interface RedeliveryCall {
  readonly webhookId: string;
  readonly deliveryId: string;
  readonly options?: RequestOptions | undefined;
}

/** See `PaymentService.redeliver`. */
export function redeliver(
  parts: DeliveryParts,
  caller: Caller,
  asked: RedeliveryCall,
): Promise<Answer<DeliveryBody>> {
  const { webhookId, deliveryId, options = {} } = asked;
  const path = `/v1/webhooks/${webhookId}/deliveries/${deliveryId}/redeliver`;
  return answerOnce(parts, { caller, path, request: null, options }, () =>
    decideRedelivery(parts, caller, asked),
  );
}

async function decideRedelivery(
  parts: DeliveryParts,
  caller: Caller,
  { webhookId, deliveryId }: RedeliveryCall,
): Promise<Decision<DeliveryBody>> {
  const { storage, workflow } = parts;
  const webhook = await ownWebhook(storage, caller, webhookId);
  const delivery = await storage.delivery(deliveryId);
  if (delivery?.webhookId !== webhook.id) throw new PaymentError("DELIVERY_NOT_FOUND", { deliveryId });
  refuseDisabled(webhook);
  const body = await deliveryBody(storage, { ...delivery, status: "pending" });
  if (delivery.status === "pending") return { body, commit: (writes) => hurry(parts, delivery, writes) };
  return { body, commit: (writes) => beginRuns(parts, [nextRun(workflow, delivery, null)], writes) };
}

/**
 * Ends the pause of a delivery that is under way; a delivery that is being attempted, or waits for its turn, goes on.
 */
async function hurry(
  parts: DeliveryParts,
  delivery: DeliveryRecord,
  writes: readonly WebhookWrite[],
): Promise<boolean> {
  const { engine, workflow } = parts;
  const sent = await engine().send(workflow, delivery.id, { type: "RETRY" }, { writes });
  return sent.kind === "unchanged" ? beginRuns(parts, [], writes) : sent.kind === "stepped";
}

/** Begins runs in one commit with `writes`; false when another request came first. */
export async function beginRuns(
  { engine }: Pick<DeliveryParts, "engine">,
  runs: readonly BegunRun[],
  writes: readonly WebhookWrite[],
): Promise<boolean> {
  if (runs.length === 0 && writes.length === 0) return true;
  const starts = runs.map(({ start }) => start);
  return (await engine().commit({ starts, writes: [...runs.map(({ write }) => write), ...writes] })).ok;
}

/** Throws `VALIDATION_ERROR`: a delivery that begins while its webhook is disabled would be dropped at once. */
export function refuseDisabled({ disabledAt }: WebhookRecord): void {
  if (disabledAt === null) return;
  const message = "is disabled; enable it first";
  throw fieldError("webhookId", message);
}

export const deliveryError = z
  .string()
  .nullable()
  .describe(
    "Null when it was delivered; otherwise dns, connect, tls, timeout, reset, redirect, http_status, headers_too_large or crashed.",
  );

const openingMs = z.int().nullable().describe("Null where a kept connection served, or none was opened.");

const deliveryAttempt = named(
  "DeliveryAttempt",
  z.object({
    number: z.int().describe("From 1."),
    startedAt: time("When it began."),
    durationMs: z.int().describe("Until the answer was read, or the attempt had failed."),
    phases: z.object({
      dnsMs: openingMs,
      connectMs: openingMs,
      tlsMs: openingMs,
      firstByteMs: z
        .int()
        .nullable()
        .describe("From the start to the status line; null when no answer came."),
    }),
    httpStatus: z.int().nullable().describe("Null when no answer came."),
    error: deliveryError,
    excerpt: z.string().nullable().describe("The beginning of the answer's body."),
  }),
);

export const deliverySchema = named(
  "Delivery",
  z.object({
    deliveryId: text("The delivery's id."),
    webhookId: text("The webhook's id."),
    eventId: text("The same as `webhook-id` of its attempts."),
    event: text("What it tells."),
    transactionId: text("The transaction that it tells of."),
    status: z
      .enum(["pending", "delivered", "abandoned", "dropped"])
      .describe("`dropped`: the webhook was deleted or disabled before it was due."),
    createdAt: time("When what it tells of happened."),
    attempts: z.array(deliveryAttempt).describe("Those that have ended, in their order."),
  }),
);

/** The delivery of a notice to a webhook. @interface */
export type DeliveryBody = Immutable<z.output<typeof deliverySchema>>;

async function deliveryBody(storage: WebhookStorage, delivery: DeliveryRecord): Promise<DeliveryBody> {
  const { id, webhookId, noticeId, transactionId, status, createdAt } = delivery;
  const [notice, attempts] = await Promise.all([storage.notice(noticeId), storage.deliveryAttempts(id)]);
  return {
    deliveryId: id,
    webhookId,
    eventId: noticeId,
    event: notice?.event ?? "",
    transactionId,
    status,
    createdAt: isoTime(createdAt),
    attempts: attempts.map(attemptBody),
  };
}

function attemptBody(attempt: DeliveryAttemptRecord): DeliveryBody["attempts"][number] {
  const { number, startedAt, durationMs, opening, firstByteMs, httpStatus, error, excerpt } = attempt;
  const { dns: dnsMs = null, connect: connectMs = null, tls: tlsMs = null } = opening ?? {};
  const phases = { dnsMs, connectMs, tlsMs, firstByteMs };
  const told = { durationMs, phases, httpStatus, error: shownError(error), excerpt };
  return { number, startedAt: isoTime(startedAt), ...told };
}

const BLOCKED: AttemptError = "blocked_address";
const UNRESOLVED: AttemptError = "dns";

/** A refused address is shown as an unresolved name: otherwise a tenant could map this server's own network. */
export function shownError(error: string | null): string | null {
  return error === BLOCKED ? UNRESOLVED : error;
}
