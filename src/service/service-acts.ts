/** Acts of viewers on instances of a payment service: the acts of an operator, all in the audit log. */
import { commitOne } from "../../storage/decided.ts";
import { PaymentError } from "../errors/errors.ts";
import { ActRefused, type ViewerActs, type GivenAct, type OfferedAct } from "../engine/inspected-engine.ts";
import type { Engine } from "../engine/index.ts";
import { partsOf, repairsOf } from "../engine/engine-acts.ts";
import { DamagedSnapshot, snapshotFromText } from "../workflow/snapshot-text.ts";
import type { AnyWorkflow } from "../workflow/workflow.ts";
import type { Commit } from "../../storage/storage.ts";
import {
  createWriteAct,
  readActContext,
  type ActName,
  type WriteAct,
  OperatorRefused,
} from "../payments/frame/acts/act.ts";
import type { Caller } from "../payments/frame/accounts/caller.ts";
import type { PaymentContext, PaymentTables } from "../payments/payment-storage.ts";
import type { WebhookRecord } from "../payments/webhooks/tables.ts";
import type { OpenModule } from "../payments/frame/open-module.ts";
import type { TestedWebhookBody } from "../payments/webhooks/test-webhook.ts";
import { parseUrl } from "../core/parse-url.ts";
import type { PaymentService } from "./payment-service.ts";

export interface ServiceActsParts extends PaymentContext {
  readonly engine: Pick<Engine<PaymentTables>, "commit">;
  readonly service: Pick<PaymentService, "cancelTransaction" | "redeliver" | "testWebhook" | "operator">;
  readonly workflows: readonly AnyWorkflow[];
  readonly modules: readonly Pick<OpenModule, "offers" | "cancellable">[];
}

interface Repair {
  readonly instance: string;
  readonly act: ActName;
  readonly by: GivenAct;
}

const MAX_TASKS = 100;

const CANCEL: OfferedAct = {
  key: "cancel",
  label: "Cancel the transaction",
  consequence:
    "The transaction is cancelled for its account, unless its payment or its deposit is on its way by then. Its webhooks are told.",
};

const REDELIVER: OfferedAct = {
  key: "redeliver",
  label: "Deliver again",
  consequence:
    "The same notice is sent once more, the same id and the same bytes, with six attempts of its own.",
};

function sendTest({ url, events }: WebhookRecord): OfferedAct {
  return {
    key: "test",
    label: "Send a test",
    consequence: `One sample notice of the chosen event is sent to ${originOf(url)}, signed like a real one, also while the webhook is off. It is about no money, is not repeated, and does not stand among the deliveries.`,
    takesEvent: events,
  };
}

/** The path of a webhook's URL may be a secret of its receiver. */
function originOf(url: string): string {
  return parseUrl(url)?.origin ?? "its receiver";
}

/** Facts of the chain are never sent by hand: what moves money is believed from the chain alone. */
export class ServiceActs implements ViewerActs {
  readonly #parts: ServiceActsParts;
  readonly #writeAct: WriteAct;

  constructor(parts: ServiceActsParts) {
    this.#parts = parts;
    this.#writeAct = createWriteAct(parts);
  }

  async offers(instance: string): Promise<readonly OfferedAct[]> {
    const { storage, modules } = this.#parts;
    const [tasks, own, delivery, webhook] = await Promise.all([
      storage.tasks({ order: "instance", instance, limit: MAX_TASKS }),
      Promise.all(modules.map(async (module) => (await module.offers?.(instance)) ?? [])),
      storage.delivery(instance),
      storage.webhook(instance),
    ]);
    return [
      ...(webhook === null || webhook.deletedAt !== null ? [] : [sendTest(webhook)]),
      ...tasks.flatMap(repairsOf),
      ...((await this.#isCancellable(instance)) ? [CANCEL] : []),
      ...own.flat(),
      ...(delivery === null || delivery.status === "pending" ? [] : [REDELIVER]),
    ];
  }

  async perform(instance: string, key: string, given: GivenAct): Promise<string> {
    const isOffered = (await this.offers(instance)).some((each) => each.key === key);
    if (!isOffered) throw new ActRefused("This can no longer be done: the instance has moved on.");
    try {
      const { actor, reason, event } = given;
      const by = { ...readActContext({ actor, reason }), ...(event !== undefined && { event }) };
      return await this.#perform(instance, key, by);
    } catch (error) {
      if (error instanceof OperatorRefused || error instanceof PaymentError) {
        throw new ActRefused(error.message, { cause: error });
      }
      throw error;
    }
  }

  async #perform(instance: string, key: string, by: GivenAct): Promise<string> {
    const { clock } = this.#parts;
    const [verb, task] = partsOf(key);
    switch (verb) {
      case "retry":
        await this.#repair(
          { instance, act: "retry", by },
          { retries: [{ task, dueAt: clock.now(), delayMs: 0 }] },
        );
        return "The task is due now.";
      case "drop":
        await this.#repair({ instance, act: "drop", by }, { drops: [task] });
        return "The task was dropped.";
      case "release":
        await this.#parts.service.operator.resolve(instance, { action: "release" }, by);
        return "The order is released. A service at work goes on with it.";
      case "cancel":
        return this.#cancel(instance, by);
      case "test":
        return this.#sendTest(instance, by);
      default:
        return this.#redeliver(instance, by);
    }
  }

