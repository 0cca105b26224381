/** A chart as an indented list of its states: reads on a narrow screen, and aloud. */
import { rowKey } from "../show-values.ts";
import { html, type Html } from "../html.ts";
import type { ChartState, ReadChart } from "./read-chart.ts";

/** Active states are marked by a word and a filled dot. */
export function indentedChart({ root, transitions }: ReadChart, active: readonly string[]): Html {
  const item = (state: ChartState): Html => {
    const isActive = active.includes(state.id) && state !== root;
    const kind =
      state.kind === "atomic" || state.kind === "compound" ? null : html` <small>${state.kind}</small>`;
    const ways = transitions.filter(({ from }) => from === state.id);
    return html`<li data-key="${rowKey("state", state.id)}">
      <b class="${isActive ? "on" : "off"}">${state.name}</b
      >${kind}${isActive ? html` <small class="pill active">active</small>` : null}
      ${state.notes.map((note) => html`<small class="note">${note}</small>`)}
      ${ways.map(({ label, to }) => html`<small class="note">${label} → <b>${to.slice(root.id.length + 1)}</b></small>`)}
      ${
        state.states.length === 0
          ? null
          : html`<ul>
              ${state.states.map(item)}
            </ul>`
      }
    </li>`;
  };
  return html`<ul class="states">
    ${item(root)}
  </ul>`;
}
