/** The pending work of an instance: tasks with their troubles, timers counting down, watches. */
import type { PendingTask } from "../../../../storage/storage.ts";
import { limitWords } from "../../../engine/limit-words.ts";
import { html, type Html } from "../../html.ts";
import type { InstanceWork } from "../../read-instances.ts";
import { dueMoment, moment, type SecretFilter, rowKey } from "../../show-values.ts";
import { table, type TableRow } from "../table.ts";
import { shownEvent } from "./shown-instance.ts";

export function pendingSection({ tasks, watches }: InstanceWork, redact: SecretFilter): Html {
  const ofWatches = watches.map(({ kind, key }) => ({
    key: rowKey(kind, key),
    cells: ["watch", html`<code>${kind}</code> <code>${key}</code>`, "polled", null],
  }));
  return table({
    label: "Pending",
    headings: ["Kind", "Name", "When", "Trouble"],
    rows: [...tasks.map((task) => taskRow(task, redact)), ...ofWatches],
    none: "Nothing is pending.",
  });
}

function taskRow(task: PendingTask, redact: SecretFilter): TableRow {
  const { id, kind, name, failures, crashes, lastError } = task;
  const trouble = [
    failures > 0 ? `failed ${failures}×` : null,
    crashes > 0 ? `process died ${crashes}×` : null,
    lastError === null ? null : redact(lastError),
  ];
  return {
    key: rowKey("task", id),
    cells: [
      kind,
      html`<code>${shownEvent(name)}</code>`,
      when(task),
      trouble.filter((part) => part !== null).join(", "),
    ],
  };
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
