/** Lists all pending timers, next first, with countdowns. */
import { html } from "../html.ts";
import type { TimerPage } from "../read-instances.ts";
import { dueMoment, rowKey } from "../show-values.ts";
import { shownEvent } from "./instance/shown-instance.ts";
import { instanceLink, type Links, type PageParts } from "./page.ts";
import { table } from "./table.ts";

export function timersPage(links: Links, { timers, isAll }: TimerPage): PageParts {
  const main = html`<h1>Timers</h1>
    ${isAll ? null : html`<p>The next ${timers.length}.</p>`}
    ${table({
      label: "Timers",
      headings: ["Fires", "Timer", "Instance", "Chart"],
      rows: timers.map(({ id, instance, workflow, name, dueAt }) => ({
        key: rowKey("timer", id),
        cells: [
          dueMoment(dueAt),
          html`<code>${shownEvent(name)}</code>`,
          instanceLink(links, instance),
          workflow,
        ],
      })),
      none: "No timer is pending.",
    })}`;
  return { title: "Timers", main };
}
