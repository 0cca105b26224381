/** The instances around one, each one click away. */
import { html, type Html } from "../../html.ts";
import { stateWords, rowKey } from "../../show-values.ts";
import type { RelatedInstance } from "../../find-related.ts";
import type { Links } from "../page.ts";

export function relatedSection(links: Links, related: readonly RelatedInstance[]): Html {
  return html`<ul class="related">
    ${related.map(
      ({ id, is, workflow, value, status }) =>
        html`<li data-key="${rowKey("related", id)}">
          <small>${is}</small> <a href="${links.instance(id)}"><code>${id}</code></a> ${workflow}
          <span class="pill ${status}">${stateWords(value)}</span>
        </li>`,
    )}
  </ul>`;
}
