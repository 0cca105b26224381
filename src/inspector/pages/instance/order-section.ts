/** The order that an instance belongs to as a tree of links, in which the instance itself is marked. */
import { html, type Html } from "../../html.ts";
import type { OrderPart } from "../../payments/order-part.ts";
import type { Links } from "../page.ts";

export function orderSection(links: Links, tree: OrderPart, own: string): Html {
  return html`<ul class="related tree">
    ${treeItem(links, tree, own)}
  </ul>`;
}

function treeItem(links: Links, { is, id, to, state, note, below }: OrderPart, own: string): Html {
  const name = html`<code>${id}</code>`;
  return html`<li>
    ${is}
    ${
      id === null
        ? null
        : id === own
          ? html`<a href="${links.instance(id)}" aria-current="true">${name}</a>`
          : html`<a href="${links.instance(id)}">${name}</a>`
    }
    <span class="pill">${state}</span>
    ${note === null ? null : html`<small>${note}</small>`}
    ${
      to === null
        ? null
        : html`<small
            >${to.words} <a href="${links.file(to.page, { id: to.id })}"><code>${to.id}</code></a></small
          >`
    }
    ${
      below.length === 0
        ? null
        : html`<ul>
            ${below.map((each) => treeItem(links, each, own))}
          </ul>`
    }
  </li>`;
}

/** The ids in a tree. */
export function idsIn({ id, below }: OrderPart): readonly string[] {
  return [...(id === null ? [] : [id]), ...below.flatMap(idsIn)];
}
