/**
 * What commits do, by kind, so that each kind is one statement. Several commits are put together only where the result is that of
 * one commit after the other: no commit touches what another commit does, other than by messages.
 */
import { compareTexts } from "../compare-texts.ts";
import { engineTables, startedInstance } from "../engine-tables.ts";
import { encodeRow } from "../sql/codecs.ts";
import type { AnyCommit } from "../storage.ts";
import { storedTask } from "../stored-task.ts";
import type { DatabaseClock } from "./database-clock.ts";
import type { GroupWrites } from "./prepare-writes.ts";

/** The parts of one commit or of several, as the function of the database takes them; kinds that none has are left out. */
export type CommitRows = Readonly<Record<string, readonly unknown[]>>;

/** @throws TypeError when the commit holds what no table can. */
export function runOf(commit: AnyCommit, writes: GroupWrites, clock: DatabaseClock): CommitRows {
  const { consumes, behind = [], step, retries = [], drops = [], removes = [], starts = [] } = commit;
  const { ends = [], disarms = [], adopts = [], amends = [], arms = [] } = commit;
  const { unwatches = [], watches = [], history = [] } = commit;
  return withoutEmpty({
    consumes: consumes === undefined ? [] : [consumes],
    behind: behind.map((task) => ({ task, head: consumes?.task ?? null })),
    retries: retries.map((each) => ({ ...each, visibleAt: clock.stored(each.dueAt, each.delayMs) })),
    drops,
    steps: step === undefined ? [] : [step],
    removes,
    starts: starts.map((start) => encodeRow(engineTables.instances, startedInstance(start))),
    writes: (commit.writes ?? []).map((write) => writes.prepare(write)),
    ends,
    disarms,
    // What is named twice is changed once, to the last: one statement changes no row twice.
    adopts: lastOfEach(adopts, ({ instance }) => instance),
    amends: amends.map((each) => ({ ...each, visibleAt: clock.stored(each.dueAt, each.delayMs) })),
    arms: arms.map(({ task, lease }) => {
      const stored = storedTask(task, lease);
      const visibleAt = clock.stored(stored.visibleAt, stored.delayMs);
      return { ...encodeRow(engineTables.tasks, stored), visibleAt };
    }),
    unwatches,
    watches: lastOfEach(watches, ({ kind, key, instance }) => JSON.stringify([kind, key, instance])).map(
      (watch) => encodeRow(engineTables.watches, watch),
    ),
    history: history.map((row) => encodeRow(engineTables.history, row)),
  });
}

const lastOfEach = <P>(parts: readonly P[], nameOf: (part: P) => string): P[] => [
  ...new Map(parts.map((part) => [nameOf(part), part])).values(),
];

const withoutEmpty = (run: CommitRows): CommitRows =>
  Object.fromEntries(Object.entries(run).filter(([, parts]) => parts.length > 0));

/** Rows that others may change at the same time come in this order, so that groups which meet do not end each other. */
const ORDERED_BY: Readonly<Record<string, string>> = { consumes: "task", steps: "id" };

/** Several runs as one. */
export function joined(runs: readonly CommitRows[]): CommitRows {
  const kinds = new Set(runs.flatMap((run) => Object.keys(run)));
  const all = [...kinds].map((kind) => {
    const parts = runs.flatMap((run) => run[kind] ?? []);
    const field = ORDERED_BY[kind];
    if (field === undefined) return [kind, parts] as const;
    const nameOf = (part: unknown): string => String((part as Readonly<Record<string, unknown>>)[field]);
    return [kind, parts.toSorted((a, b) => compareTexts(nameOf(a), nameOf(b)))] as const;
  });
  return Object.fromEntries(all);
}

/** Whether the items come to the same together as one after the other. */
export const areApart = (items: readonly AnyCommit[]): boolean =>
  items.length === 1 || !(items.some(isRare) || meet(items));

/** What is seldom done, and depends on the rows as the items before have left them. */
const isRare = ({ behind, retries, drops, removes, amends }: AnyCommit): boolean =>
  [behind, retries, drops, removes, amends].some((part = []) => part.length > 0);

/** Whether one item may touch what another one does. */
function meet(items: readonly AnyCommit[]): boolean {
  const touched = items.flatMap(ownOf);
  const own = new Set(touched);
  if (own.size < touched.length) return true;
  const tasks = items.flatMap(({ consumes, arms = [] }) => [
    ...(consumes === undefined ? [] : [consumes.task]),
    ...arms.map(({ task }) => task.id),
  ]);
  if (new Set(tasks).size < tasks.length) return true;
  return items.some((item) => leaves(item, own)) || maySetAside(items);
}

/** Whether one item may end or disarm the task that another one consumes: whose task it is cannot be seen without its step. */
function maySetAside(items: readonly AnyCommit[]): boolean {
  const setsAside = items.some(({ ends = [], disarms = [] }) => ends.length + disarms.length > 0);
  return setsAside && items.some(({ consumes, step }) => consumes !== undefined && step === undefined);
}

/** The instances that an item starts or steps. */
const ownOf = ({ step, starts = [] }: AnyCommit): string[] => [
  ...(step === undefined ? [] : [step.id]),
  ...starts.map(({ id }) => id),
];

/** Whether an item changes timers, effects or watches of an instance that is not its own. Messages go to others. */
function leaves(item: AnyCommit, ownOfAll: ReadonlySet<string>): boolean {
  const own = new Set(ownOf(item));
  const { ends = [], disarms = [], adopts = [], arms = [], watches = [], unwatches = [] } = item;
  const changed = [...disarms, ...adopts, ...unwatches, ...watches].map(({ instance }) => instance);
  if ([...ends, ...changed].some((instance) => !own.has(instance))) return true;
  return arms.some(
    ({ task: { kind, instance } }) => kind !== "message" && ownOfAll.has(instance) && !own.has(instance),
  );
}
