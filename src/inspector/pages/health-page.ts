/** The health page: dead letters, failing tasks, and the next due tasks. */
import type { TroubledTask } from "../../engine/kernel/troubled-tasks.ts";
import type { Health } from "../../service/read-health.ts";
import { durationWords } from "../chart/words.ts";
import { html, type Html } from "../html.ts";
import type { QueueStatus } from "../read-instances.ts";
import { dueMoment, moment, rowKey, type SecretFilter } from "../show-values.ts";
import { instanceLink, type Links, type PageParts } from "./page.ts";
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
  const troubled = (label: string, tasks: readonly TroubledTask[], none: string): Html =>
    table({
      label,
      headings: ["Instance", "Task", "Since", "Trouble"],
      rows: tasks.map(({ instance, kind, name, since, failures, crashes, lastError }) => ({
        cells: [
          instanceLink(links, instance),
          html`${kind} <code>${name}</code>`,
          moment(since),
          [
            `failed ${failures}×, process died ${crashes}×`,
            lastError === null ? null : `: ${redact(lastError)}`,
          ],
        ],
      })),
      none,
    });
  return {
    title: "Health",
    main: html`<h1>Health</h1>
      ${service === null ? null : serviceList(service, redact)}
      <h2>Set aside</h2>
      ${troubled("Set aside", deadLetters, "No task was set aside.")}
      <h2>Failing</h2>
      ${troubled("Failing", failing, "No task fails.")}
      <h2>Next due</h2>
      ${table({
        label: "Next due",
        headings: ["Chart", "Its earliest task"],
        rows: earliest.map(({ workflow, visibleAt }) => ({
          cells: [html`<a href="${links.list({ workflow })}">${workflow}</a>`, dueMoment(visibleAt)],
        })),
        none: "Nothing is due: every instance waits for an event or for news of a watch.",
      })}`,
  };
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
      rows: Object.entries(watches).map(([kind, { watched, oldestMs }]) => ({
        key: rowKey("watch", kind),
        cells: [html`<code>${kind}</code>`, `${watched} followed`, `${durationWords(oldestMs)} ago`],
      })),
    })}`;
}
