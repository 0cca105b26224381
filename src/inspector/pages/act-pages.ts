/** The pages around an act: what will happen, asked before; and what came of it. */
import type { OfferedAct } from "../../engine/inspected.ts";
import { html, type Html } from "../html.ts";
import type { Links, PageParts } from "./page.ts";

/** The buttons of the acts that are offered for an instance. They lead to a page that asks first. */
export function actsSection(links: Links, id: string, acts: readonly OfferedAct[]): Html {
  return html`<p class="acts">
    ${acts.map(
      ({ key, label }) => html`<a class="button" href="${links.file("act", { id, do: key })}">${label} …</a>`,
    )}
  </p>`;
}

/** What is asked before an act. */
export interface Confirmation {
  readonly id: string;
  readonly offered: OfferedAct;
  /** What stands in the field of the event to begin with. */
  readonly event: string;
}

export function confirmPage(links: Links, { id, offered, event }: Confirmation): PageParts {
  const { key, label, consequence, takesEvent } = offered;
  const eventField =
    takesEvent === true
      ? html`<label
          >Event, its type or JSON <input name="event" required value="${event}" size="50"
        /></label>`
      : null;
  const main = html`<h1>${label}?</h1>
    <p class="facts">
      <a href="${links.instance(id)}"><code>${id}</code></a>
    </p>
    <section class="why" aria-labelledby="what">
      <h2 id="what">What will happen</h2>
      <p>${consequence}</p>
    </section>
    <form class="confirm" method="post" action="${links.file("act")}">
      <input type="hidden" name="id" value="${id}" /><input type="hidden" name="do" value="${key}" />
      ${eventField}
      <label>Your name <input name="actor" required maxlength="200" autocomplete="name" /></label>
      <label>Why <input name="reason" required maxlength="200" size="50" /></label>
      <p><small>Both are kept in the record of the act. Put no secret into them.</small></p>
      <p class="acts"><button class="main">${label}</button> <a href="${links.instance(id)}">Leave it</a></p>
    </form>`;
  return { title: label, main, standsStill: true };
}

/** What came of an act. */
export interface ActOutcome {
  readonly id: string;
  readonly said: string;
  readonly isDone: boolean;
}

export function outcomePage(links: Links, { id, said, isDone }: ActOutcome): PageParts {
  const main = html`<h1>${isDone ? "Done" : "Not done"}</h1>
    <p class="${isDone ? "empty" : "warn"}">${isDone ? "" : "⚠ "}${said}</p>
    <p>
      <a href="${links.instance(id)}">Back to <code>${id}</code></a>
    </p>`;
  return { title: isDone ? "Done" : "Not done", main, standsStill: true };
}
