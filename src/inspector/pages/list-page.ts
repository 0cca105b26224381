/** Pages that list instances: instances that need a person, then the newest instances; and the results of a search. */
import { listedIn } from "../../engine/list-name.ts";
import { Html, html } from "../html.ts";
import type { InstanceList, ListedInstance, ListQuery } from "../read-instances.ts";
import { moment, stateWords, type SecretFilter, rowKey } from "../show-values.ts";
import { instanceLink, type Links, type PageParts } from "./page.ts";
import { table } from "./table.ts";
import type { RelatedId } from "../find-related.ts";

/** The data of the list. */
interface ListPage {
  readonly list: InstanceList;
  readonly query: ListQuery;
  readonly hasPayments: boolean;
  /** The keys of the registered charts. */
  readonly workflows: readonly string[];
  /** The search fields of the chosen chart. */
  readonly fields: readonly string[];
  /** Acts on all of the list; null where there are none. */
  readonly acts: Html | null;
  readonly redact: SecretFilter;
}

export function listPage(links: Links, page: ListPage): PageParts {
  const { list, query, acts, redact } = page;
  const { troubled, next } = list;
  return {
    title: "Instances",
    main: html`<h1>Instances</h1>
      ${filters(links, page)}${acts}
      ${
        troubled.length === 0
          ? null
          : html`<h2>Needs attention</h2>
              ${instanceTable("Needs attention", troubled, { links, redact })}`
      }
      ${query.attention === true ? attentionOnly(troubled.length) : newest(links, page)}
      ${next === null ? null : html`<p><a href="${links.list({ ...filtersOf(query), before: `${next.createdAt}:${next.id}` })}">${query.where === undefined ? "Older ones" : "More"}</a></p>`}`,
  };
}

function attentionOnly(count: number): Html | null {
  return count > 0 ? null : html`<p class="empty">Nothing needs attention.</p>`;
}

function newest(links: Links, page: ListPage): Html {
  const { list, query, redact } = page;
  const isFiltered = query.workflow !== undefined || query.status !== undefined;
  const heading = query.where !== undefined ? "By id" : query.before === undefined ? "Newest" : "Older";
  return html`<h2>${heading}</h2>
    ${list.instances.length === 0 ? (isFiltered ? noneFits() : firstStart(page)) : instanceTable("Instances", list.instances, { links, redact })}`;
}

function filtersOf({ workflow, status, where = {}, state }: ListQuery): Record<string, string> {
  return {
    ...(workflow === undefined ? {} : { workflow }),
    ...(status === undefined ? {} : { status }),
    ...listedIn({ where, state: state ?? null }),
  };
}

function filters(links: Links, { query, workflows, fields }: ListPage): Html {
  const option = (value: string, words: string, chosen: string | undefined): Html =>
    value === (chosen ?? "")
      ? html`<option value="${value}" selected>${words}</option>`
      : html`<option value="${value}">${words}</option>`;
  return html`<div class="forms">
    <form action="${links.list()}">
      <label
        >Chart
        <select name="workflow">
          ${option("", "all", query.workflow)}${workflows.map((key) => option(key, key, query.workflow))}
        </select></label
      >
      <label
        >Status
        <select name="status">
          ${option("", "all", query.status)}${option("active", "active", query.status)}${option("done", "ended", query.status)}
        </select></label
      >
      ${fields.map(
        (field) =>
          html`<label>${field} <input name="where.${field}" value="${query.where?.[field] ?? ""}" /></label>`,
      )}
      ${
        query.state === undefined
          ? null
          : html`<label>State <input name="state" value="${query.state}" /></label>`
      }
      <label class="check"
        ><input
          type="checkbox"
          name="attention"
          value="1"
          ${query.attention === true ? new Html("checked") : null}
        />
        needs attention only</label
      >
      <button>Show</button>
    </form>
  </div>`;
}

interface Shown {
  readonly links: Links;
  readonly redact: SecretFilter;
}

function noneFits(): Html {
  return html`<p class="empty">No instance fits these filters.</p>`;
}

/** For an empty database: how the first instance is started. */
function firstStart({ hasPayments, workflows }: ListPage): Html {
  const [chart = "your-chart@1"] = workflows;
  return html`<div class="empty">
    <p>No instance has been started yet. The first one will appear here by itself.</p>
    ${
      hasPayments
        ? html`<p>Every payment is one: ask for a quote, have it signed, and send it.</p>
            <pre>POST /v1/quotes&#10;POST /v1/transactions</pre>
            <p>A shop that does both: <code>npx paystate init payments</code></p>`
        : html`<p>Start one of <code>${chart}</code> in your program:</p>
            <pre>await engine.start(workflow, { id: "first", input: {} });</pre>
            <p>A program that does: <code>npx paystate init engine</code></p>`
    }
  </div>`;
}

function instanceTable(label: string, instances: readonly ListedInstance[], { links, redact }: Shown): Html {
  return table({
    label,
    headings: ["Instance", "Chart", "State", "Started", "Last step"],
    brief: "Chart",
    rows: instances.map(({ id, workflow, status, value, trouble, createdAt, updatedAt }) => ({
      key: rowKey("row", id),
      cells: [
        instanceLink(links, id),
        workflow,
        html`<span class="pill ${status}">${stateWords(value)}</span
          >${trouble === null ? null : html` <strong class="trouble">⚠ ${redact(trouble)}</strong>`}`,
        html`<small class="named">started </small>${moment(createdAt)}`,
        html`<small class="named">last step </small>${moment(updatedAt)}`,
      ],
    })),
  });
}

/** The page of search results, unless exactly one instance was found. */
export function searchPage(links: Links, text: string, hits: readonly RelatedId[]): PageParts {
  const main = html`<h1>Found for “${text}”</h1>
    ${
      hits.length === 0
        ? html`<p class="empty">
            Nothing: no instance has this id, signature, address, quote or reference.
            <a href="${links.list()}">All instances</a>
          </p>`
        : html`<ul class="related">
            ${hits.map(
              ([id, is]) =>
                html`<li data-key="${rowKey("hit", id)}">
                  ${instanceLink(links, id)} <small>${is}</small>
                </li>`,
            )}
          </ul>`
    }`;
  return { title: "Search", main, standsStill: true };
}
