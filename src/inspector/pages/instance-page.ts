/** One instance: where it stands in its chart and how it came there, why it waits, and all that is pending. */
import type { HistoryRecord, PendingRecords } from "../../../storage/storage.ts";
import { chartSvg } from "../chart/draw-svg.ts";
import { indentedList } from "../chart/indented-list.ts";
import { activeStates } from "../chart/read-chart.ts";
import type { TakenStep } from "../chart/taken-way.ts";
import { delayWords, durationWords, eventWords } from "../chart/words.ts";
import type { KnownChart } from "../charts.ts";
import { explainWaiting } from "../explain-waiting.ts";
import { Html, html } from "../html.ts";
import { valueOf, type FoundInstance } from "../read-instances.ts";
import { dueMoment, moment, shownJson, stateWords, type Redact } from "../show-values.ts";
import type { Links, PageParts } from "./page.ts";

/** An instance with its chart, undefined where that is not registered here. */
export interface InstancePage extends FoundInstance {
  readonly known: KnownChart | undefined;
  readonly redact: Redact;
}

export async function instancePage(links: Links, shown: InstancePage): Promise<PageParts> {
  const { instance, history, pending, known, redact } = shown;
  const value = valueOf(instance);
  const active = known?.active(value) ?? [];
  const sentences = explainWaiting(
    {
      status: instance.status,
      state: stateWords(value),
      since: instance.updatedAt,
      events: known === undefined ? null : known.events(active),
      pending,
    },
    redact,
  );
  return {
    title: instance.id,
    main: html`<h1><code>${instance.id}</code></h1>
      <p class="facts">
        <span class="pill ${instance.status}">${stateWords(value)}</span>
        <a href="${links.chart(instance.workflow)}">${instance.workflow}</a> · started
        ${moment(instance.createdAt)} · step ${instance.version}
      </p>
      <section class="why" aria-labelledby="why">
        <h2 id="why">Why is it waiting?</h2>
        ${sentences.map((sentence) => html`<p>${sentence}</p>`)}
      </section>
      <section aria-labelledby="chart">
        <h2 id="chart">Chart</h2>
        ${await chart(shown, value)}
      </section>
      <section aria-labelledby="pending">
        <h2 id="pending">Pending</h2>
        ${pendingTable(pending, redact)}
      </section>
      <section aria-labelledby="timeline">
        <h2 id="timeline">Timeline</h2>
        ${timeline(history, redact)}
      </section>
      <details id="snapshot">
        <summary>Snapshot as stored, secrets left out</summary>
        <pre>${shownJson(instance.snapshot, redact)}</pre>
      </details>`,
  };
}

async function chart({ instance, history, known }: InstancePage, value: unknown): Promise<Html> {
  if (known === undefined) {
    return html`<p class="empty">
      The chart ${instance.workflow} is not registered in this process. What is stored of the instance is
      shown all the same.
    </p>`;
  }
  const edited =
    known.hash === instance.hash
      ? null
      : html`<p class="warn">
          ⚠ The chart that is registered here was edited without a new version: it is not the one this
          instance was stored with.
        </p>`;
  const layout = await known.layout();
  const active = activeStates(known.chart, value);
  if (typeof layout === "string") {
    return html`${edited}
      <p class="empty">${layout}</p>
      <pre>${indentedList(known.chart, active)}</pre>`;
  }
  const svg = chartSvg(layout, { active, taken: takenSteps(known, history) });
  return html`${edited}
    <p class="legend">Filled: active now. Numbered: the steps it took. Dashed: what may come next.</p>
    <div class="scroll drawing" tabindex="0">${new Html(svg)}</div>`;
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

function eventType({ event }: HistoryRecord): string {
  const { type } = JSON.parse(event) as { readonly type?: unknown };
  return typeof type === "string" ? type : "";
}

function shownEvent(type: string): string {
  return type === "$started" ? "started" : eventWords(type, (delay) => delayWords(delay, undefined));
}

function pendingTable({ tasks, watches }: PendingRecords, redact: Redact): Html {
  if (tasks.length + watches.length === 0) return html`<p class="empty">Nothing is pending.</p>`;
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          <th scope="col">Kind</th>
          <th scope="col">Name</th>
          <th scope="col">When</th>
          <th scope="col">Trouble</th>
        </tr>
      </thead>
      <tbody>
        ${tasks.map(
          ({ kind, name, dueAt, isHeld, visibleAt, deadAt, failures, crashes, lastError }) =>
            html`<tr>
              <td>${kind}</td>
              <td><code>${shownEvent(name)}</code></td>
              <td>
                ${deadAt !== null ? html`set aside at ${moment(deadAt)}` : isHeld ? html`in hand until ${dueMoment(visibleAt)}` : dueMoment(dueAt)}
              </td>
              <td>
                ${[failures > 0 ? `failed ${failures}×` : null, crashes > 0 ? `process died ${crashes}×` : null, lastError === null ? null : redact(lastError)].filter((part) => part !== null).join(", ")}
              </td>
            </tr>`,
        )}${watches.map(
          ({ kind, key }) =>
            html`<tr>
              <td>watch</td>
              <td><code>${kind}</code> <code>${key}</code></td>
              <td>polled</td>
              <td></td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function timeline(history: readonly HistoryRecord[], redact: Redact): Html {
  const first = history[0];
  if (first === undefined) return html`<p class="empty">No step is recorded.</p>`;
  const rows = history.map((row, index) => ({ row, last: history[index - 1] })).toReversed();
  return html`${first.version > 1 ? html`<p>The last ${history.length} steps.</p>` : null}
    <div class="scroll">
      <table class="timeline">
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col">Event</th>
            <th scope="col">Then in</th>
            <th scope="col">At</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            ({ row, last }) =>
              html`<tr>
                <td>${row.version}</td>
                <td>
                  <details id="step-${row.version}">
                    <summary><code>${shownEvent(eventType(row))}</code></summary>
                    <pre>${shownJson(row.event, redact)}</pre>
                  </details>
                </td>
                <td><span class="pill">${stateWords(JSON.parse(row.value))}</span></td>
                <td>${moment(row.at)}</td>
                <td>${last === undefined ? "" : durationWords(row.at - last.at)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}
