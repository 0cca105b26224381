/** The registered charts with their layouts, all of which are begun when a page is first shown. */
import { type AnyWorkflow, withChildren } from "../workflow/workflow.ts";
import { layouts, type LayoutResult, type DrawnChart } from "./chart/layout-cache.ts";
import { activeStates, readChart, statesOf, type ChartState } from "./chart/read-chart.ts";

/** A chart of one version. */
export interface KnownChart extends DrawnChart {
  /** `name@version`. */
  readonly key: string;
  /** The hash of the registered chart; a stored instance may belong to an edited chart. */
  readonly hash: string;
  /** The workflow that computes steps; null when only the drawing is known. */
  readonly workflow: AnyWorkflow | null;
  /** The layout, or its progress: a page does not wait for the layout. */
  readonly drawing: () => LayoutResult;
  /** The finished layout. */
  readonly layout: () => Promise<LayoutResult>;
  /** The active states that a stored value stands for, outer ones first. */
  active(value: unknown): readonly ChartState[];
  /** The events that a chart in these states answers, without its own delays and ends. */
  events(active: readonly ChartState[]): readonly string[];
}

/** The shape of a chart that is stored beside its instance. */
export type DrawableChart = Pick<KnownChart, "key" | "hash" | "chart">;

type KnownParts = Pick<KnownChart, "key" | "hash" | "chart" | "workflow" | "source">;

/** All registered charts, including the charts of invoked machines. */
export class ChartRegistry {
  readonly #charts: ReadonlyMap<string, KnownChart>;

  /** `drawings` are charts of which only the shape is known. */
  constructor(workflows: readonly AnyWorkflow[], drawings: readonly DrawableChart[] = []) {
    const all = workflows.flatMap(withChildren);
    this.#charts = new Map([
      ...drawings.map(
        ({ key, hash, chart }) =>
          [key, knownChart({ key, hash, chart, source: chart, workflow: null })] as const,
      ),
      ...all.map((workflow) => {
        const { key, hash, machine } = workflow;
        const chart = readChart(machine);
        return [key, knownChart({ key, hash, chart, source: machine, workflow })] as const;
      }),
    ]);
  }

  /** Lays out every chart in a worker thread before its page is opened. */
  layOut(): void {
    layouts.begin(this.all());
  }

  /** Undefined for a chart that is not registered here. */
  get(key: string): KnownChart | undefined {
    return this.#charts.get(key);
  }

  all(): readonly KnownChart[] {
    return [...this.#charts.values()];
  }
}

function knownChart({ key, hash, chart, workflow, source }: KnownParts): KnownChart {
  const states = new Map(statesOf(chart.root).map((state) => [state.id, state]));
  return {
    key,
    hash,
    chart,
    source,
    workflow,
    drawing: () => layouts.now({ source, chart }),
    layout: () => layouts.whole({ source, chart }),
    active: (value) =>
      activeStates(chart, value).flatMap((id) => {
        const state = states.get(id);
        return state === undefined ? [] : [state];
      }),
    events: (active) => [...new Set(active.flatMap(({ answers }) => answers))],
  };
}
