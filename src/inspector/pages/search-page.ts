/** The page of search results, unless exactly one instance was found. */
import type { RelatedId } from "../find-related.ts";
import { html } from "../html.ts";
import { rowKey } from "../show-values.ts";
import type { Links, PageParts } from "./page.ts";

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
                  <a href="${links.instance(id)}"><code>${id}</code></a> <small>${is}</small>
                </li>`,
            )}
          </ul>`
    }`;
  return { title: "Search", main, standsStill: true };
}
