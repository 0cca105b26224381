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
  /** What computes its steps; null where only its drawing is known. */
  readonly workflow: AnyWorkflow | null;
  /** The places of its states; or a sentence that says why there are none. */
  readonly layout: () => Promise<ChartLayout | string>;
  /** The active states that a stored value stands for, outer ones first. */
  active(value: unknown): readonly ChartState[];
  /** The events that a chart in these states answers, without its own delays and ends. */
  events(active: readonly ChartState[]): readonly string[];
}

/** The shape of a chart that is stored beside its instance. */
export type ChartDrawing = Pick<KnownChart, "key" | "hash" | "chart">;

type KnownParts = Pick<KnownChart, "key" | "hash" | "chart" | "workflow">;

/** All charts that are registered, those of invoked machines included. */
export class Charts {
  readonly #charts: ReadonlyMap<string, KnownChart>;

  /** `drawings` are charts of which nothing but their shape is here. */
  constructor(workflows: readonly AnyWorkflow[], drawings: readonly ChartDrawing[] = []) {
    const all = workflows.flatMap(withChildren);
    this.#charts = new Map([
      ...drawings.map(
        ({ key, hash, chart }) => [key, knownChart({ key, hash, chart, workflow: null })] as const,
      ),
      ...all.map((workflow) => {
        const { key, hash, machine } = workflow;
        return [key, knownChart({ key, hash, chart: readChart(machine), workflow })] as const;
      }),
    ]);
  }

  /** Undefined for a chart that is not registered here. */
  get(key: string): KnownChart | undefined {
    return this.#charts.get(key);
  }

  all(): readonly KnownChart[] {
    return [...this.#charts.values()];
  }
}

function knownChart({ key, hash, chart, workflow }: KnownParts): KnownChart {
  const states = new Map(statesOf(chart.root).map((state) => [state.id, state]));
  let layout: Promise<ChartLayout | string> | null = null;
  return {
    key,
    hash,
    chart,
    workflow,
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
