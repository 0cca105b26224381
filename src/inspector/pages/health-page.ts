/** The health page: dead letters, failing tasks, and the next due tasks. */
import type { TroubledTask } from "../../engine/troubled-tasks.ts";
import type { Health } from "../../service/read-health.ts";
import { durationWords } from "../chart/words.ts";
import { html, type Html } from "../html.ts";
import type { QueueStatus } from "../read-instances.ts";
import { dueMoment, moment, rowKey, type SecretFilter } from "../show-values.ts";
import type { Links, PageParts } from "./page.ts";
import { table } from "./table.ts";

/** The data of the health page; `service` is null for an engine without payments. */
interface HealthPage extends QueueStatus {
  readonly service: Health | null;
}

export function healthPage(
  links: Links,
  { deadLetters, failing, earliest, service }: HealthPage,
  redact: SecretFilter,
): PageParts {
  return {
    title: "Health",
    main: html`<h1>Health</h1>
      ${service === null ? null : serviceList(service, redact)}
      <h2>Set aside</h2>
      ${troubled({ label: "Set aside", tasks: deadLetters, none: "No task was set aside." }, { links, redact })}
      <h2>Failing</h2>
      ${troubled({ label: "Failing", tasks: failing, none: "No task fails." }, { links, redact })}
      <h2>Next due</h2>
      ${
        earliest.length === 0
          ? html`<p class="empty">
              Nothing is due: every instance waits for an event or for news of a watch.
            </p>`
          : table({
              label: "Next due",
              headings: ["Chart", "Its earliest task"],
              rows: earliest.map(
                ({ workflow, visibleAt }) =>
                  html`<tr>
                    <td><a href="${links.list({ workflow })}">${workflow}</a></td>
                    <td>${dueMoment(visibleAt)}</td>
                  </tr>`,
              ),
            })
      }`,
  };
}

interface Shown {
  readonly links: Links;
  readonly redact: SecretFilter;
}

interface Trouble {
  readonly label: string;
  readonly tasks: readonly TroubledTask[];
  /** Said where there are none. */
  readonly none: string;
}

function troubled({ label, tasks, none }: Trouble, { links, redact }: Shown): Html {
  if (tasks.length === 0) return html`<p class="empty">${none}</p>`;
  return table({
    label,
    headings: ["Instance", "Task", "Since", "Trouble"],
    rows: tasks.map(
      ({ instance, kind, name, since, failures, crashes, lastError }) =>
        html`<tr>
          <td>
            <a href="${links.instance(instance)}"><code>${instance}</code></a>
          </td>
          <td>${kind} <code>${name}</code></td>
          <td>${moment(since)}</td>
          <td>
            failed ${failures}×, process died
            ${crashes}×${lastError === null ? null : html`: ${redact(lastError)}`}
          </td>
        </tr>`,
    ),
  });
}

function serviceList(health: Health, redact: SecretFilter): Html {
  const { status, storage, chain, ledger, witnesses, overdueMs, watches, attention } = health;
  const facts: readonly (readonly [string, string])[] = [
    ["Service", status === "ok" ? "ok" : `⚠ ${status}`],
    ["Storage", storage],
    ["Chain", chain.message === null ? chain.state : `⚠ ${redact(chain.message)}`],
    [
      "Newest final slot",
      ledger === null ? "⚠ no endpoint answers" : `${ledger.slot}, of ${redact(ledger.endpoint)}`,
    ],
    [
      "Endpoints",
      witnesses === null ? "⚠ not counted" : `${witnesses.answering} answer, ${witnesses.needed} must agree`,
    ],
    ["Overdue", overdueMs === 0 ? "nothing" : `for ${durationWords(overdueMs)}`],
    ["Matters for a person", String(attention)],
  ];
  return html`<table class="of-facts">
      <tbody>
        ${facts.map(
          ([name, value]) =>
            html`<tr>
              <th scope="row">${name}</th>
              <td>${value}</td>
            </tr>`,
        )}
      </tbody>
    </table>
    <h2>Watches</h2>
    ${table({
      label: "Watches",
      headings: ["Watch", "Followed", "Last look"],
      rows: Object.entries(watches).map(
        ([kind, { watched, oldestMs }]) =>
          html`<tr data-key="${rowKey("watch", kind)}">
            <td><code>${kind}</code></td>
            <td>${watched} followed</td>
            <td>${durationWords(oldestMs)} ago</td>
          </tr>`,
      ),
    })}`;
}
