/** Lists the schedules: rule, next moment and last run of each, and the acts that a viewer may do. */
// modules: schedules
import type { OfferedAct } from "../../engine/inspected-engine.ts";
import { scheduleName } from "../../engine/modules/schedules/schedule-acts.ts";
import { momentId, type ScheduleView } from "../../engine/modules/schedules/stored-schedules.ts";
import { html, type Html } from "../html.ts";
import { dueMoment, moment, rowKey } from "../show-values.ts";
import { actsSection } from "../pages/act-pages.ts";
import type { Links, PageParts } from "../pages/page.ts";
import { table, type TableRow } from "../pages/table.ts";

/** A schedule with the acts that a viewer may do on it. */
export interface ScheduleEntry {
  readonly schedule: ScheduleView;
  readonly acts: readonly OfferedAct[];
}

export function schedulesPage(links: Links, listed: readonly ScheduleEntry[], isAll: boolean): PageParts {
  const main = html`<h1>Schedules</h1>
    ${isAll ? null : html`<p>The first ${listed.length}.</p>`}
    ${table({
      label: "Schedules",
      headings: ["Schedule", "Starts", "Next", "Last"],
      rows: listed.map((each) => scheduleRow(links, each)),
      none: "Nothing is started by time.",
    })}`;
  return { title: "Schedules", main };
}

function scheduleRow(links: Links, { schedule, acts }: ScheduleEntry): TableRow {
  const { id, workflow, last } = schedule;
  return {
    key: rowKey("schedule", id),
    cells: [
      folded(links, schedule, acts),
      html`<a href="${links.chart(workflow)}">${workflow}</a>`,
      next(schedule),
      html`<small class="named">last run </small
        >${last === null ? "never" : html`<a href="${links.instance(momentId(id, last))}">${moment(last)}</a>`}`,
    ],
  };
}

/** The name of a schedule, and folded behind it the rule and the acts. */
function folded(
  links: Links,
  { id, cron, timezone, missed }: ScheduleView,
  acts: readonly OfferedAct[],
): Html {
  return html`<details id="${rowKey("of", id)}">
    <summary><code>${id}</code></summary>
    <p><code>${cron}</code> <small>${timezone}, of missed ones ${missed}</small></p>
    ${acts.length === 0 ? null : actsSection(links, scheduleName(id), acts)}
  </details>`;
}

function next({ next: at, pausedAt }: ScheduleView): Html {
  if (pausedAt !== null) return html`<span class="pill">paused</span> since ${moment(pausedAt)}`;
  if (at === null) return html`never again`;
  return html`${dueMoment(at)}`;
}
