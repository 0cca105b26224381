/** The timeline of an instance: each step with its cause and its actions, and calls on the same axis. */
import type { HistoryRecord } from "../../../../storage/storage.ts";
import { childInstance, type ChartAction, type EventAddress } from "../../../workflow/chart.ts";
import { causeFromText, stepNumber } from "../../../workflow/step-cause.ts";
import { causeWords, originWords } from "../../cause-words.ts";
import { durationWords } from "../../chart/words.ts";
import { messageTarget } from "../../find-related.ts";
import { html, type Html } from "../../html.ts";
import type { TimelineCall } from "../../payments/module-view.ts";
import { moment, shownJson, stateWords, rowKey, type SecretFilter } from "../../show-values.ts";
import { gapWords, madeBy, type ReplayedStep, type MissingPeriod } from "../../recount/replay-history.ts";
import type { LedgerCall } from "../../../service/ledger-call-history.ts";
import type { Links } from "../page.ts";
import { table, type TableRow } from "../table.ts";
import { eventType, shownEvent, type ShownInstance } from "./shown-instance.ts";

/** Calls of the ledger on one page: an effect that is tried for days makes thousands. */
const MAX_CALLS = 100;

export function timelineSection(links: Links, shown: ShownInstance): Html {
  const { instance, history, oldest, fold, ofModules, calls, callsSince } = shown;
  const [first] = history;
  if (first === undefined) return html`<p class="empty">No step is recorded.</p>`;
  const last = history.at(-1) ?? first;
  const isWhole = first.version === 1 && last.version === instance.version;
  const isOnAxis = ({ at }: { readonly at: number }): boolean =>
    at >= first.at && (last.version === instance.version || at <= last.at);
  const lines = [
    ...history.map((row, index) => ({
      at: row.at,
      line: stepLine(links, shown, { row, before: history[index - 1] }),
    })),
    ...ofModules.filter(isOnAxis).map((call) => ({ at: call.at, line: moduleLine(links, call) })),
    ...calls
      .filter(isOnAxis)
      .slice(-MAX_CALLS)
      .map((call) => ({ at: call.at, line: callLine(call) })),
  ]
    .toSorted((a, b) => a.at - b.at)
    .toReversed();
  return html`${isWhole ? null : html`<p>Steps ${first.version} to ${last.version} of ${instance.version}.</p>`}
  ${fold.gaps.map((gap) => gapLine(shown, gap))}
  ${table({
    label: "Timeline",
    headings: ["Step", "What happened", "What it asked for", "Then in", "At", "After"],
    brief: "After",
    rows: lines.map(({ line }) => line),
  })}
  ${
    callsSince === null
      ? null
      : html`<p>
          <small
            >Calls of the ledger are not stored: these are those of this process since
            ${moment(callsSince)}.</small
          >
        </p>`
  }
  ${
    first.version > oldest
      ? html`<p><a href="${links.instance(instance.id, first.version - 1)}">Earlier steps</a></p>`
      : null
  }`;
}

/** That the instance's own chart is not here is said where the chart would stand. */
function gapLine({ instance, fold }: ShownInstance, gap: MissingPeriod): Html | null {
  if (gap.problem !== null) return html`<p class="warn">⚠ ${gap.problem}</p>`;
  return madeBy(fold, gap.first) === instance.workflow ? null : html`<p>${gapWords(gap, fold)}</p>`;
}

interface StepLine {
  readonly row: HistoryRecord;
  readonly before: HistoryRecord | undefined;
}

function stepLine(links: Links, shown: ShownInstance, { row, before }: StepLine): TableRow {
  const { instance, fold, step, redact } = shown;
  const recounted = fold.steps.get(row.version);
  const asks = (recounted?.actions ?? []).flatMap((action) =>
    asked(links, instance.id, action).map((line) => html`<div>${line}</div>`),
  );
  return {
    key: rowKey("row", row.version),
    class: row.version === step ? "looked-at" : "step",
    cells: [
      html`<a href="${links.instance(instance.id, row.version)}">${row.version}</a>`,
      html`<details id="step-${row.version}">
          <summary><code>${shownEvent(eventType(row))}</code></summary>
          <pre>${eventText(row, recounted, redact)}</pre>
        </details>
        ${cause(links, shown, row)}`,
      asks,
      html`<span class="pill">${stateWords(JSON.parse(row.value))}</span>`,
      moment(row.at),
      before === undefined
        ? null
        : html`<small class="named">after </small>${durationWords(row.at - before.at)}`,
    ],
  };
}

