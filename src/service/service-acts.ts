/** Acts of viewers on instances of a payment service: the acts of an operator, all in the audit log. */
import { z } from "zod";
import { commitOne } from "../../storage/decided.ts";
import { PaymentError } from "../errors/errors.ts";
import { ActRefused, type ViewerActs, type GivenAct, type OfferedAct } from "../engine/inspected-engine.ts";
import type { Engine } from "../engine/index.ts";
import { partsOf, repairsOf } from "../engine/engine-acts.ts";
import { DamagedSnapshot, snapshotFromText } from "../workflow/snapshot-text.ts";
import type { AnyWorkflow } from "../workflow/workflow.ts";
import { readActContext, OperatorRefused } from "../payments/frame/acts/act.ts";
import type { ActRow, Decision } from "../payments/frame/acts/act-row.ts";
import type { ActRunner } from "../payments/frame/acts/act-runner.ts";
import type { Caller } from "../payments/frame/accounts/caller.ts";
import type { PaymentContext, PaymentTables } from "../payments/payment-storage.ts";
import type { OpenModule } from "../payments/frame/open-module.ts";
import type { PaymentService } from "./payment-service.ts";

export interface ServiceActsParts extends PaymentContext {
  readonly acts: ActRunner;
  readonly engine: Pick<Engine<PaymentTables>, "commit">;
  readonly service: Pick<PaymentService, "cancelTransaction" | "operator">;
  readonly workflows: readonly AnyWorkflow[];
  readonly modules: readonly Pick<OpenModule, "offers" | "perform" | "cancellable">[];
}

/** An act of a viewer: the verb of a key, with its task. */
interface ViewerAct {
  readonly instance: string;
  readonly verb: "retry" | "drop" | "cancel";
  readonly task: string;
}

const MAX_TASKS = 100;

const CANCEL: OfferedAct = {
  key: "cancel",
  label: "Cancel the transaction",
  consequence:
    "The transaction is cancelled for its account, unless its payment or its deposit is on its way by then. Its webhooks are told.",
};

/** Facts of the chain are never sent by hand: what moves money is believed from the chain alone. */
export class ServiceActs implements ViewerActs {
  readonly #parts: ServiceActsParts;

  constructor(parts: ServiceActsParts) {
    this.#parts = parts;
  }

  async offers(instance: string): Promise<readonly OfferedAct[]> {
    const { storage, modules } = this.#parts;
    const [tasks, own] = await Promise.all([
      storage.tasks({ order: "instance", instance, limit: MAX_TASKS }),
      Promise.all(modules.map(async (module) => (await module.offers?.(instance)) ?? [])),
    ]);
    return [
      ...tasks.flatMap(repairsOf),
      ...((await this.#isCancellable(instance)) ? [CANCEL] : []),
      ...own.flat(),
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
    const [verb, task] = partsOf(key);
    if (verb === "release") {
      await this.#parts.service.operator.resolve(instance, { action: "release" }, by);
      return "The order is released. A service at work goes on with it.";
    }
    const isOwn = verb === "retry" || verb === "drop" || verb === "cancel";
    if (!isOwn) return this.#performOwn(instance, key, by);
    return this.#parts.acts.carryOut(this.#row, { instance, verb, task }, by);
  }

  /** The acts as rows, one a verb. */
  readonly #row: ActRow<ViewerAct, null, string> = {
    given: z.custom<ViewerAct>(),
    decision: () => null,
    subject: async () => null,
    decide: ({ given }) => {
      const { task, verb } = given;
      if (verb === "cancel") return this.#cancel(given);
      if (verb === "drop") {
        return this.#repair(given, { act: "drop", drops: [task], told: () => "The task was dropped." });
      }
      const retries = [{ task, dueAt: this.#parts.clock.now(), delayMs: 0 }];
      return this.#repair(given, { act: "retry", retries, told: () => "The task is due now." });
    },
  };

  async #performOwn(instance: string, key: string, by: GivenAct): Promise<string> {
    for (const { perform } of this.#parts.modules) {
      const said = (await perform?.(instance, key, by)) ?? null;
      if (said !== null) return said;
    }
    throw new ActRefused("There is no such act.");
  }

  #repair(
    { instance }: ViewerAct,
    { retries, drops, ...repair }: Pick<Decision<string>, "act" | "told" | "retries" | "drops">,
  ): Decision<string> {
    const parts = { ...(retries && { retries }), ...(drops && { drops }) };
    return {
      ...repair,
      ...parts,
      what: { instance, ...parts },
      subject: instance,
      send: async (commit) => {
        const result = await commitOne(this.#parts.storage, commit);
        if (result.ok) return result;
        throw new ActRefused("The task is done, in hand, or no longer failing: nothing was changed.");
      },
    };
  }

  /** The audit row is durable before the act: a refused act, or an act whose process died, is logged as an attempt. */
  async #cancel({ instance: transactionId }: ViewerAct): Promise<Decision<string>> {
    const { storage, engine, service } = this.#parts;
    const found = await storage.transaction(transactionId);
    if (found === null) throw new ActRefused("There is no such transaction.");
    return {
      act: "request_cancel",
      what: { transactionId },
      subject: transactionId,
      send: (commit) => engine.commit(commit),
      told: async () => {
        await service.cancelTransaction(await this.#callerOf(found.transaction.accountId), transactionId);
        return "The transaction is cancelled.";
      },
    };
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

/** Whether the chart is one whose CANCEL is the caller's own. */
function isCancelled(
  { name }: Pick<AnyWorkflow, "name">,
  modules: readonly Pick<OpenModule, "cancellable">[],
): boolean {
  return (
    name === "wallet-transfer" || modules.some(({ cancellable }) => cancellable?.includes(name) === true)
  );
}
