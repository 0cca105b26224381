/** The page of an instance: state, history, reasons for waiting, money, and pending work. */
import { explainWaiting } from "../explain-waiting.ts";
import { waitedFor, type RelatedInstance } from "../find-related.ts";
import { html, type Html } from "../html.ts";
import { valueOf } from "../read-instances.ts";
import { moment, shownJson, stateWords, rowKey } from "../show-values.ts";
import { actsSection } from "./act-pages.ts";
import { chartSection } from "./instance/chart-section.ts";
import { moneySection } from "./instance/money-section.ts";
import { idsIn, orderSection } from "./instance/order-section.ts";
import { pendingSection } from "./instance/pending-section.ts";
import { eventType, shownEvent, shownValue, type ShownInstance } from "./instance/shown-instance.ts";
import { timelineSection } from "./instance/timeline-section.ts";
import { travelSection } from "./instance/travel-section.ts";
import { instanceLink, type Links, type PageParts } from "./page.ts";
import { table } from "./table.ts";

export function instancePage(links: Links, shown: ShownInstance): PageParts {
  const { instance, pending, step, related, order, money, acts, redact } = shown;
  const inTree = new Set(order === null ? [] : idsIn(order));
  const others = related.filter(({ id }) => !inTree.has(id));
  const main = html`<h1><code>${instance.id}</code></h1>
    <p class="facts">
      <span class="pill ${instance.status}">${stateWords(shownValue(shown))}</span>
      <a href="${links.chart(instance.workflow)}">${instance.workflow}</a> · started
      ${moment(instance.createdAt)} · step ${instance.version} ·
      <a href="${links.file("bundle", { id: instance.id })}" download>bundle</a>
    </p>
    ${step === null ? why(shown) : then(links, shown, step)}
    ${acts.length === 0 ? null : section("acts", "What you can do", actsSection(links, instance.id, acts))}
    ${section("chart", "Chart", chartSection(shown))}
    ${section("travel", "Step by step", travelSection(links, shown))}
    ${money === null || step !== null ? null : section("money", "Money", moneySection(money))}
    ${order === null ? null : section("order", "Its order", orderSection(links, order, instance.id))}
    ${others.length === 0 ? null : section("related", "Belongs together", relatedSection(links, others))}
    ${step === null ? section("pending", "Pending", pendingSection(pending, redact)) : null}
    ${section("timeline", "Timeline", timelineSection(links, shown))}
    <details id="snapshot">
      <summary>Snapshot as stored, secrets left out</summary>
      <pre>${shownJson(instance.snapshot, redact)}</pre>
    </details>`;
  return { title: instance.id, main, ...(step === null ? {} : { standsStill: true }) };
}

function section(id: string, heading: string, body: Html): Html {
  return html`<section data-key="section-${id}" aria-labelledby="${id}">
    <h2 id="${id}">${heading}</h2>
    ${body}
  </section>`;
}

function why({ instance, known, pending, related, trouble, redact }: ShownInstance): Html {
  const value = valueOf(instance);
  const active = known?.active(value) ?? [];
  const sentences = explainWaiting(
    {
      status: instance.status,
      state: stateWords(value),
      since: instance.updatedAt,
      events: known === undefined ? null : known.events(active),
      pending,
      trouble,
      others: waitedFor(related),
    },
    redact,
  );
  return html`<section class="why" data-key="section-why" aria-labelledby="why">
    <h2 id="why">${instance.status === "active" ? "Why is it waiting?" : "How it ended"}</h2>
    ${sentences.map((sentence) => html`<p>${sentence}</p>`)}
  </section>`;
}

function then(links: Links, { instance, history, chart }: ShownInstance, step: number): Html {
  const row = history.find(({ version }) => version === step);
  return html`<section class="why past" data-key="section-why" aria-labelledby="why">
    <h2 id="why">As it stood after step ${step}</h2>
    <p>
      ${row === undefined ? null : html`<code>${shownEvent(eventType(row))}</code> at ${moment(row.at)}.`}
      ${chart === instance.workflow ? null : html`The step was made by <code>${chart}</code>.`} This is the
      past: <a href="${links.instance(instance.id)}">see it as it stands now</a>.
    </p>
  </section>`;
}

/** The section of related instances, each with a link. */
function relatedSection(links: Links, related: readonly RelatedInstance[]): Html {
  return table({
    label: "Belongs together",
    headings: ["What it is", "Instance", "Chart", "State"],
    rows: related.map(({ id, is, workflow, value, status }) => ({
      key: rowKey("related", id),
      cells: [
        is,
        instanceLink(links, id),
        workflow,
        html`<span class="pill ${status}">${stateWords(value)}</span>`,
      ],
    })),
  });
}
