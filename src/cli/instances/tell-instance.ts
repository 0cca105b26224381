/**
 * Explains an instance in words for `paystate instance show`: why it waits, its chart with the active state, its last steps.
 */
import type { EngineStorage, HistoryRecord } from "../../../storage/storage.ts";
import { StorageUnusable } from "../../../storage/storage-unusable.ts";
import { isOwnRow } from "../../workflow/chart.ts";
import { instanceWorkflows } from "../../engine/kernel/troubles.ts";
import type { InstanceView } from "../../engine/index.ts";
import { causeFromText } from "../../workflow/step-cause.ts";
import { causeSentence } from "../../inspector/cause-words.ts";
import { ChartRegistry, type KnownChart } from "../../inspector/chart-registry.ts";
import { explainWaiting, type AwaitedInstance } from "../../inspector/explain-waiting.ts";
import { findRelated, relationsOf, waitedFor } from "../../inspector/find-related.ts";
import { textOf } from "../../inspector/html.ts";
import { shownEvent } from "../../inspector/pages/instance/shown-instance.ts";
import { orderOf, relationsOfOrder } from "../../inspector/payments/order-of.ts";
import { readMoney } from "../../inspector/payments/read-money.ts";
import { InstanceReader, valueOf, type FoundInstance } from "../../inspector/read-instances.ts";
import { stateWords } from "../../inspector/show-values.ts";
import type { TransactionView } from "../../payments/frame/tables/orders.ts";
import { paymentTables } from "../../payments/payment-storage.ts";
import { redactionOf } from "../../core/redacting-log.ts";
import { silentLogger } from "../../core/runtime.ts";
import { workflowsIn } from "../charts-file.ts";
import { paymentCharts } from "../payment-charts.ts";
import type { ChartState, ReadChart } from "../../inspector/chart/read-chart.ts";

const MAX_STEPS = 20;

/** Paragraphs of it; none where it is gone. */
export async function tellInstance(
  storage: EngineStorage,
  id: InstanceView["id"],
  chartsFile: string | undefined,
): Promise<string[]> {
  const service = await serviceIn(storage);
  const own = chartsFile === undefined ? [] : await workflowsIn(chartsFile);
  const charts = new ChartRegistry([...(service?.workflows ?? []), ...own]);
  const found = await new InstanceReader({ storage }, charts, async () => []).find(id);
  if (found === null) return [];
  const known = charts.get(found.instance.workflow);
  const order = service === null ? null : await orderOf(service.payments, id);
  const ofOrder = service === null || order === null ? [] : await relationsOfOrder(service.payments, order);
  const related = await findRelated(storage, found, [...ofOrder, ...relationsOf(found, null)]);
  const progress = service === null || order === null ? [] : await progressOf(service, order);
  const told = sentences(found, known, waitedFor(related));
  return [told, ...progress, ...chart(found, known), steps(found)];
}

/** Null for a database of a host's own engine. Nothing is made that is not there. */
async function serviceIn(storage: EngineStorage): Promise<ReturnType<typeof paymentCharts> | null> {
  const workflows = await instanceWorkflows(storage);
  if (!workflows.some((key) => /^(wallet-transfer|private-order|webhook-delivery)@/.test(key))) {
    return null;
  }
  try {
    await storage.install(Object.values(paymentTables));
    return paymentCharts(storage);
  } catch (error) {
    if (error instanceof StorageUnusable) return null;
    throw error;
  }
}

function sentences(
  { instance, pending }: FoundInstance,
  known: KnownChart | undefined,
  others: readonly AwaitedInstance[],
): string {
  const value = valueOf(instance);
  const told = explainWaiting(
    {
      status: instance.status,
      state: stateWords(value),
      since: instance.updatedAt,
      events: known === undefined ? null : known.events(known.active(value)),
      pending,
      others,
    },
    redactionOf(silentLogger),
  );
  return told.map(textOf).join("\n");
}

async function progressOf(
  { payments }: ReturnType<typeof paymentCharts>,
  order: TransactionView,
): Promise<string[]> {
  if (order.recipients.length < 2) return [];
  const { paid, recipients } = await readMoney(payments, order);
  return [`${paid} of ${recipients} recipients paid.`];
}

function chart({ instance }: FoundInstance, known: KnownChart | undefined): string[] {
  if (known === undefined) return [];
  const active = known.active(valueOf(instance)).map(({ id }) => id);
  return [indentedList(known.chart, active)];
}

function steps({ instance, history }: FoundInstance): string {
  const last = history.slice(-MAX_STEPS);
  const lines = last.map((row) => {
    const { type } = JSON.parse(row.event) as { readonly type: string };
    const what = `${shownEvent(type)} → ${stateWords(JSON.parse(row.value))}${causeOf(row, type, history)}`;
    return `${String(row.version).padStart(6)}  ${new Date(row.at).toISOString()}  ${what}`;
  });
  const more = instance.version > last.length ? [`        … paystate instance history ${instance.id}`] : [];
  return ["The last steps:", ...more, ...lines].join("\n");
}

/** The cause of a step, in brackets; empty for a row of the engine's own. */
function causeOf(
  { instance, cause }: HistoryRecord,
  type: string,
  history: readonly HistoryRecord[],
): string {
  if (isOwnRow(type)) return "";
  return ` (${causeSentence(causeFromText(cause, instance), instance, history)})`;
}

/** A line for each state and transition; those of active states are marked with `*`. */
export function indentedList({ root, transitions }: ReadChart, active: readonly string[] = []): string {
  const lines = (state: ChartState, depth: number): string[] => {
    const indent = "  ".repeat(depth);
    const mark = active.includes(state.id) ? "* " : "- ";
    const kind = state.kind === "atomic" || state.kind === "compound" ? "" : ` (${state.kind})`;
    return [
      `${indent}${mark}${state.name}${kind}`,
      ...state.notes.map((note) => `${indent}    ${note}`),
      ...transitions
        .filter(({ from }) => from === state.id)
        .map(({ to, label }) => `${indent}    ${label} → ${to.slice(root.id.length + 1)}`),
      ...state.states.flatMap((child) => lines(child, depth + 1)),
    ];
  };
  return lines(root, 0).join("\n");
}
