/** `paystate trigger`: sends one sample notice to a receiver, signed like a real one, and says how it was answered. */
import { parseUrl } from "../core/parse-url.ts";
import { SCOPES } from "../payments/frame/accounts/caller.ts";
import { isPaymentError } from "../errors/errors.ts";
import { newId } from "../payments/frame/ids.ts";
import { sampleNotice } from "../payments/webhooks/test-webhook.ts";
import { systemClock, systemRandom } from "../core/runtime.ts";
import { DELIVERY_DEADLINE_MS } from "../payments/webhooks/sending/attempt.ts";
import { NOTICE_EVENTS, noticeBody, type NoticeEvent } from "../payments/frame/notices/notice-body.ts";
import { signatureHeaders } from "../payments/webhooks/sending/signature.ts";
import type { OperatorService } from "./open-service.ts";
import { type Print, UsageError } from "./command.ts";

/** The event of that name. Throws a sentence that lists them all. */
export function eventOf(text: string): NoticeEvent {
  const event = NOTICE_EVENTS.find((each) => each === text);
  if (event !== undefined) return event;
  throw new UsageError(`there is no event "${text}": expected ${NOTICE_EVENTS.join(", ")}`);
}

/** An address of the caller's own machine or network is fine here: only the caller chooses it. */
export function targetOf(option: string, text: string): URL {
  const url = parseUrl(text);
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new UsageError(`${option} ${text}: expected a URL that begins with http:// or https://`);
}

/** Posts to any URL and prints the status; answers whether it was 200. Throws a sentence when no answer came. */
export async function triggerAt(
  event: NoticeEvent,
  { url, secret }: { readonly url: URL; readonly secret: string | null },
  print: Print,
): Promise<boolean> {
  const now = systemClock.now();
  const body = noticeBody(sampleNotice(event, newId("tx_test", now, systemRandom), now));
  const signed = signatureHeaders({
    body,
    secret,
    noticeId: newId("evt", now, systemRandom),
    timestampSeconds: Math.floor(now / 1_000),
  });
  const answer = await fetch(url, {
    method: "POST",
    body,
    headers: { ...signed, "content-type": "application/json", "user-agent": "paystate" },
    redirect: "manual",
    signal: AbortSignal.timeout(DELIVERY_DEADLINE_MS),
  }).catch((cause: unknown) => {
    throw new Error(`${url.origin} did not answer (${whyNot(cause)}): is the receiver running?`, { cause });
  });
  await answer.body?.cancel();
  return tell(event, { to: url.href, status: answer.status, isTaken: answer.status === 200 }, print);
}

/** An event, and the webhook to send it to. */
interface WebhookTrigger {
  readonly event: NoticeEvent;
  readonly webhookId: string;
  readonly accountId: string;
}

/** Sends to a registered webhook by its service. Throws a sentence when the account has no such webhook. */
export async function triggerWebhook(
  service: OperatorService,
  { event, webhookId, accountId }: WebhookTrigger,
  print: Print,
): Promise<boolean> {
  const { testWebhook } = service;
  if (testWebhook === undefined) {
    throw new Error("the exported `service` has no testWebhook: expected what createPaymentService returns");
  }
  // Nothing of the tier is asked for here: trying a webhook out has no limit of its own below HTTP.
  const caller = { accountId, tier: "free", scopes: SCOPES } as const;
  const { body } = await testWebhook(caller, webhookId, { event }).catch((cause: unknown) => {
    if (!isPaymentError(cause, "WEBHOOK_NOT_FOUND")) throw cause;
    throw new Error(`the account ${accountId} has no webhook ${webhookId}`, { cause });
  });
  const { delivered: isTaken, httpStatus, error } = body;
  return tell(event, { to: webhookId, status: httpStatus ?? `nothing (${error ?? ""})`, isTaken }, print);
}

interface ReceiverAnswer {
  readonly to: string;
  readonly status: number | string;
  readonly isTaken: boolean;
}

function tell(event: NoticeEvent, { to, status, isTaken }: ReceiverAnswer, print: Print): boolean {
  const verdict = isTaken ? "taken" : "not taken, 200 is expected";
  print(`${event} was sent to ${to}, which answered ${status}: ${verdict}.`);
  return isTaken;
}

function whyNot(error: unknown): string {
  const { name, cause } = error as Error;
  if (name === "TimeoutError") return `for ${DELIVERY_DEADLINE_MS / 1_000} seconds`;
  const { code } = (cause ?? {}) as NodeJS.ErrnoException;
  return code ?? "no HTTP came back";
}
