/**
 * Commits as lists by kind of change, so that each kind is one statement. Commits are combined only where
 * the result equals that of one after the other: no commit changes an instance or a task of another, except by messages.
 */
import { compareTexts } from "../compare-texts.ts";
import { startedInstance } from "../stored-instance.ts";
import { engineTables } from "../engine-tables.ts";
import { checkOverride } from "../limits.ts";
import { checkedRow } from "../sql/codecs.ts";
import type { AnyCommit, DueTime } from "../storage.ts";
import { storedTask } from "../stored-task.ts";
import type { GroupWrites } from "./prepare-writes.ts";

/** The parts of one or several commits, as the database function takes them; empty kinds are left out. */
export type CommitRows = Readonly<Record<string, readonly unknown[]>>;

/** @throws TypeError when the commit holds what no table can. */
export function runOf(commit: AnyCommit, writes: GroupWrites): CommitRows {
  const { consumes, step } = commit;
  const timed = <Part extends DueTime>(part: Part) => ({
    ...part,
    visibleAt: writes.clock.stored(part.dueAt, part.delayMs),
  });
  return withoutEmpty({
    consumes: consumes && [consumes],
    behind: commit.behind?.map((task) => ({ task, head: consumes?.task ?? null })),
    retries: commit.retries?.map(timed),
    drops: commit.drops,
    steps: step === undefined || step.isLast === true ? undefined : [step],
    leaves: step?.isLast === true ? [{ id: step.id, after: step.after }] : undefined,
    removes: commit.removes,
    starts: commit.starts?.map((start) => checkedRow(engineTables.paystateInstances, startedInstance(start))),
    writes: commit.writes?.map((write) => writes.prepare(write)),
    ends: commit.ends,
    disarms: commit.disarms,
    // An instance named twice is changed once, to the last value: a statement changes no row twice.
    adopts: [...new Map(commit.adopts?.map((each) => [each.instance, each])).values()],
    amends: commit.amends?.map(timed),
    limits: commit.limits?.map((each) => {
      checkOverride(each);
      return timed(each);
    }),
    arms: commit.arms?.map(({ task, lease }) => {
      const stored = storedTask(task, lease);
      const visibleAt = writes.clock.stored(stored.visibleAt, stored.delayMs);
      return { ...checkedRow(engineTables.paystateTasks, stored), visibleAt };
    }),
    forgets: commit.forgets,
    history: commit.history?.map((row) => checkedRow(engineTables.paystateHistory, row)),
  });
}

function withoutEmpty(run: Readonly<Record<string, readonly unknown[] | undefined>>): CommitRows {
  const kept: Record<string, readonly unknown[]> = {};
  for (const [kind, parts = []] of Object.entries(run)) if (parts.length > 0) kept[kind] = parts;
  return kept;
}

/** Rows that concurrent groups may change are sorted by these fields, so that two groups do not deadlock. */
const ORDERED_BY: Readonly<Record<string, string>> = { consumes: "task", steps: "id", leaves: "id" };

export function joined(runs: readonly CommitRows[]): CommitRows {
  const all: Record<string, readonly unknown[]> = {};
  for (const kind of new Set(runs.flatMap((run) => Object.keys(run)))) {
    const parts = runs.flatMap((run) => run[kind] ?? []);
    const field = ORDERED_BY[kind] ?? "";
    const nameOf = (part: unknown): string => String((part as Readonly<Record<string, unknown>>)[field]);
    all[kind] = field === "" ? parts : parts.toSorted((a, b) => compareTexts(nameOf(a), nameOf(b)));
  }
  return all;
}

/** Whether applying the commits together gives the same result as one after the other. */
export const areApart = (items: readonly AnyCommit[]): boolean =>
  items.length === 1 || !(items.some(isRare) || meet(items));

/** Rare changes, which depend on the rows as earlier items have left them. */
const isRare = ({ behind, retries, drops, removes, amends, limits }: AnyCommit): boolean =>
  [behind, retries, drops, removes, amends, limits].some((part = []) => part.length > 0);

function meet(items: readonly AnyCommit[]): boolean {
  const touched = items.flatMap(ownOf);
  const own = new Set(touched);
  if (own.size < touched.length) return true;
  const tasks = items.flatMap(({ consumes, arms = [] }) => [
    ...(consumes === undefined ? [] : [consumes.task]),
    ...arms.map(({ task }) => task.id),
  ]);
  if (new Set(tasks).size < tasks.length) return true;
  return items.some((item) => leaves(item, own)) || maySetAside(items) || areLeftTold(items);
}

/** Whether a commit removes an instance with its last step, and another tells it something: what is told is armed by its workflow. */
function areLeftTold(items: readonly AnyCommit[]): boolean {
  const left = new Set(items.flatMap(({ step }) => (step?.isLast === true ? [step.id] : [])));
  return left.size > 0 && items.some(({ arms = [] }) => arms.some(({ task }) => left.has(task.instance)));
}

/** Whether a commit may end a task that another commit consumes: without a step, the instance of a consumed task is unknown. */
function maySetAside(items: readonly AnyCommit[]): boolean {
  const setsAside = items.some(({ ends = [], disarms = [] }) => ends.length + disarms.length > 0);
  return setsAside && items.some(({ consumes, step }) => consumes !== undefined && step === undefined);
}

const ownOf = ({ step, starts = [] }: AnyCommit): string[] => [
  ...(step === undefined ? [] : [step.id]),
  ...starts.map(({ id }) => id),
];

/** Whether a commit changes timers or effects of another's instance. Messages may go anywhere. */
function leaves(item: AnyCommit, ownOfAll: ReadonlySet<string>): boolean {
  const own = new Set(ownOf(item));
  const { ends = [], arms = [], disarms, adopts, forgets } = item;
  const changed = [disarms, adopts, forgets].flatMap((parts = []) => parts.map(({ instance }) => instance));
  if ([...ends, ...changed].some((instance) => !own.has(instance))) return true;
  return arms.some(
    ({ task: { kind, instance } }) => kind !== "message" && ownOfAll.has(instance) && !own.has(instance),
  );
}
