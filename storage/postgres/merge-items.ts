/**
 * The parts of commits put together by kind, so that each kind is one statement. For several only where that comes to the
 * same as one after the other: none touches what another one does, other than by messages.
 */
import { compareTexts } from "../compare-texts.ts";
import type { AnyCommit } from "../storage.ts";
import type { PreparedWrite } from "./prepare-writes.ts";

type AsGiven =
  "consumes" | "behind" | "step" | "drops" | "removes" | "ends" | "disarms" | "adopts" | "unwatches";
type Given = { readonly [Part in AsGiven]: AnyCommit[Part] | undefined };

/** One commit with its rows as they are stored. */
export interface PreparedItem extends Given {
  readonly retries: readonly object[] | undefined;
  readonly amends: readonly object[] | undefined;
  readonly starts: readonly Row[] | undefined;
  readonly writes: readonly PreparedWrite[] | undefined;
  readonly arms: readonly Row[] | undefined;
  readonly watches: readonly Row[] | undefined;
  readonly history: readonly Row[] | undefined;
}

type Row = Readonly<Record<string, unknown>>;

/**
 * What items do, by kind, in their order; kinds that none does are left out. Rows that others may change at the same time
 * come in the order of their ids, so that groups which meet do not end each other.
 */
export type Run = Readonly<Record<string, readonly unknown[]>>;

export function runOf(items: readonly PreparedItem[]): Run {
  const all = <P>(part: (item: PreparedItem) => P | readonly P[] | undefined): P[] =>
    items.flatMap((item) => part(item) ?? []);
  const kinds: Run = {
    consumes: all(({ consumes }) => consumes).toSorted((a, b) => compareTexts(a.task, b.task)),
    behind: all(({ consumes, behind }) => behind?.map((task) => ({ task, head: consumes?.task ?? null }))),
    retries: all(({ retries }) => retries),
    drops: all(({ drops }) => drops),
    steps: all(({ step }) => step).toSorted((a, b) => compareTexts(a.id, b.id)),
    removes: all(({ removes }) => removes),
    starts: all(({ starts }) => starts),
    writes: all(({ writes }) => writes),
    ends: all(({ ends }) => ends),
    disarms: all(({ disarms }) => disarms),
    // What is named twice is changed once, to the last: one statement changes no row twice.
    adopts: lastOfEach(
      all(({ adopts }) => adopts),
      ({ instance }) => instance,
    ),
    amends: all(({ amends }) => amends),
    arms: all(({ arms }) => arms),
    unwatches: all(({ unwatches }) => unwatches),
    watches: lastOfEach(
      all(({ watches }) => watches),
      ({ kind, key, instance }) => JSON.stringify([kind, key, instance]),
    ),
    history: all(({ history }) => history),
  };
  return Object.fromEntries(Object.entries(kinds).filter(([, parts]) => parts.length > 0));
}

const lastOfEach = <P>(parts: readonly P[], nameOf: (part: P) => string): P[] => [
  ...new Map(parts.map((part) => [nameOf(part), part])).values(),
];

/** Whether the items come to the same together as one after the other. */
export const areApart = (items: readonly PreparedItem[]): boolean =>
  items.length === 1 || !(items.some(isRare) || meet(items));

/** What is seldom done, and depends on the rows as the items before have left them. */
const isRare = ({ behind, retries, drops, removes, amends }: PreparedItem): boolean =>
  [behind, retries, drops, removes, amends].some((part = []) => part.length > 0);

/** Whether one item may touch what another one does. */
function meet(items: readonly PreparedItem[]): boolean {
  const touched = items.flatMap(ownOf);
  const own = new Set(touched);
  if (own.size < touched.length) return true;
  const tasks = items.flatMap(({ consumes, arms = [] }) => [
    ...(consumes === undefined ? [] : [consumes.task]),
    ...arms.map(({ id }) => id),
  ]);
  if (new Set(tasks).size < tasks.length) return true;
  return items.some((item) => leaves(item, own)) || maySetAside(items);
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
