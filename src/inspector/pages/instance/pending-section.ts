/** The pending work of an instance: tasks with their troubles, timers counting down, watches. */
import type { PendingRecords, PendingTask } from "../../../../storage/storage.ts";
import { limitWords } from "../../../engine/limit-words.ts";
import { html, type Html } from "../../html.ts";
import { dueMoment, moment, type SecretFilter, rowKey } from "../../show-values.ts";
import { table } from "../table.ts";
import { shownEvent } from "./shown-instance.ts";

export function pendingSection({ tasks, watches }: PendingRecords, redact: SecretFilter): Html {
  if (tasks.length + watches.length === 0) return html`<p class="empty">Nothing is pending.</p>`;
  const ofWatches = watches.map(
    ({ kind, key }) =>
      html`<tr data-key="${rowKey(kind, key)}">
        <td>watch</td>
        <td><code>${kind}</code> <code>${key}</code></td>
        <td>polled</td>
        <td></td>
      </tr>`,
  );
  return table({
    label: "Pending",
    headings: ["Kind", "Name", "When", "Trouble"],
    rows: [...tasks.map((task) => taskRow(task, redact)), ...ofWatches],
  });
}

function taskRow(task: PendingTask, redact: SecretFilter): Html {
  const { id, kind, name, failures, crashes, lastError } = task;
  const trouble = [
    failures > 0 ? `failed ${failures}×` : null,
    crashes > 0 ? `process died ${crashes}×` : null,
    lastError === null ? null : redact(lastError),
  ];
  return html`<tr data-key="${rowKey("task", id)}">
    <td>${kind}</td>
    <td><code>${shownEvent(name)}</code></td>
    <td>${when(task)}</td>
    <td>${trouble.filter((part) => part !== null).join(", ")}</td>
  </tr>`;
}

function when({ deadAt, isHeld, visibleAt, dueAt, waitsFor }: PendingTask): Html {
  if (deadAt !== null) return html`set aside at ${moment(deadAt)}`;
  if (waitsFor !== undefined) {
    return "until" in waitsFor
      ? html`${limitWords(waitsFor)} ${dueMoment(waitsFor.until)}`
      : html`${limitWords(waitsFor)}`;
  }
  return isHeld ? html`in hand until ${dueMoment(visibleAt)}` : dueMoment(dueAt);
}
