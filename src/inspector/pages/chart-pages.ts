/** Pages of the registered charts: a list, and a drawing of each chart. */
import { statesOf } from "../chart/read-chart.ts";
import type { KnownChart } from "../chart-registry.ts";
import { html } from "../html.ts";
import { markedChart } from "./instance/chart-section.ts";
import type { Links, PageParts } from "./page.ts";

export function chartsPage(links: Links, charts: readonly KnownChart[]): PageParts {
  return {
    title: "Charts",
    main: html`<h1>Charts</h1>
      ${charts.length === 0 ? html`<p class="empty">No chart is registered in this process.</p>` : null}
      <ul class="charts">
        ${charts.map(
          ({ key, chart }) =>
            html`<li>
              <a href="${links.chart(key)}">${key}</a>
              <span>${statesOf(chart.root).length - 1} states, ${chart.transitions.length} transitions</span>
              <a href="${links.list({ workflow: key })}">its instances</a>
            </li>`,
        )}
      </ul>`,
  };
}

export function chartPage(links: Links, { key, chart, drawing }: KnownChart): PageParts {
  return {
    title: key,
    main: html`<h1>${key}</h1>
      <p class="facts">
        <a href="${links.list({ workflow: key })}">Its instances</a> · save as
        ${["svg", "mermaid", "json"].map((as) => html`<a href="${links.file("chart-file", { key, as })}" download>${as}</a> `)}
      </p>
      ${markedChart({ chart, drawing }, [], [])}`,
  };
}
