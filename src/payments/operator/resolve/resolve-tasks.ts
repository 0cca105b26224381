/** Tries tasks again, drops dead letters, and drops what a webhook did not take. */
import { commitOne } from "../../../../storage/decided.ts";
import type { Commit } from "../../../../storage/storage.ts";
import type { PaymentStorage } from "../../payment-storage.ts";
import type { PaymentTables } from "../../tables.ts";
import type { Clock } from "../../../runtime.ts";
import { type Act, type WriteAct, OperatorRefused } from "../act.ts";
import { droppedUpToFact } from "../attention/host-matters.ts";
import { matterKey } from "../attention/matter.ts";
import type { ResolveContext } from "./command.ts";
import { decidedMeanwhile } from "./decisions.ts";

/** Dependencies of decisions about tasks: storage, and the audit log. */
interface TaskResolveParts {
  readonly storage: Pick<PaymentStorage, "commit" | "fact" | "abandonedDeliveries">;
  readonly clock: Clock;
  readonly writeAct: WriteAct;
}

/** More webhooks than ever have abandoned deliveries at once. */
const MAX_WEBHOOKS = 100_000;

/** Carries out decisions about tasks, each in one commit with its guard and its audit row. */
export class TaskResolveHandler {
  readonly #parts: TaskResolveParts;

  constructor(parts: TaskResolveParts) {
    this.#parts = parts;
  }

  async retry(resolving: ResolveContext): Promise<void> {
    const retry = { task: matterKey(resolving.matter), dueAt: this.#parts.clock.now(), delayMs: 0 };
    await this.#commit(resolving, { act: "retry", what: {} }, { retries: [retry] });
  }

  async dropTask(resolving: ResolveContext): Promise<void> {
    await this.#commit(resolving, { act: "drop", what: {} }, { drops: [matterKey(resolving.matter)] });
  }

  /** Ends the matter of what a webhook has not taken so far. */
  async dropDeliveries(resolving: ResolveContext): Promise<void> {
    const { storage } = this.#parts;
    const webhookId = matterKey(resolving.matter);
    const all = await storage.abandonedDeliveries(MAX_WEBHOOKS);
    const found = all.find((each) => each.webhookId === webhookId);
    if (found === undefined) throw new OperatorRefused(`${resolving.matter.id} is over`);
    const id = droppedUpToFact(webhookId);
    const value = String(found.newest);
    const isKnown = (await storage.fact(id)) !== null;
    const write = isKnown
      ? ({ table: "facts", id, set: { value } } as const)
      : ({ table: "facts", insert: { id, value } } as const);
    const what = { webhookId, deliveries: found.count };
    await this.#commit(resolving, { act: "drop", what }, { writes: [write] });
  }

  async #commit(
    { matter, by, guard }: ResolveContext,
    { act, what }: Pick<Act, "act" | "what">,
    { writes = [], ...effects }: Commit<PaymentTables>,
  ): Promise<void> {
    const audit = this.#parts.writeAct({ by, act, what: { id: matter.id, ...what } });
    const commit = { ...effects, writes: [guard, ...writes, audit] };
    const result = await commitOne(this.#parts.storage, commit);
    if (result.ok) return;
    if (result.conflict === "token") {
      throw new OperatorRefused(`${matter.id}: the task is done, or a process is doing it right now`);
    }
    throw decidedMeanwhile(matter.id);
  }
}
