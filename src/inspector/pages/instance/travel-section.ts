/** Time travel: any recorded step can be looked at, with the context as the chart computes it again. */
import { html, type Html } from "../../html.ts";
import { snapshotToText } from "../../../workflow/snapshot-text.ts";
import { whyMissing } from "../../recount/replay-history.ts";
import { shownJson } from "../../show-values.ts";
import type { Links } from "../page.ts";
import type { ShownInstance } from "./shown-instance.ts";

export function travelSection(links: Links, shown: ShownInstance): Html {
  const { instance, oldest, step } = shown;
  const { version } = instance;
  const at = step ?? version;
  return html`<form class="travel" action="${links.file("instance")}">
      <input type="hidden" name="id" value="${instance.id}" />
      <label for="step">Step <output>${at}</output> of ${version}</label>
      <input
        id="step"
        type="range"
        name="step"
        min="${oldest}"
        max="${version}"
        value="${at}"
        aria-valuetext="Step ${at} of ${version}"
      />
      <button>Look</button>
      ${at > oldest ? html`<a href="${links.instance(instance.id, at - 1)}" rel="prev">← before</a>` : null}
      ${at < version ? html`<a href="${links.instance(instance.id, at + 1)}" rel="next">after →</a>` : null}
      ${step === null ? null : html`<a href="${links.instance(instance.id)}">now</a>`}
    </form>
    ${step === null ? null : recomputed(shown, step)}`;
}

function recomputed({ fold, chart, redact }: ShownInstance, step: number): Html {
  const folded = fold.steps.get(step);
  if (folded === undefined) {
    return html`<p class="empty">
      The context after step ${step} is not known here.
      ${whyMissing(fold, step) ?? "Steps before it are missing."}
    </p>`;
  }
  return html`<details id="context-then" open>
    <summary>Snapshot after step ${step}, computed again by ${chart} from the recorded events</summary>
    <pre>${shownJson(snapshotToText(folded.after), redact)}</pre>
  </details>`;
}
