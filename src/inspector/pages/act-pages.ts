/** The pages around an act: what will happen, asked before; and what came of it. */
import { actKey, type OfferedAct } from "../../engine/inspected-engine.ts";
import { html, type Html } from "../html.ts";
import type { Links, PageParts } from "./page.ts";

/** The buttons of the acts that are offered for an instance. They lead to a page that asks first. */
export function actsSection(links: Links, id: string, acts: readonly OfferedAct[]): Html {
  return html`<p class="acts">
    ${acts.map(
      (each) =>
        html`<a class="button" href="${links.file("act", { id, do: actKey(each) })}">${each.label} …</a>`,
    )}
  </p>`;
}

/** The question before an act. */
interface Confirmation {
  readonly id: string;
  /** The address of the page that shows it. */
  readonly page: string;
  readonly offered: OfferedAct;
  /** The initial text of the event field. */
  readonly event: string;
  /** Tells the form from all others. */
  readonly once: string;
}

export function confirmPage(links: Links, { id, page, offered, event, once }: Confirmation): PageParts {
  const { label, consequence } = offered;
  const main = html`<h1>${label}?</h1>
    <p class="facts">
      <a href="${page}"><code>${id}</code></a>
    </p>
    <section class="why" aria-labelledby="what">
      <h2 id="what">What will happen</h2>
      <p>${consequence}</p>
    </section>
    <form class="confirm" method="post" action="${links.file("act")}">
      <input type="hidden" name="id" value="${id}" /><input
        type="hidden"
        name="do"
        value="${actKey(offered)}"
      />
      ${offered.on === "list" ? html`<input type="hidden" name="once" value="${once}" />` : null}
      ${eventField(offered, event)}
      <label>Your name <input name="actor" required maxlength="200" autocomplete="name" /></label>
      <label>Why <input name="reason" required maxlength="200" size="50" /></label>
      <p><small>Both are kept in the record of the act. Put no secret into them.</small></p>
      <p class="acts"><button class="main">${label}</button> <a href="${page}">Leave it</a></p>
    </form>`;
  return { title: label, main, standsStill: true };
}

function eventField({ takesEvent }: OfferedAct, event: string): Html | null {
  if (takesEvent === undefined) return null;
  if (takesEvent === true) {
    return html`<label
      >Event, its type or JSON <input name="event" required value="${event}" size="50"
    /></label>`;
  }
  return html`<label
    >Event
    <select name="event">
      ${takesEvent.map((type) => html`<option>${type}</option>`)}
    </select></label
  >`;
}

/** The outcome of an act. */
interface ActOutcome {
  readonly id: string;
  /** The address of the page that shows it. */
  readonly page: string;
  readonly said: string;
  readonly isDone: boolean;
}

export function outcomePage({ id, page, said, isDone }: ActOutcome): PageParts {
  const main = html`<h1>${isDone ? "Done" : "Not done"}</h1>
    <p class="${isDone ? "empty" : "warn"}">${isDone ? "" : "⚠ "}${said}</p>
    <p>
      <a href="${page}">Back to <code>${id}</code></a>
    </p>`;
  return { title: isDone ? "Done" : "Not done", main, standsStill: true };
}
