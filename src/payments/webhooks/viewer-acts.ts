/** Acts of viewers on webhooks and deliveries, all in the audit log. */
import { ActRefused, type GivenAct, type OfferedAct } from "../../engine/inspected-engine.ts";
import { parseUrl } from "../../core/parse-url.ts";
import type { Caller } from "../frame/accounts/caller.ts";
import type { ActName } from "../frame/acts/act.ts";
import type { OpeningDeps } from "../frame/open-module.ts";
import type { WebhookRecord } from "./tables.ts";
import type { TestedWebhookBody } from "./test-webhook.ts";
import type { WebhookCalls } from "./webhook-calls.ts";
import type { WebhookStorage, WebhookTables } from "./webhook-storage.ts";

interface WebhookActParts extends Pick<
  OpeningDeps<WebhookStorage, WebhookTables, object>,
  "storage" | "engine" | "writeAct"
> {
  readonly calls: Pick<WebhookCalls, "redeliver" | "testWebhook">;
}

const TEST = "test";

const REDELIVER: OfferedAct = {
  key: "redeliver",
  label: "Deliver again",
  consequence:
    "The same notice is sent once more, the same id and the same bytes, with six attempts of its own.",
};

function sendTest({ url, events }: WebhookRecord): OfferedAct {
  return {
    key: TEST,
    label: "Send a test",
    consequence: `One sample notice of the chosen event is sent to ${originOf(url)}, signed like a real one, also while the webhook is off. It is about no money, is not repeated, and does not stand among the deliveries.`,
    takesEvent: events,
  };
}

/** The path of a webhook's URL may be a secret of its receiver. */
function originOf(url: string): string {
  return parseUrl(url)?.origin ?? "its receiver";
}

export class WebhookActs {
  readonly #parts: WebhookActParts;

  constructor(parts: WebhookActParts) {
    this.#parts = parts;
  }

  async offers(id: string): Promise<readonly OfferedAct[]> {
    const { storage } = this.#parts;
    const [delivery, webhook] = await Promise.all([storage.delivery(id), storage.webhook(id)]);
    return [
      ...(webhook === null || webhook.deletedAt !== null ? [] : [sendTest(webhook)]),
      ...(delivery === null || delivery.status === "pending" ? [] : [REDELIVER]),
    ];
  }

  async perform(id: string, key: string, by: GivenAct): Promise<string | null> {
    if (key === REDELIVER.key) return this.#redeliver(id, by);
    return key === TEST ? this.#sendTest(id, by) : null;
  }

  async #redeliver(deliveryId: string, by: GivenAct): Promise<string> {
    const { storage, calls } = this.#parts;
    const delivery = await storage.delivery(deliveryId);
    if (delivery === null) throw new ActRefused("There is no such delivery.");
    const { webhookId, accountId } = delivery;
    await this.#note("request_redelivery", { deliveryId, webhookId }, by);
    await calls.redeliver(await this.#callerOf(accountId), { webhookId, deliveryId });
    return "The notice is on its way once more.";
  }

  /** The row of the audit log says that it was tried; the answer of the receiver is for the person who asked. */
  async #sendTest(webhookId: string, { event = "", ...by }: GivenAct): Promise<string> {
    const { storage, calls } = this.#parts;
    const webhook = await storage.webhook(webhookId);
    if (webhook === null) throw new ActRefused("There is no such webhook.");
    if (!webhook.events.includes(event)) {
      throw new ActRefused(`Expected one of the events of this webhook: ${webhook.events.join(", ")}.`);
    }
    await this.#note("test_webhook", { webhookId, event }, by);
    const { body } = await calls.testWebhook(await this.#callerOf(webhook.accountId), webhookId, { event });
    return testWords(body);
  }

  /** Writes the audit row before the act: a refused act, or an act whose process died, is logged as an attempt. */
  async #note(act: ActName, what: Readonly<Record<string, unknown>>, by: GivenAct): Promise<void> {
    await this.#parts.engine().commit({ writes: [this.#parts.writeAct({ by, act, what })] });
  }

  async #callerOf(accountId: string): Promise<Caller> {
    const account = await this.#parts.storage.account(accountId);
    if (account === null) throw new ActRefused("Its account is gone.");
    return { accountId, tier: account.tier, scopes: [] };
  }
}

function testWords({ delivered, httpStatus, durationMs, error }: TestedWebhookBody): string {
  const answer = httpStatus === null ? "No answer came" : `The receiver answered ${httpStatus}`;
  const after = `after ${durationMs} ms`;
  return delivered
    ? `${answer} ${after}: the test was taken.`
    : `${answer} ${after}: the test was not taken (${error ?? "no reason"}).`;
}
