/** Lists all pending timers, next first, with countdowns. */
import { html } from "../html.ts";
import type { TimerPage } from "../read-instances.ts";
import { dueMoment, rowKey } from "../show-values.ts";
import { shownEvent } from "./instance/shown-instance.ts";
import type { Links, PageParts } from "./page.ts";
import { table } from "./table.ts";

export function timersPage(links: Links, { timers, isAll }: TimerPage): PageParts {
  const main = html`<h1>Timers</h1>
    ${isAll ? null : html`<p>The next ${timers.length}.</p>`}
    ${
      timers.length === 0
        ? html`<p class="empty">No timer is pending.</p>`
        : table({
            label: "Timers",
            headings: ["Fires", "Timer", "Instance", "Chart"],
            rows: timers.map(
              ({ id, instance, workflow, name, dueAt }) =>
                html`<tr data-key="${rowKey("timer", id)}">
                  <td>${dueMoment(dueAt)}</td>
                  <td><code>${shownEvent(name)}</code></td>
                  <td>
                    <a href="${links.instance(instance)}"><code>${instance}</code></a>
                  </td>
                  <td>${workflow}</td>
                </tr>`,
            ),
          })
    }`;
  return { title: "Timers", main };
}
