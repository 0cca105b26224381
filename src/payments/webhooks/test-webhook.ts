/** Tries a webhook: one attempt with a sample notice, made and signed like a real one, and never repeated. */
import { z } from "zod";
import type { Immutable } from "../../core/immutable.ts";
import { named, text } from "../frame/body-schemas.ts";
import type { WebhookRecord } from "./tables.ts";
import { noticeBody, type NoticeEvent, type Notice } from "../frame/notices/notice-body.ts";
import { signatureHeaders } from "./sending/signature.ts";
import {
  answerOnce,
  type Answer,
  type Decision,
  type RequestOptions,
} from "../frame/accounts/answer-once.ts";
import type { Caller } from "../frame/accounts/caller.ts";
import { newId } from "../frame/ids.ts";
import { parseRequest } from "../frame/request-fields.ts";
import { webhookTest, type WebhookTestRequest } from "./requests.ts";
import { deliveryError, shownError } from "./deliveries.ts";
import { ownWebhook, readEvent, type WebhookContext } from "./webhook-fields.ts";
import { secretsOf } from "./webhook-secret.ts";

export const testedWebhook = named(
  "TestedWebhook",
  z.object({
    deliveryId: text("The delivery's id. It is not listed."),
    webhookId: text("The webhook's id."),
    event: text("The event that was sent."),
    delivered: z.boolean().describe("Whether the receiver answered as it has to, in time."),
    httpStatus: z.int().nullable().describe("Null when no answer came."),
    durationMs: z.int(),
    error: deliveryError,
  }),
);

/** The result of a test attempt, for the webhook's owner. @interface */
export type TestedWebhookBody = Immutable<z.output<typeof testedWebhook>>;

interface WebhookTestCall {
  readonly webhookId: string;
  readonly request: WebhookTestRequest;
  readonly options?: RequestOptions | undefined;
}

/** See `PaymentService.testWebhook`. */
export function testWebhook(
  context: WebhookContext,
  caller: Caller,
  { webhookId, request, options = {} }: WebhookTestCall,
): Promise<Answer<TestedWebhookBody>> {
  const path = `/v1/webhooks/${webhookId}/test`;
  return answerOnce(context, { caller, path, request, options }, async () => {
    const { event } = parseRequest(webhookTest, request);
    const webhook = await ownWebhook(context.storage, caller, webhookId);
    return sendSample(context, webhook, readEvent(event));
  });
}

async function sendSample(
  { clock, random, sealing, delivery, commit }: WebhookContext,
  webhook: WebhookRecord,
  event: NoticeEvent,
): Promise<Decision<TestedWebhookBody>> {
  const now = clock.now();
  const body = noticeBody(sampleNotice(event, newId("tx_test", now, random), now));
  const headers = signatureHeaders({
    body,
    ...secretsOf(sealing, webhook, now),
    noticeId: newId("evt", now, random),
    timestampSeconds: Math.floor(now / 1_000),
  });
  const { ok, httpStatus, error, durationMs } = await delivery.attempt({ url: webhook.url, body, headers });
  return {
    body: {
      deliveryId: newId("dlv", now, random),
      webhookId: webhook.id,
      event,
      delivered: ok,
      httpStatus,
      durationMs,
      error: shownError(error),
    },
    commit: async (writes) => writes.length === 0 || commit(writes),
  };
}

/** The system program, which no wallet signs for: a sample that is mistaken for a real notice names no person. */
const NO_WALLET = "11111111111111111111111111111111";
/** 64 bytes of 0 in base58. */
const NO_SIGNATURE = "1".repeat(64);

const NO_QUOTE = `quote_${"0".repeat(32)}`;

const PRIVATE = { mode: "private", signature: null } as const;
const FINAL = { blockTime: 0, fee: "0.000005" };

/** The own fields of each event's sample; a block time is that of the sample. */
const SAMPLES: Readonly<
  Record<NoticeEvent, Partial<Notice["data"]> & { readonly status: Notice["data"]["status"] }>
> = {
  "transaction.pending": { status: "pending" },
  "transaction.confirmed": { status: "confirmed" },
  "transaction.completed": { status: "completed", ...FINAL },
  "transaction.failed": { status: "failed", ...FINAL, reason: "transaction_error" },
  "transaction.deposit_received": { ...PRIVATE, status: "pending", received: "0.4", remaining: "0.6" },
  "transaction.held": { ...PRIVATE, status: "processing" },
  "transaction.refunded": { ...PRIVATE, status: "processing", reason: "INCOMPLETE_DEPOSIT" },
  "transaction.cancelled": { status: "cancelled", fee: "0" },
};

/** A sample notice of each event, as in a send of 1 SOL. */
export function sampleNotice(event: NoticeEvent, transactionId: string, now: number): Notice {
  const { blockTime = null, ...own } = SAMPLES[event];
  return {
    event,
    transactionId,
    timestamp: now,
    data: {
      transactionId,
      mode: "wallet",
      type: "send",
      signature: NO_SIGNATURE,
      blockTime: blockTime === null ? null : Math.floor(now / 1_000),
      fee: null,
      recipients: [{ address: NO_WALLET, amount: "1" }],
      reason: null,
      reference: null,
      sender: NO_WALLET,
      quoteId: NO_QUOTE,
      inputAsset: "SOL",
      inputMint: null,
      inputAmount: "1",
      outputAsset: "SOL",
      outputMint: null,
      outputAmount: "1",
      ...own,
    },
  };
}
