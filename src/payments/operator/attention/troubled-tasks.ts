/** Finds tasks of the engine that were set aside, that fail each time they run, or that no process knows. */
import * as troubledOnes from "../../../engine/troubled-tasks.ts";
import type { PaymentStorage } from "../../payment-storage.ts";
import { matterId, type AttentionSource, type FoundMatter } from "./matter.ts";
import type { TaskRecord } from "../../../../storage/storage.ts";
import type { Clock } from "../../../runtime.ts";

type TroubledTaskReads = Pick<PaymentStorage, "transaction" | "deposits" | "payment" | "tasks">;

/** The pauses between so many tries add up to about a quarter of an hour, longer than any node's restart. */
const MANY_FAILURES = 20;

/** Dead letters: tasks set aside because every process that took the task ended without returning it. */
export function deadLetters(storage: TroubledTaskReads): AttentionSource {
  return async (limit) => {
    const found = await Promise.all(
      (await troubledOnes.deadLetters(storage, limit)).map(async (task): Promise<FoundMatter> => ({
        kind: "dead_letter",
        id: matterId("dead_letter", task.id),
        ...(await ownerOf(storage, task)),
        since: task.since,
        message: `${nameOf(task)} was set aside: ${task.crashes} processes that took it ended without giving it back`,
        actions: ["retry", "drop"],
      })),
    );
    return found.toReversed();
  };
}

/** Tasks that have failed many times in a row, and are still tried. */
export function failingTasks(storage: TroubledTaskReads): AttentionSource {
  return async (limit) =>
    Promise.all(
      (await troubledOnes.failingTasks(storage, MANY_FAILURES, limit)).map(
        async (task): Promise<FoundMatter> => ({
          kind: "failing_task",
          id: matterId("failing_task", task.id),
          ...(await ownerOf(storage, task)),
          since: task.since,
          message: `${nameOf(task)} has failed ${task.failures} times, at last with: ${task.lastError ?? ""}`,
          actions: ["retry"],
        }),
      ),
    );
}

function nameOf({ id, name, workflow }: troubledOnes.TroubledTask): string {
  return `task ${id} (${name} of ${workflow})`;
}

type TaskOwnerReads = Pick<PaymentStorage, "transaction" | "deposits" | "payment">;

/** Empty where the task's instance is of no transaction, such as a delivery. */
async function ownerOf(
  storage: TaskOwnerReads,
  { instance }: Pick<TaskRecord, "instance">,
): Promise<{ readonly transactionId?: string; readonly accountId?: string }> {
  const transactionId = await transactionOf(storage, instance);
  const view = await storage.transaction(transactionId);
  return view === null ? {} : { transactionId, accountId: view.transaction.accountId };
}

/** An instance has the id of its transaction, of its deposit address, or of its payment. */
async function transactionOf(storage: TaskOwnerReads, instance: string): Promise<string> {
  const [deposit] = await storage.deposits([instance]);
  return deposit?.transactionId ?? (await storage.payment(instance))?.transactionId ?? instance;
}

/** During an upgrade, or with private mode on in some processes only, another process does them within seconds. */
const OVERDUE_MS = 60_000;

/** `known` are the workflows of this process, as `name@version`. */
export function orphans(
  storage: Pick<PaymentStorage, "tasks">,
  clock: Clock,
  known: readonly string[],
): AttentionSource {
  return async (limit) =>
    (await storage.tasks({ order: "workflow" }))
      .filter(({ workflow, visibleAt }) => !known.includes(workflow) && visibleAt + OVERDUE_MS <= clock.now())
      .slice(0, limit)
      .map(({ workflow, visibleAt }) => ({
        kind: "orphan",
        id: matterId("orphan", workflow),
        since: visibleAt,
        message: `tasks of ${workflow} are due, and no process does them: start one that knows this workflow`,
        actions: [],
      }));
}
