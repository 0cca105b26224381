/** The registered charts with their layouts, each computed when it is first shown. */
import { type AnyWorkflow, withChildren } from "../engine/workflow.ts";
import { layOutChart, type ChartLayout } from "./chart/lay-out-chart.ts";
import { NoLayout } from "./chart/layout-thread.ts";
import { activeStates, readChart, statesOf, type ChartState, type ReadChart } from "./chart/read-chart.ts";

/** A chart of one version. */
export interface KnownChart {
  /** `name@version`. */
  readonly key: string;
  /** Of the chart that is registered here; a stored instance may be of an edited one. */
  readonly hash: string;
  readonly chart: ReadChart;
  /** The places of its states; or a sentence that says why there are none. */
  readonly layout: () => Promise<ChartLayout | string>;
  /** The active states that a stored value stands for, outer ones first. */
  active(value: unknown): readonly ChartState[];
  /** The events that a chart in these states answers, without its own delays and ends. */
  events(active: readonly ChartState[]): readonly string[];
}

/** All charts that are registered, those of invoked machines included. */
export class Charts {
  readonly #charts: ReadonlyMap<string, KnownChart>;

  constructor(workflows: readonly AnyWorkflow[]) {
    const all = workflows.flatMap(withChildren);
    this.#charts = new Map(all.map((workflow) => [workflow.key, knownChart(workflow)]));
  }

  /** Undefined for a chart that is not registered here. */
  get(key: string): KnownChart | undefined {
    return this.#charts.get(key);
  }

  all(): readonly KnownChart[] {
    return [...this.#charts.values()];
  }
}

function knownChart({ key, hash, machine }: AnyWorkflow): KnownChart {
  const chart = readChart(machine);
  const states = new Map(statesOf(chart.root).map((state) => [state.id, state]));
  let layout: Promise<ChartLayout | string> | null = null;
  return {
    key,
    hash,
    chart,
    layout: () =>
      (layout ??= layOutChart(chart).catch((error: unknown) =>
        error instanceof NoLayout ? error.message : "This chart is too complicated to be drawn.",
      )),
    active: (value) =>
      activeStates(chart, value).flatMap((id) => {
        const state = states.get(id);
        return state === undefined ? [] : [state];
      }),
    events: (active) => [...new Set(active.flatMap(({ answers }) => answers))],
  };
}
