/** The section of related instances, each with a link. */
import { html, type Html } from "../../html.ts";
import { stateWords, rowKey } from "../../show-values.ts";
import type { RelatedInstance } from "../../find-related.ts";
import type { Links } from "../page.ts";
import { table } from "../table.ts";

export function relatedSection(links: Links, related: readonly RelatedInstance[]): Html {
  return table({
    label: "Belongs together",
    headings: ["What it is", "Instance", "Chart", "State"],
    rows: related.map(
      ({ id, is, workflow, value, status }) =>
        html`<tr data-key="${rowKey("related", id)}">
          <td>${is}</td>
          <td>
            <a href="${links.instance(id)}"><code>${id}</code></a>
          </td>
          <td>${workflow}</td>
          <td><span class="pill ${status}">${stateWords(value)}</span></td>
        </tr>`,
    ),
  });
}
