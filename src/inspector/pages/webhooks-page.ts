/**
 * Pages of webhooks: a list, and a page for a webhook with its deliveries: answers, excerpts, the next attempt, and a
 * request to copy.
 */
// modules: webhooks
import type { DeliveryAttemptRecord } from "../../payments/webhooks/tables.ts";
import type { OfferedAct } from "../../engine/inspected-engine.ts";
import { durationWords } from "../chart/words.ts";
import { html, type Html } from "../html.ts";
import { outcomeOf, type DeliveryHistory, type WebhookStatus } from "../payments/read-webhooks.ts";
import { dueMoment, moment, rowKey, type SecretFilter } from "../show-values.ts";
import { actsSection } from "./act-pages.ts";
import { instanceLink, type Links, type PageParts } from "./page.ts";
import { table, type TableRow } from "./table.ts";

export function webhooksPage(
  links: Links,
  webhooks: readonly WebhookStatus[],
  redact: SecretFilter,
): PageParts {
  const main = html`<h1>Webhooks</h1>
    ${table({
      label: "Webhooks",
      headings: ["Webhook", "Receiver", "Standing", "Last delivered"],
      rows: webhooks.map((each) => webhookRow(links, each, redact)),
      none: "No webhook is registered.",
    })}`;
  return { title: "Webhooks", main };
}

function webhookRow(links: Links, standing: WebhookStatus, redact: SecretFilter): TableRow {
  const { webhook, lastDeliveredAt, abandoned } = standing;
  const { id, url } = webhook;
  const trouble = abandoned === 0 ? null : html` <strong class="trouble">⚠ ${abandoned} abandoned</strong>`;
  return {
    key: rowKey("webhook", id),
    cells: [
      html`<a href="${links.file("webhook", { id })}"><code>${id}</code></a>`,
      redact(url),
      [enabledWords(standing), trouble],
      lastDeliveredAt === null ? "never" : moment(lastDeliveredAt),
    ],
  };
}

function enabledWords({ webhook }: WebhookStatus): string {
  return webhook.disabledAt === null ? "enabled" : `off: ${webhook.disabledReason ?? "no reason"}`;
}

/** A webhook with its newest deliveries. */
interface WebhookPage {
  readonly id: string;
  readonly url: string;
  readonly ladders: readonly DeliveryHistory[];
  readonly acts: readonly OfferedAct[];
  readonly redact: SecretFilter;
}

export function webhookPage(links: Links, { id, url, ladders, acts, redact }: WebhookPage): PageParts {
  const main = html`<h1><code>${id}</code></h1>
    <p class="facts">sends to ${redact(url)} · <a href="${links.file("webhooks")}">all webhooks</a></p>
    ${acts.length === 0 ? null : actsSection(links, id, acts)}
    ${ladders.length === 0 ? html`<p class="empty">Nothing has been delivered to it yet.</p>` : null}
    ${ladders.map((ladder) => ladderCard(links, ladder, redact))}`;
  return { title: id, main };
}

interface DeliveryPage extends Pick<WebhookPage, "acts" | "redact"> {
  readonly ladder: DeliveryHistory;
}

/** A delivery that is over: its instance is gone, and its row and attempts tell everything. */
export function deliveryPage(links: Links, { ladder, acts, redact }: DeliveryPage): PageParts {
  const { id, webhookId } = ladder.delivery;
  const webhook = html`<a href="${links.file("webhook", { id: webhookId })}"><code>${webhookId}</code></a>`;
  const main = html`<h1><code>${id}</code></h1>
    <p class="facts">a delivery to the webhook ${webhook}</p>
    ${acts.length === 0 ? null : actsSection(links, id, acts)} ${ladderCard(links, ladder, redact)}`;
  return { title: id, main };
}

function ladderCard(
  links: Links,
  { delivery, notice, attempts, nextAt }: DeliveryHistory,
  redact: SecretFilter,
): Html {
  const { id, status, transactionId, createdAt } = delivery;
  const isTrouble = status === "abandoned" || (status === "pending" && attempts.length > 0);
  return html`<section class="ladder" data-key="${rowKey("ladder", id)}" aria-labelledby="${rowKey("h", id)}">
    <h2 id="${rowKey("h", id)}">
      ${notice?.event ?? "notice"}
      <span class="pill ${status === "pending" ? "active" : "done"}">${isTrouble ? "⚠ " : ""}${status}</span>
    </h2>
    <p class="facts">
      ${instanceLink(links, id)} of ${instanceLink(links, transactionId)} · ${moment(createdAt)}
      ${nextAt === null || status !== "pending" ? null : html` · next attempt ${dueMoment(nextAt)}`}
    </p>
    <ol>
      ${attempts.map((attempt) => rung(attempt, redact))}
    </ol>
    ${typeof notice?.body === "string" ? curl(id, notice.body, redact) : null}
  </section>`;
}

function rung(attempt: DeliveryAttemptRecord, redact: SecretFilter): Html {
  const { id, startedAt, durationMs, excerpt } = attempt;
  return html`<li data-key="${rowKey("rung", id)}">
    ${moment(startedAt)}: ${redact(outcomeOf(attempt))}, took ${durationWords(durationMs)}
    ${excerpt === null || excerpt === "" ? null : html`<pre>${redact(excerpt)}</pre>`}
  </li>`;
}

/** The delivery's request as a curl command. Address and secret are shell variables, and are not shown. */
function curl(id: string, body: string, redact: SecretFilter): Html {
  const quoted = redact(body).replaceAll("'", "'\\''");
  const text = [
    `BODY='${quoted}'`,
    `SIGNATURE="sha256=$(printf %s "$BODY" | openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" -r | cut -d' ' -f1)"`,
    `curl -sS "$WEBHOOK_URL" -H 'Content-Type: application/json' -H "X-Service-Signature: $SIGNATURE" --data-binary "$BODY"`,
  ].join("\n");
  const place = rowKey("curl", id);
  return html`<details id="${rowKey("d", id)}">
    <summary>The request as curl</summary>
    <pre id="${place}">${text}</pre>
    <button type="button" data-copies="${place}">Copy</button>
  </details>`;
}
