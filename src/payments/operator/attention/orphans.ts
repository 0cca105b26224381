/** Finds tasks that are due and whose workflow no running process knows. */
import type { PaymentStorage } from "../../payment-storage.ts";
import type { Clock } from "../../../runtime.ts";
import { matterId, type AttentionSource } from "./matter.ts";

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
