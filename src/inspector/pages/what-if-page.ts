/** The what-if page: the effect of an event on an instance, without storing or carrying out anything. */
import type { HistoryRecord, InstanceRecord, TaskRecord } from "../../../storage/storage.ts";
import { snapshotToText } from "../../workflow/snapshot-text.ts";
import type { KnownChart } from "../chart-registry.ts";
import { html, type Html } from "../html.ts";
import type { ImaginedResult, ImaginedStep, PlannedWrite } from "../recount/what-if.ts";
import { dueMoment, shownJson, stateWords, type SecretFilter } from "../show-values.ts";
import { drawnChart } from "./instance/chart-section.ts";
import { shownEvent } from "./instance/shown-instance.ts";
import type { Links, PageParts } from "./page.ts";

/** The request of a what-if page, and the imagined result. */
interface WhatIf {
  readonly instance: InstanceRecord;
  readonly known: KnownChart;
  readonly history: readonly HistoryRecord[];
  /** The step that the imagined step follows. */
  readonly step: number;
  /** The state value there. */
  readonly value: unknown;
  readonly eventType: string;
  readonly imagined: ImaginedResult;
  readonly redact: SecretFilter;
}

export function whatIfPage(links: Links, asked: WhatIf): PageParts {
  const { instance, step, value, eventType, imagined } = asked;
  const main = html`<h1>What if <code>${eventType}</code> came?</h1>
    <p class="facts">
      <a href="${links.instance(instance.id, step === instance.version ? null : step)}"
        ><code>${instance.id}</code></a
      >
      after step ${step}, in <span class="pill">${stateWords(value)}</span>
    </p>
    <section class="why" aria-labelledby="why">
      <h2 id="why">What would happen</h2>
      <p>${verdict(asked)}</p>
      <p><small>This was computed on a copy. Nothing is stored, nothing is carried out.</small></p>
    </section>
    ${imagined.kind === "step" ? stepParts(asked, imagined.step) : null}`;
  return { title: `What if ${eventType}`, main, standsStill: true };
}

function verdict({ imagined, eventType, value, redact }: WhatIf): Html {
  switch (imagined.kind) {
    case "step": {
      const { after } = imagined.step;
      return after.status === "active"
        ? html`It would go to <b>${stateWords(after.value)}</b>.`
        : html`It would end in <b>${stateWords(after.value)}</b>.`;
    }
    case "nothing":
      return html`Nothing: in ${stateWords(value)} it does not answer <code>${eventType}</code>.`;
    case "refused":
      return html`That cannot be told: ${redact(imagined.reason)}`;
    default:
      return imagined satisfies never;
  }
}

function stepParts({ known, history, redact }: WhatIf, step: ImaginedStep): Html {
  const { after, arms, disarms, watches, unwatches, starts, writes } = step;
  return html`${list(
      "Would be armed",
      arms.map((task) => armed(task, redact)),
    )}
    ${list(
      "Would end",
      [...disarms.map(shownEvent), ...unwatches.map(({ kind, key }) => `watch ${kind} ${key}`)].map(
        (name) => html`<code>${name}</code>`,
      ),
    )}
    ${list(
      "Would be watched",
      watches.map(({ kind, key }) => html`<code>${kind}</code> <code>${key}</code>`),
    )}
    ${list(
      "Would be started",
      starts.map((id) => html`<code>${id}</code>`),
    )}
    ${list(
      "Rows that would be written",
      writes.map((write) => written(write, redact)),
    )}
    <h2>Chart afterwards</h2>
    ${drawnChart(known, { value: after.value, history })}
    <details id="after">
      <summary>Snapshot afterwards</summary>
      <pre>${shownJson(snapshotToText(after), redact)}</pre>
    </details>`;
}

function list(heading: string, items: readonly Html[]): Html | null {
  if (items.length === 0) return null;
  return html`<h2>${heading}</h2>
    <ul>
      ${items.map((item) => html`<li>${item}</li>`)}
    </ul>`;
}

function armed({ kind, name, instance, dueAt, payload }: TaskRecord, redact: SecretFilter): Html {
  const when = kind === "timer" ? html`, due at ${dueMoment(dueAt)}` : null;
  const to = kind === "message" ? html` to <code>${instance}</code>` : null;
  return html`${kind} <code>${shownEvent(name)}</code>${to}${when}
    <details>
      <summary>with</summary>
      <pre>${shownJson(payload, redact)}</pre>
    </details>`;
}

function written({ table, ...rest }: PlannedWrite, redact: SecretFilter): Html {
  const text = JSON.stringify(rest, (_key, value: unknown) => shownValue(value));
  const verb = "insert" in rest ? "insert into" : "set" in rest ? "change" : "expect in";
  return html`${verb} <code>${table}</code>
    <pre>${shownJson(text, redact)}</pre>`;
}

/** JSON has no bigints; bytes, which may be signed, are told by their number alone. */
function shownValue(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  return ArrayBuffer.isView(value) ? `${value.byteLength} bytes` : value;
}
