/**
 * Removes the runs of deliveries that arrived at once, an hour after their end: the rows of the delivery and of its
 * attempt tell all that the run would tell. They are two fifths of what a send leaves.
 */
import type { InstanceRecord } from "../../../storage/storage.ts";
import { frameTables } from "../frame/tables.ts";
import { webhookTables } from "./tables.ts";
import type { WebhookStorage } from "./webhook-storage.ts";
import { groupedBy, rowsOf } from "../frame/tables/read.ts";
import { type DeliveryChart, recalledRun, tells } from "./recalled-run.ts";
import {
  archivedRun,
  type ArchivedRow,
  type RetentionState,
  type Rows,
  carryOut,
  historyOf,
  type RemovingParts,
} from "../frame/retention/removal.ts";

interface RunRemovalParts extends RemovingParts<WebhookStorage> {
  readonly workflow: DeliveryChart;
}

export function deliveredRuns(parts: RunRemovalParts): Rows<InstanceRecord> {
  const { storage, workflow } = parts;
  return {
    page: (after, limit) =>
      storage.list({ order: "id", workflow: workflow.key, status: "done", after, limit }),
    async judge(runs, until) {
      const judged = await judge(parts, runs, until);
      const going = runs.filter((_, index) => judged[index] === "gone");
      const removals = going.map(async ({ id, life, ...rest }) => ({
        removes: [{ id, life }],
        writes: [],
        rows: await rowsFor(parts, { id, life, ...rest }),
      }));
      const gone = await carryOut(parts, await Promise.all(removals));
      let next = 0;
      return judged.map((state) => (state !== "gone" || gone[next++] === true ? state : "later"));
    },
  };
}

/** For the archive alone. */
async function rowsFor(
  { archive, storage }: RunRemovalParts,
  run: InstanceRecord,
): Promise<readonly ArchivedRow[]> {
  return archive === null ? [] : archivedRun(run, await historyOf(storage, run.id));
}

/** What is to become of each: `gone` where nothing can come for it any more, and nothing is lost with it. */
async function judge(
  { storage, workflow }: RunRemovalParts,
  runs: readonly InstanceRecord[],
  until: number,
): Promise<readonly RetentionState[]> {
  const own = await rowsOf(
    storage,
    webhookTables.deliveries,
    runs.map(({ id }) => id),
  );
  const ids = [...new Set(own.map(({ transactionId }) => transactionId))];
  const ofAny = { index: "ofTransaction", anyOf: ["transactionId", ids] } as const;
  // All are asked for in one turn.
  const [deliveries, notices, transactions, tasks] = await Promise.all([
    storage.find({ table: webhookTables.deliveries, ...ofAny }),
    storage.find({ table: frameTables.notices, ...ofAny }),
    rowsOf(storage, frameTables.transactions, ids),
    Promise.all(
      ids.map(
        async (id) =>
          [id, (await storage.tasks({ order: "instance", instance: id, limit: 1 })).length] as const,
      ),
    ),
  ]);
  const firstAttempts = deliveries.map(({ id }) => `${id}:1`);
  const attempts = await rowsOf(storage, webhookTables.deliveryAttempts, firstAttempts);
  const ownBy = groupedBy(own, "id");
  const [deliveriesBy, noticesBy] = [
    groupedBy(deliveries, "transactionId"),
    groupedBy(notices, "transactionId"),
  ];
  const waiting = new Set(tasks.flatMap(([id, count]) => (count > 0 ? [id] : [])));
  const statuses = new Map(transactions.map(({ id, status }) => [id, status]));
  return runs.map((run) => {
    const [delivery] = ownBy.get(run.id) ?? [];
    // A run after the first has an id of its own, and is not told by the rows.
    if (delivery === undefined || delivery.runs > 1 || delivery.attempts !== 1) {
      return "stays";
    }
    const { transactionId } = delivery;
    // The delivery of a later notice asks this one whether it has ended. What was cancelled, or failed, may still land.
    const status = statuses.get(transactionId);
    if (status === "failed" || status === "cancelled") return "stays";
    if (run.updatedAt > until || waiting.has(transactionId) || status !== "completed") return "later";
    const recalled = recalledRun(workflow, {
      delivery,
      attempts,
      deliveries: deliveriesBy.get(transactionId) ?? [],
      notices: noticesBy.get(transactionId) ?? [],
      steps: [],
    });
    return recalled !== null && tells(recalled, run) ? "gone" : "stays";
  });
}
