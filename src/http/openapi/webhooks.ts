/** Describes webhooks in the OpenAPI document. */
// modules: webhooks
import { z } from "zod";
import { sampleNotice } from "../../payments/webhooks/test-webhook.ts";
import { eventName, noticeData } from "../../payments/webhooks/list-events.ts";
import type { DescribedBody } from "../contract/endpoint.ts";
import { EVENT_ID, SETTLED_SECONDS, TRANSACTION_ID } from "../contract/examples.ts";
import { named, text, time } from "../../payments/frame/body-schemas.ts";
import { contentOf } from "./responses.ts";
import type { Json } from "./schemas.ts";

type EventName = z.output<typeof eventName>;

export const MEANINGS: Readonly<Record<EventName, string>> = {
  "transaction.pending":
    "The transaction was submitted to the network (wallet mode) or accepted, and is not paid for yet (private mode).",
  "transaction.confirmed": "The transaction is confirmed on the chain.",
  "transaction.completed": "The transaction is final.",
  "transaction.failed":
    "The transaction failed; `reason` says why. In a private payroll, `recipients` name the paid ones.",
  "transaction.deposit_received":
    "Private mode: money of the order's asset has become final at its deposit address; `received` and `remaining` are sums.",
  "transaction.held": "Private mode: the money of the order is held until the operator has looked at it.",
  "transaction.refunded":
    "A refund is final: one of private mode, which `refunds` of the transaction list, or a send of wallet mode, in `refundedBy`.",
  "transaction.cancelled": "The transaction was cancelled.",
};

const notice = named(
  "Notice",
  z.object({
    event: eventName,
    transactionId: text("The transaction's id."),
    timestamp: time("When the service recorded the status change or the event."),
    data: noticeData,
  }),
);

const DESCRIPTION =
  "Answer 200 within ten seconds. Anything else, redirects included, is a failure: there are six attempts over 7 h 21 min, and the body and `webhook-id` are the same each time. A notice may come twice. Verify the signature over the raw body before you believe it.";

const HEADERS: readonly Json[] = [
  header("webhook-id", "The notice's id, the same on every attempt.", EVENT_ID),
  header("webhook-timestamp", "When this attempt began, in Unix seconds.", String(SETTLED_SECONDS)),
  header(
    "webhook-signature",
    "Standard Webhooks: `v1,` and the base64 HMAC-SHA256 of id, timestamp and body. Absent without a secret.",
    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  ),
  header(
    "X-Service-Signature",
    "`sha256=` and the HMAC-SHA256 of the raw body in lower-case hex, keyed with the secret. Absent without a secret.",
    "sha256=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  ),
];

/** An OpenAPI webhook for each event, which the receiver serves. */
export function webhookOperations(): Json {
  return Object.fromEntries(eventName.options.map((event) => [event, { post: operationOf(event) }]));
}

function operationOf(event: EventName): Json {
  return {
    operationId: `on${event.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
    tags: ["Events"],
    summary: MEANINGS[event],
    description: DESCRIPTION,
    security: [],
    parameters: HEADERS,
    requestBody: { required: true, content: contentOf(exampleOf(event)) },
    responses: {
      "200": { description: "Taken. The body is ignored." },
      "4XX": { description: "Not taken: it is sent again later." },
    },
  };
}

function exampleOf(event: EventName): DescribedBody<typeof notice> {
  const { transactionId, data } = sampleNotice(event, TRANSACTION_ID, SETTLED_SECONDS * 1_000);
  const timestamp = new Date(SETTLED_SECONDS * 1_000).toISOString();
  return { schema: notice, examples: { [event]: { event, transactionId, timestamp, data } } };
}

function header(name: string, description: string, example: string): Json {
  return { name, in: "header", required: false, description, schema: { type: "string" }, example };
}
