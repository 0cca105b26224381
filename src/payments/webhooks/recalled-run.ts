/**
 * The run of a delivery that arrived at its first attempt, told from the rows that the delivery left: its chart makes
 * the same steps again. Such a run need not be stored for good.
 */
import type { WebhookDeliveryEvent, WebhookDeliveryInput } from "../../../machines/webhook-delivery.ts";
import type { HistoryRecord, InstanceRecord } from "../../../storage/storage.ts";
import { snapshotToText } from "../../workflow/snapshot-text.ts";
import type { NoticeRecord } from "../frame/tables/notices.ts";
import type { DeliveryAttemptRecord, DeliveryRecord } from "./tables.ts";
import { inOrder, isOfStatus } from "./announce.ts";
import { deliveryIdOf, firstInput } from "./delivery-runs.ts";
import type { WebhookDeliveryWorkflow } from "./webhook-delivery-workflow.ts";
import type { InspectedStorage } from "../../engine/inspected-engine.ts";
import type { WebhookStorage } from "./webhook-storage.ts";

export interface RunRows {
  readonly delivery: DeliveryRecord;
  /** Ended attempts of all deliveries of the transaction, at least the first attempt of each delivery. */
  readonly attempts: readonly DeliveryAttemptRecord[];
  /** Every delivery and every notice of the transaction. */
  readonly deliveries: readonly DeliveryRecord[];
  readonly notices: readonly NoticeRecord[];
  /** Steps of the transaction; one step began the delivery. The steps tell only the cause of that beginning. */
  readonly steps: readonly HistoryRecord[];
}

/** An ended instance and its steps. Stamps are not told: a step is named by its number. */
interface RecalledRun {
  readonly instance: InstanceRecord;
  readonly history: readonly HistoryRecord[];
}

interface Step {
  readonly event: WebhookDeliveryEvent | { readonly type: "$started"; readonly input: WebhookDeliveryInput };
  readonly at: number;
  readonly cause: string | null;
}

/** The chart of deliveries, and the name and hash that its runs are stored under. */
export type DeliveryChart = Pick<WebhookDeliveryWorkflow, "chart" | "key" | "hash">;

/** Null for a delivery whose first attempt did not arrive, or has not ended. */
export function recalledRun(workflow: DeliveryChart, rows: RunRows): RecalledRun | null {
  const { delivery, attempts } = rows;
  const first = firstOf(delivery.id, attempts);
  if (first === undefined || first.error !== null) return null;
  const { id, runs, createdAt, deliveredAt } = delivery;
  const isOnly = runs === 1 && deliveredAt !== null;
  const endedAt = isOnly ? deliveredAt : first.startedAt + first.durationMs;
  const input = firstInput(delivery, precedingDelivery(rows));
  const begun: Step = { event: { type: "$started", input }, at: createdAt, cause: causeOfBeginning(rows) };
  const turn: Step = { event: { type: "TURN_CAME" }, at: first.startedAt, cause: "message@1:0:back" };
  const steps = input.follows === null ? [begun] : [begun, turn];
  const cause = `effect@${steps.length}:0 attempt`;
  const whole: readonly Step[] = [...steps, { event: { type: "DELIVERED" }, at: endedAt, cause }];
  const { chart, key, hash } = workflow;
  let { after } = chart.start(input);
  const history = whole.map(({ event, at, cause: why }, index) => {
    if (index > 0) after = chart.step(after, event)?.after ?? after;
    const [version, value] = [index + 1, JSON.stringify(after.value)];
    return {
      instance: id,
      version,
      stamp: String(version),
      at,
      event: JSON.stringify(event),
      value,
      cause: why,
    };
  });
  const named = { id, workflow: key, hash, parent: null, stamp: String(history.length), life: "1" };
  const state = { version: history.length, status: "done" as const, snapshot: snapshotToText(after) };
  return { instance: { ...named, ...state, createdAt, updatedAt: endedAt }, history };
}

/** Whether the rows tell all that the stored run tells, but for its stamps. */
export function tells(recalled: RecalledRun, stored: InstanceRecord): boolean {
  const { stamp, life } = stored;
  const told: InstanceRecord = { ...recalled.instance, stamp, life };
  const fields = Object.keys(stored) as readonly (keyof InstanceRecord)[];
  return fields.every((field) => told[field] === stored[field]);
}

const firstOf = (id: string, attempts: readonly DeliveryAttemptRecord[]): DeliveryAttemptRecord | undefined =>
  attempts.find(({ deliveryId, number }) => deliveryId === id && number === 1);

/**
 * The first run of the delivery of the notice before, to the same webhook, where its first attempt had not ended as this
 * one began; null without one.
 */
function precedingDelivery({ delivery, deliveries, notices, attempts }: RunRows): string | null {
  const { noticeId, webhookId, createdAt } = delivery;
  const ordered = inOrder(notices).filter(isOfStatus);
  const place = ordered.findIndex(({ id }) => id === noticeId);
  // A notice beside the status follows none.
  const before = ordered.slice(0, Math.max(0, place));
  const webhook = { id: webhookId };
  const there = new Set(deliveries.map(({ id }) => id));
  const preceding = before.map((notice) => deliveryIdOf(notice, webhook)).findLast((id) => there.has(id));
  const first = preceding === undefined ? undefined : firstOf(preceding, attempts);
  return first === undefined || first.startedAt + first.durationMs <= createdAt ? null : (preceding ?? null);
}

const OF_OWN_TASK = /^(effect|timer|invocation|message)@([^ ]+)/;

/** A step of the transaction began it, in one commit: the cause of both is one. A task of the transaction's is named with its id. */
function causeOfBeginning({ delivery, notices, steps }: RunRows): string | null {
  const { noticeId, transactionId, createdAt } = delivery;
  // Several steps, and their notices, may be of one millisecond.
  const told = inOrder(notices).filter((notice) => notice.createdAt === createdAt);
  const telling = steps.filter(({ at, cause: why }) => at === createdAt && why !== null);
  const cause = telling[told.findIndex(({ id }) => id === noticeId)]?.cause ?? null;
  const [, kind, place] = OF_OWN_TASK.exec(cause ?? "") ?? [];
  return kind === undefined ? cause : `${kind} ${transactionId}:${place}`;
}

const DELIVERY_ID = /^dlv_[0-9a-f]+$/;
const STEPS = 200;

/** Reads the same storage, recalled runs included. A list holds stored instances only. */
export function recallingStorage(storage: WebhookStorage, workflow: DeliveryChart): InspectedStorage {
  const recalled = async (id: string): Promise<RecalledRun | null> => {
    if (!DELIVERY_ID.test(id)) return null;
    const delivery = await storage.delivery(id);
    if (delivery === null) return null;
    const { transactionId } = delivery;
    const [deliveries, notices, steps] = await Promise.all([
      storage.deliveries(transactionId),
      storage.notices(transactionId),
      storage.history(transactionId, { after: 0, limit: STEPS }),
    ]);
    const attempts = (await Promise.all(deliveries.map((each) => storage.deliveryAttempts(each.id)))).flat();
    return recalledRun(workflow, { delivery, attempts, deliveries, notices, steps });
  };
  return {
    ...storage,
    load: async (id) => (await storage.load(id)) ?? (await recalled(id))?.instance ?? null,
    async history(id, page) {
      const stored = await storage.history(id, page);
      if (stored.length > 0 || !DELIVERY_ID.test(id) || (await storage.load(id)) !== null) return stored;
      const { history = [] } = (await recalled(id)) ?? {};
      return history.filter(({ version }) => version > page.after).slice(0, page.limit);
    },
  };
}
