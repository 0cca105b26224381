/** The chart of an instance with its history drawn in: active states, taken transitions, possible next events. */
import type { HistoryRecord } from "../../../../storage/storage.ts";
import { chartSvg } from "../../chart/draw-svg.ts";
import { indentedChart } from "../../chart/indented-html.ts";
import { activeStates } from "../../chart/read-chart.ts";
import type { TakenStep } from "../../chart/taken-way.ts";
import type { KnownChart } from "../../chart-registry.ts";
import { Html, html } from "../../html.ts";
import { eventType, rowsUntil, shownValue, type ShownInstance } from "./shown-instance.ts";

export function chartSection(shown: ShownInstance): Html {
  const { instance, chart, known, step } = shown;
  if (known === undefined) {
    return html`<p class="empty">
      The chart ${chart} is not registered in this process. What is stored of the instance is shown all the
      same.
    </p>`;
  }
  const edited =
    chart !== instance.workflow || known.hash === instance.hash
      ? null
      : html`<p class="warn">
          ⚠ The chart that is registered here was edited without a new version: it is not the one this
          instance was stored with.
        </p>`;
  const drawn = drawnChart(known, { value: shownValue(shown), history: rowsUntil(shown, step) });
  return html`${edited}
    <p class="legend">
      <span><span class="key filled"></span> active ${step === null ? "now" : "then"}</span>
      <span><span class="key badge">2</span> the steps it took</span>
      <span><span class="key dashed"></span> what may come next</span>
    </p>
    ${drawn}`;
}

/** Marks on a chart. */
interface MarkedSteps {
  readonly value: unknown;
  readonly history: readonly HistoryRecord[];
}

/** The chart with the marks of an instance. */
function drawnChart(known: KnownChart, { value, history }: MarkedSteps): Html {
  return markedChart(known, activeStates(known.chart, value), takenSteps(known, history));
}

/** The drawing for wide pages, and the list of states for narrow ones and where nothing lays a chart out. */
export function markedChart(
  { chart, drawing }: Pick<KnownChart, "chart" | "drawing">,
  active: readonly string[],
  taken: readonly TakenStep[],
): Html {
  const list = indentedChart(chart, active);
  const layout = drawing();
  if (typeof layout === "string") {
    return html`<p class="empty">${layout}</p>
      ${list}`;
  }
  const svg = chartSvg(layout, { active, taken });
  return html`<div class="scroll drawing wide" tabindex="0" role="group" aria-label="Drawing of the chart">
      ${new Html(svg)}
    </div>
    <div class="narrow">${list}</div>`;
}

function takenSteps({ chart: read }: KnownChart, history: readonly HistoryRecord[]): TakenStep[] {
  return history.map((row, index) => {
    const last = history[index - 1];
    return {
      number: row.version,
      event: eventType(row),
      before: last === undefined ? [] : activeStates(read, JSON.parse(last.value)),
      after: activeStates(read, JSON.parse(row.value)),
    };
  });
}
