/**
 * The parts of a group's items put together by kind, so that each kind is one statement. Only where it comes to the same as
 * item by item: no item touches what another one does, other than by messages.
 */
import { compareTexts } from "../compare-texts.ts";
import type { AnyCommit } from "../storage.ts";
import type { PreparedWrite } from "./prepare-writes.ts";

type AsGiven =
  "consumes" | "behind" | "step" | "drops" | "removes" | "ends" | "disarms" | "adopts" | "unwatches";
type Given = { readonly [Part in AsGiven]: AnyCommit[Part] | undefined };

/** One commit as the functions of the database take it. */
export interface PreparedItem extends Given {
  readonly retries: readonly { readonly task: string }[] | undefined;
  readonly amends: readonly { readonly task: string }[] | undefined;
  readonly starts: readonly Row[] | undefined;
  readonly writes: readonly PreparedWrite[] | undefined;
  readonly arms: readonly Row[] | undefined;
  readonly watches: readonly Row[] | undefined;
  readonly history: readonly Row[] | undefined;
}

type Row = Readonly<Record<string, unknown>>;

/**
 * What the items do, by kind, in their order; kinds that none does are left out. Rows that others may change at the same
 * time come in the order of their ids, so that groups which meet do not end each other.
 */
type Merged = Readonly<Record<string, readonly unknown[]>>;

/** Null where the items have to be carried out one after the other. */
export function merge(items: readonly PreparedItem[]): Merged | null {
  if (items.some(isRare) || meet(items)) return null;
  const kinds: Merged = {
    consumes: items
      .flatMap(({ consumes = [] }) => consumes)
      .toSorted((one, other) => compareTexts(one.task, other.task)),
    steps: items.flatMap(({ step = [] }) => step).toSorted((one, other) => compareTexts(one.id, other.id)),
    starts: items.flatMap(({ starts = [] }) => starts),
    writes: items.flatMap(({ writes = [] }) => writes),
    ends: items.flatMap(({ ends = [] }) => ends),
    disarms: items.flatMap(({ disarms = [] }) => disarms),
    adopts: items.flatMap(({ adopts = [] }) => adopts),
    arms: items.flatMap(({ arms = [] }) => arms),
    unwatches: items.flatMap(({ unwatches = [] }) => unwatches),
    watches: items.flatMap(({ watches = [] }) => watches),
    history: items.flatMap(({ history = [] }) => history),
  };
  return Object.fromEntries(Object.entries(kinds).filter(([, parts]) => parts.length > 0));
}

/** What is seldom done, and depends on the rows as the items before have left them. */
const isRare = ({ behind, retries, drops, removes, amends }: PreparedItem): boolean =>
  [behind, retries, drops, removes, amends].some((part = []) => part.length > 0);

/** Whether one item may touch what another one does. */
function meet(items: readonly PreparedItem[]): boolean {
  const touched = items.flatMap(ownOf);
  const own = new Set(touched);
  if (own.size < touched.length) return true;
  const consumed = items.flatMap(({ consumes }) => consumes?.task ?? []);
  const tasks = new Set([...consumed, ...items.flatMap(({ arms = [] }) => arms.map(({ id }) => id))]);
  const armed = items.reduce((count, { arms = [] }) => count + arms.length, 0);
  if (tasks.size < consumed.length + armed) return true;
  return items.some((item) => leaves(item, own)) || maySetAside(items) || repeats(items);
}

/** Whether one item may end or disarm the task that another one consumes: whose task it is cannot be seen without its step. */
function maySetAside(items: readonly PreparedItem[]): boolean {
  const setsAside = items.some(({ ends = [], disarms = [] }) => ends.length + disarms.length > 0);
  return setsAside && items.some(({ consumes, step }) => consumes !== undefined && step === undefined);
}

/** The instances that an item starts or steps. */
const ownOf = ({ step, starts = [] }: PreparedItem): string[] => [
  ...(step === undefined ? [] : [step.id]),
  ...starts.map(({ id }) => String(id)),
];

/** Whether an item changes timers, effects or watches of an instance that is not its own. Messages go to others. */
function leaves(item: PreparedItem, ownOfAll: ReadonlySet<string>): boolean {
  const own = new Set(ownOf(item));
  const { ends = [], disarms = [], adopts = [], arms = [], watches = [], unwatches = [] } = item;
  const changed = [
    ...ends,
    ...[...disarms, ...adopts, ...unwatches].map(({ instance }) => instance),
    ...watches.map(({ instance }) => String(instance)),
  ];
  if (changed.some((instance) => !own.has(instance))) return true;
  return arms.some(
    ({ kind, instance }) =>
      kind !== "message" && ownOfAll.has(String(instance)) && !own.has(String(instance)),
  );
}

/** Whether a row would be changed twice, which one statement cannot. */
function repeats(items: readonly PreparedItem[]): boolean {
  const watched = items.flatMap(({ watches = [] }) =>
    watches.map(({ kind, key, instance }) => JSON.stringify([kind, key, instance])),
  );
  const adopted = items.flatMap(({ adopts = [] }) => adopts.map(({ instance }) => instance));
  return [watched, adopted].some((names) => new Set(names).size < names.length);
}