  async #repair(
    { instance, act, by }: Repair,
    parts: Pick<Commit<PaymentTables>, "retries" | "drops">,
  ): Promise<void> {
    const what = { instance, ...parts };
    const writes = [this.#writeAct({ by, act, what })];
    const result = await commitOne(this.#parts.storage, { ...parts, writes });
    if (!result.ok) {
      throw new ActRefused("The task is done, in hand, or no longer failing: nothing was changed.");
    }
  }

  async #cancel(transactionId: string, by: GivenAct): Promise<string> {
    const { storage, service } = this.#parts;
    const found = await storage.transaction(transactionId);
    if (found === null) throw new ActRefused("There is no such transaction.");
    await this.#note("request_cancel", { transactionId }, by);
    await service.cancelTransaction(await this.#callerOf(found.transaction.accountId), transactionId);
    return "The transaction is cancelled.";
  }

  async #redeliver(deliveryId: string, by: GivenAct): Promise<string> {
    const { storage, service } = this.#parts;
    const delivery = await storage.delivery(deliveryId);
    if (delivery === null) throw new ActRefused("There is no such delivery.");
    const { webhookId, accountId } = delivery;
    await this.#note("request_redelivery", { deliveryId, webhookId }, by);
    await service.redeliver(await this.#callerOf(accountId), { webhookId, deliveryId });
    return "The notice is on its way once more.";
  }

  /** The row of the audit log says that it was tried; the answer of the receiver is for the person who asked. */
  async #sendTest(webhookId: string, { event = "", ...by }: GivenAct): Promise<string> {
    const { storage, service } = this.#parts;
    const webhook = await storage.webhook(webhookId);
    if (webhook === null) throw new ActRefused("There is no such webhook.");
    if (!webhook.events.includes(event)) {
      throw new ActRefused(`Expected one of the events of this webhook: ${webhook.events.join(", ")}.`);
    }
    await this.#note("test_webhook", { webhookId, event }, by);
    const { body } = await service.testWebhook(await this.#callerOf(webhook.accountId), webhookId, { event });
    return testWords(body);
  }

  /** Writes the audit row before the act: a refused act, or an act whose process died, is logged as an attempt. */
  async #note(act: ActName, what: Readonly<Record<string, unknown>>, by: GivenAct): Promise<void> {
    await this.#parts.engine.commit({ writes: [this.#writeAct({ by, act, what })] });
  }

  async #callerOf(accountId: string): Promise<Caller> {
    const account = await this.#parts.storage.account(accountId);
    if (account === null) throw new ActRefused("Its account is gone.");
    return { accountId, tier: account.tier, scopes: [] };
  }

  async #isCancellable(instance: string): Promise<boolean> {
    const { storage, workflows, modules } = this.#parts;
    const record = await storage.load(instance);
    if (record === null || record.status !== "active") return false;
    const workflow = workflows.find(({ key, hash }) => key === record.workflow && hash === record.hash);
    if (workflow === undefined || !isCancelled(workflow, modules)) return false;
    try {
      return workflow.chart.step(snapshotFromText(record.snapshot), { type: "CANCEL" }) !== null;
    } catch (error) {
      if (error instanceof DamagedSnapshot) return false;
      throw error;
    }
  }
}

function testWords({ delivered, httpStatus, durationMs, error }: TestedWebhookBody): string {
  const answer = httpStatus === null ? "No answer came" : `The receiver answered ${httpStatus}`;
  const after = `after ${durationMs} ms`;
  return delivered
    ? `${answer} ${after}: the test was taken.`
    : `${answer} ${after}: the test was not taken (${error ?? "no reason"}).`;
}

/** Whether the chart is one whose CANCEL is the caller's own. */
function isCancelled(
  { name }: Pick<AnyWorkflow, "name">,
  modules: readonly Pick<OpenModule, "cancellable">[],
): boolean {
  return (
    name === "wallet-transfer" || modules.some(({ cancellable }) => cancellable?.includes(name) === true)
  );
}
