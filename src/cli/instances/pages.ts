/** Pages of the commands on instances, for people. */
import type {
  HistoryEntry,
  InstanceList,
  InstanceView,
  PendingWork,
  TroubledTask,
} from "../../engine/index.ts";
import type { PendingTask } from "../../../storage/storage.ts";
import { isOwnRow } from "../../workflow/chart.ts";
import { limitWords } from "../../engine/limit-words.ts";
import { causeSentence } from "../../inspector/cause-words.ts";
import { isoDate } from "../../inspector/show-values.ts";
import { table } from "../../core/table.ts";
import { inOneLine } from "../../core/terminal-text.ts";

const MAX_CELL = 100;

function cell(text: string): string {
  return text.length > MAX_CELL ? `${text.slice(0, MAX_CELL - 1)}…` : text;
}

const time = (at: number): string => isoDate(at) ?? "never";

/** A state value as paths: `paying.card`, and one path for each parallel region. */
function stateText(value: unknown): string {
  return pathsOf(value).join(", ");
}

function pathsOf(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [String(value)];
  return Object.entries(value).flatMap(([key, inner]) => {
    const below = pathsOf(inner).filter((path) => path !== "");
    return below.length === 0 ? [key] : below.map((path) => `${key}.${path}`);
  });
}

/** The trouble of a task; empty for a task without trouble. */
function troubleOf(
  { name, failures, crashes, lastError }: TroubledTask | PendingTask,
  isDead: boolean,
): string {
  const error = lastError === null ? "" : `: ${lastError}`;
  if (isDead) {
    const reason = crashes > 0 ? `${crashes} crashes` : `${failures} failures`;
    return `${name} is set aside after ${reason}${error}`;
  }
  return failures === 0 ? "" : `${name} has failed ${failures} times${error}`;
}

/** Troubles by the id of their instance; a dead letter is worse than a failing task. */
export function troublesOf(
  failing: readonly TroubledTask[],
  dead: readonly TroubledTask[],
): ReadonlyMap<string, string> {
  return new Map([
    ...failing.map((task) => [task.instance, troubleOf(task, false)] as const),
    ...dead.map((task) => [task.instance, troubleOf(task, true)] as const),
  ]);
}

// A process that has the chart, and is not at its limit, has done the task long before.
const OVERDUE_MS = 60_000;

/** Troubles of workflows, by key: tasks of the workflow are due, and no process does them. */
export function overdueOf(
  earliest: readonly { readonly workflow: string; readonly visibleAt: number }[],
  now: number,
): ReadonlyMap<string, string> {
  const overdue = earliest.filter(({ visibleAt }) => visibleAt < now - OVERDUE_MS);
  return new Map(
    overdue.map(({ workflow, visibleAt }) => [
      workflow,
      `no process does the tasks of ${workflow} since ${time(visibleAt)}`,
    ]),
  );
}

/** The list, and from where the next page goes on. `overdue` is by workflow, `troubles` by instance. */
export function instancesPage(
  { instances, next }: InstanceList,
  troubles: ReadonlyMap<string, string>,
  overdue: ReadonlyMap<string, string>,
): string {
  const rows = instances.map(({ id, workflow, value, status, steps, updatedAt, damaged }) => {
    const trouble = damaged ?? troubles.get(id) ?? overdue.get(workflow) ?? "";
    const state = damaged === undefined ? stateText(value) : "?";
    return [id, workflow, state, status, String(steps), time(updatedAt), trouble].map(cell);
  });
  const headings = ["id", "workflow", "state", "status", "steps", "updated", "trouble"];
  const page = table(headings, rows, "No such instance here.");
  return next === null ? page : `${page}\n\nGoes on with --after ${next}`;
}

/** The page of one instance: record, explanation (see `tellInstance`), and pending work. */
export function instancePage(instance: InstanceView, pending: PendingWork, told: readonly string[]): string {
  const { id, workflow, value, status, steps, context, output, error, createdAt, updatedAt } = instance;
  const facts: (readonly [string, string])[] = [
    ["id", id],
    ["workflow", workflow],
    ["state", stateText(value)],
    ["status", status],
    ["steps", String(steps)],
    ["created", time(createdAt)],
    ["updated", time(updatedAt)],
    ...(output === undefined ? [] : [["output", plainJson(output)] as const]),
    ...(error === undefined ? [] : [["error", plainJson(error)] as const]),
    ["context", plainJson(context)],
  ];
  const lines = facts.map(([name, text]) => `${name.padEnd(10)}${inOneLine(text)}`);
  return [lines.join("\n"), ...told, pendingPage(pending)].join("\n\n");
}

function pendingPage({ timers, tasks, watches, children }: PendingWork): string {
  const rows = [
    ...[...tasks, ...timers].map((task) => [
      ...[task.kind, task.name, standingOf(task), waitsForPlace(task) ? "" : time(task.visibleAt)],
      ...[troubleOf(task, task.deadAt !== null), task.id],
    ]),
    ...watches.map(({ kind, key }) => ["watch", kind, "watched", "", "", key]),
    ...children.map(({ id, src, instance, status }) => [
      ...["child", id, status ?? (instance === null ? "a promise" : "not there"), "", src, instance ?? ""],
    ]),
  ];
  const headings = ["waits for", "name", "is", "at", "trouble", "id"];
  return table(
    headings,
    rows.map((row) => row.map(cell)),
    "Nothing is pending.",
  );
}

/** Nobody knows until when. */
const waitsForPlace = ({ waitsFor }: PendingTask): boolean => waitsFor !== undefined && "before" in waitsFor;

function standingOf({ deadAt, isHeld, isSuspect, failures, waitsFor }: PendingTask): string {
  if (deadAt !== null) return "set aside";
  if (isHeld) return "running until";
  if (isSuspect) return "suspect until";
  if (waitsFor !== undefined) return limitWords(waitsFor);
  return failures > 0 ? "tried again" : "due";
}

/** The steps of this instance, and from where the next page goes on. */
export function historyPage(instance: string, steps: readonly HistoryEntry[], limit: number): string {
  const named = steps.map(({ version, stamp }) => ({ instance, version, stamp }));
  const rows = steps.map(({ version, at, event: { type, ...data }, value, cause }) => {
    const made = isOwnRow(type) ? "" : causeSentence(cause, instance, named);
    return [String(version), time(at), type, stateText(value), made, plainJson(data)].map(cell);
  });
  const page = table(["step", "at", "event", "state", "cause", "data"], rows, "No step follows.");
  const last = steps.at(-1);
  return last === undefined || steps.length < limit
    ? page
    : `${page}\n\nGoes on with --after ${last.version}`;
}

/** Amounts become decimal text, sets lists, maps lists of pairs, bytes hexadecimal, errors their name and message. */
export function plainJson(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) => plain(each)) ?? "null";
}

function plain(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Map || value instanceof Set) return [...value];
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (value instanceof Error) return { name: value.name, message: value.message };
  return value;
}
