/** The data of an instance's page. */
import type { HistoryRecord } from "../../../../storage/storage.ts";
import { delayWords, eventWords } from "../../chart/words.ts";
import type { KnownChart } from "../../chart-registry.ts";
import type { RelatedInstance } from "../../find-related.ts";
import type { OfferedAct } from "../../../engine/inspected-engine.ts";
import type { MoneyReport } from "../../payments/read-money.ts";
import type { OrderPart } from "../../payments/order-part.ts";
import type { TimelineCall } from "../../payments/module-view.ts";
import { valueOf, type FoundInstance } from "../../read-instances.ts";
import { madeBy, type ReplayedHistory } from "../../recount/replay-history.ts";
import type { LedgerCall } from "../../../service/ledger-call-history.ts";
import type { SecretFilter } from "../../show-values.ts";

/** An instance with the chart that made the shown step. */
export interface ShownInstance extends FoundInstance {
  /** The chart, as `name@version`. */
  readonly chart: string;
  /** Undefined where the chart is not registered here. */
  readonly known: KnownChart | undefined;
  readonly fold: ReplayedHistory;
  /** The step that is looked at; null for the instance as it stands. */
  readonly step: number | null;
  readonly related: readonly RelatedInstance[];
  /** Calls of modules on its timeline. */
  readonly ofModules: readonly TimelineCall[];
  /**
   * Ledger calls of the instance's tasks in this process, oldest first, and since when calls are recorded; null without
   * a record.
   */
  readonly calls: readonly LedgerCall[];
  readonly callsSince: number | null;
  /** The order that the instance belongs to; null where it belongs to none. */
  readonly order: OrderPart | null;
  /** Null where no money belongs to it. */
  readonly money: MoneyReport | null;
  /** The reason why the instance needs a person, beside its tasks; null without a reason. */
  readonly trouble: string | null;
  /** Acts of the viewer; empty when the inspector only shows. */
  readonly acts: readonly OfferedAct[];
  readonly redact: SecretFilter;
}

/** The type of a recorded event. */
export function eventType({ event }: Pick<HistoryRecord, "event">): string {
  const { type } = JSON.parse(event) as { readonly type?: unknown };
  return typeof type === "string" ? type : "";
}

/** The name of an event or a timer as a person reads it. */
export function shownEvent(type: string): string {
  if (type === "$started") return "started";
  if (type === "$migrated") return "moved to another version";
  if (type === "$folded") return "earlier steps folded"; // modules: folding
  if (type === "$born") return "children begun";
  if (type === "xstate.stop") return "stopped";
  return eventWords(type, (delay) => delayWords(delay, undefined));
}

/** The state value that is looked at: now, or after a step. */
export function shownValue({ instance, history, step }: ShownInstance): unknown {
  const row = step === null ? undefined : history.find(({ version }) => version === step);
  return row === undefined ? valueOf(instance) : (JSON.parse(row.value) as unknown);
}

/** The steps that one version of the chart made, up to a step; null for the last one. */
export function rowsUntil(
  { history, fold, chart }: Pick<ShownInstance, "history" | "fold" | "chart">,
  step: number | null,
): readonly HistoryRecord[] {
  return history.filter(
    ({ version }) => (step === null || version <= step) && (madeBy(fold, version) ?? chart) === chart,
  );
}