function moduleLine(
  links: Links,
  { number, words, instance, of, at, durationMs, outcome, isGood }: TimelineCall,
): TableRow {
  return {
    key: rowKey(instance, number),
    class: "delivery",
    cells: [
      isGood ? "✓" : "✗",
      html`${words} <a href="${links.instance(instance)}">${of}</a>`,
      outcome,
      null,
      moment(at),
      `took ${durationWords(durationMs)}`,
    ],
  };
}

/** Recorded events never change: a step that was shown is not cleaned of secrets once more after each commit. */
const cleaned = new WeakMap<ReplayedStep, string>();

function eventText({ event }: HistoryRecord, step: ReplayedStep | undefined, redact: SecretFilter): string {
  if (step === undefined) return shownJson(event, redact);
  const known = cleaned.get(step) ?? shownJson(event, redact);
  cleaned.set(step, known);
  return known;
}

function callLine({ number, method, task, at, durationMs, outcome }: LedgerCall): TableRow {
  return {
    key: rowKey("call", number),
    class: "delivery",
    cells: [
      outcome === null ? "…" : outcome === "answered" ? "✓" : "✗",
      html`ledger <code>${method}</code> <small>for the ${task.kind} ${shownEvent(task.name)}</small>`,
      outcome ?? "under way",
      null,
      moment(at),
      durationMs === null ? null : `took ${durationWords(durationMs)}`,
    ],
  };
}

/** The cause of an event, with a link to its step. */
function cause(links: Links, shown: ShownInstance, row: HistoryRecord): Html {
  const { id } = shown.instance;
  const type = eventType(row);
  const event = JSON.parse(row.event) as Readonly<Record<string, unknown>>;
  if (type === "$migrated") {
    return html`<small
      >moved from version ${versionOf(event["from"])} to ${versionOf(event["to"])} of its chart</small
    >`;
  }
  if (type === "$folded") return html`<small>the whole snapshot, for the steps before it</small>`; // modules: folding
  if (type === "$born") return html`<small>children of the step before</small>`;
  const { words, from } = causeWords(causeFromText(row.cause, id), id);
  const child = /^xstate\.(?:done|error)\.actor\.(.+)$/.exec(type)?.[1];
  const told = child === undefined ? words : `${invocationWords(shown, child, row)}, ${words}`;
  if (from === null) return html`<small>${told}</small>`;
  const link = links.instance(from.instance, stepNumber(from, shown.history) ?? from.step);
  return html`<small>${told} <a href="${link}">${originWords(from, id, shown.history)}</a></small>`;
}

/** The duration of an invocation or a child, from the step that began it. */
function invocationWords({ fold, history }: ShownInstance, child: string, row: HistoryRecord): string {
  const begun = history.findLast(
    ({ version }) =>
      version < row.version &&
      fold.steps
        .get(version)
        ?.actions.some((action) => action.kind === "startChild" && action.id === child) === true,
  );
  return begun === undefined
    ? "its invocation ended"
    : `its invocation ended after ${durationWords(row.at - begun.at)}`;
}

function versionOf(key: unknown): string {
  const text = typeof key === "string" ? key : "";
  return text.slice(text.lastIndexOf("@") + 1);
}

/** An action of a step in words; bookkeeping is left out. */
function asked(links: Links, id: string, action: ChartAction): Html[] {
  const to = messageTarget(action);
  if (to !== null) {
    const link = html`<a href="${links.instance(to.id)}">${to.id}</a>`;
    return [
      to.kind === "start" ? html`starts ${link}` : html`tells ${link} <code>${to.event ?? "an event"}</code>`,
    ];
  }
  switch (action.kind) {
    case "effect":
      return [html`effect <code>${action.effect.name}</code>`];
    case "arm":
      return [
        html`timer
          <code>${shownEvent(action.event.type)}</code
          >${action.event.type.startsWith("xstate.after.") ? null : html`, after ${durationWords(action.delayMs)}`}`,
      ];
    case "startChild": {
      if (action.run === undefined) return [html`invokes <code>${action.id}</code>`];
      const child = childInstance(id, action.id, action.run);
      return [html`starts its child <a href="${links.instance(child)}">${action.id}</a>`];
    }
    case "stopChild":
      return [html`ends <code>${action.id}</code>`];
    case "send": {
      return [html`sends <code>${action.event.type}</code> to ${recipientName(action.to)}`];
    }
    case "log":
    case "emit":
    case "disarm":
      return [];
    default:
      return action satisfies never;
  }
}

function recipientName(to: EventAddress): string {
  if (to === "self") return "itself";
  if (to === "parent") return "its parent";
  return "actor" in to ? to.actor.instance : to.child;
}
