/** Trying tasks again, and dropping what nobody does any more. */
import type { Commit } from "../../../../storage/storage.ts";
import type { PaymentStorage } from "../../payment-storage.ts";
import type { PaymentTables } from "../../records.ts";
import type { Clock } from "../../../runtime.ts";
import type { Act, WriteAct } from "../act.ts";
import { droppedUpToFact } from "../attention/abandoned-webhooks.ts";
import { OperatorRefused } from "../operator-refused.ts";
import type { Resolving } from "./command.ts";

export interface TaskResolving {
  /** A dead letter or a failing task is due at once. */
  retry(resolving: Resolving): Promise<void>;
  /** A dead letter is removed. */
  dropTask(resolving: Resolving): Promise<void>;
  /** What a webhook has not taken so far is no matter any more. */
  dropDeliveries(resolving: Resolving): Promise<void>;
}

/** More webhooks than this have no abandoned deliveries at once. */
const MAX_WEBHOOKS = 100_000;

export function createTaskResolving({
  storage,
  clock,
  writeAct,
}: {
  readonly storage: Pick<PaymentStorage, "commit" | "fact" | "abandonedDeliveries">;
  readonly clock: Clock;
  readonly writeAct: WriteAct;
}): TaskResolving {
  const commit = async (
    { matter, by, guard }: Resolving,
    act: Pick<Act, "act" | "what">,
    { writes = [], ...parts }: Commit<PaymentTables>,
  ): Promise<void> => {
    const audit = writeAct({ by, act: act.act, what: { id: matter.id, ...act.what } });
    const [result] = await storage.commit([{ ...parts, writes: [guard, ...writes, audit] }]);
    if (result?.ok === true) return;
    throw new OperatorRefused(
      result?.ok === false && result.conflict === "token"
        ? `${matter.id}: the task is done, or a process is doing it right now`
        : `${matter.id}: somebody else has just decided about it`,
    );
  };

  return {
    retry: (resolving) =>
      commit(
        resolving,
        { act: "retry", what: {} },
        { retries: [{ task: keyOf(resolving), dueAt: clock.now() }] },
      ),
    dropTask: (resolving) => commit(resolving, { act: "drop", what: {} }, { drops: [keyOf(resolving)] }),

    async dropDeliveries(resolving) {
      const webhookId = keyOf(resolving);
      const all = await storage.abandonedDeliveries(MAX_WEBHOOKS);
      const found = all.find((each) => each.webhookId === webhookId);
      if (found === undefined) throw new OperatorRefused(`${resolving.matter.id} is over`);
      const id = droppedUpToFact(webhookId);
      const value = String(found.newest);
      const isKnown = (await storage.fact(id)) !== null;
      const write = isKnown
        ? ({ table: "facts", id, set: { value } } as const)
        : ({ table: "facts", insert: { id, value } } as const);
      await commit(
        resolving,
        { act: "drop", what: { webhookId, deliveries: found.count } },
        { writes: [write] },
      );
    },
  };
}

/** What a matter's id names behind its kind. */
function keyOf({ matter: { id, kind } }: Resolving): string {
  return id.slice(kind.length + 1);
}
