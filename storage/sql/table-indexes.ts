/**
 * The indexes of a caller's table, by what they are: the name of each ends in a digest of its statement, so a changed one is
 * another index, which is built beside the old one. Where it lies, and under which other names, is asked of the database.
 */
import { fieldNamed } from "../query.ts";
import type { AnyTable, Index } from "../table.ts";
import { indexConditions, mayBeNull, where } from "./given-table.ts";
import type { FoundIndex, SchemaDialect } from "./migrations/dialect.ts";
import { quoted } from "./statement.ts";

/** An index as it shall be. */
interface WantedIndex {
  /** What its names begin with, whatever it is in detail. */
  readonly base: string;
  readonly name: string;
  readonly isUnique: boolean;
  readonly table: string;
  /** What stands behind the table in its statement. */
  readonly over: string;
}

/** PostgreSQL cuts names off behind 63 characters, and two that begin alike would be one. The digest takes 9. */
const MAX_BASE = 54;

const baseOf = (table: string, kind: "by" | "unique", of: string): string => {
  const base = `${table}_${kind}_${of}`;
  return base.length <= MAX_BASE ? base : `${base.slice(0, MAX_BASE - 9)}_${digest(base)}`;
};

function digest(text: string): string {
  let sum = 0;
  for (const letter of text) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 2 ** 32;
  return sum.toString(16).padStart(8, "0");
}

/** What an index is made over. */
type Indexed = Pick<AnyTable, "unique" | "indexes">;

/** By the bases of their names. */
const described = (table: string, { unique, indexes }: Indexed): ReadonlyMap<string, Index> =>
  new Map([
    ...unique.map((on) => [baseOf(table, "unique", on), { on: [on], where: {}, present: [] }] as const),
    ...Object.entries(indexes).map(([name, index]) => [baseOf(table, "by", name), index] as const),
  ]);

/** Unique ones first. */
export function indexesOf(table: AnyTable, { nullsFirst }: SchemaDialect): readonly WantedIndex[] {
  const { name, unique } = table;
  return [...described(name, table)].map(([base, index], at) => {
    // In the order of reads, where null stands before all values.
    const columns = index.on.map(
      (field) => `${quoted(field)}${mayBeNull(fieldNamed(table, field), index) ? nullsFirst : ""}`,
    );
    const over = `(${columns.join(", ")})${where(indexConditions(table, index))}`;
    const isUnique = at < unique.length;
    return { base, name: `${base}_${digest(`${isUnique} ${over}`)}`, isUnique, table: name, over };
  });
}

/** @param place The table, with its schema where the statement needs one. */
export const creating = ({ name, isUnique, over }: WantedIndex, place: string, how = ""): string =>
  `create ${isUnique ? "unique " : ""}index ${how}${quoted(name)} on ${place} ${over}`;

const isOf = (base: string, name: string): boolean =>
  name.startsWith(base) && /^(_[0-9a-f]{8})?$/.test(name.slice(base.length));

/** Whether another one, such as the one of before, does what a unique index shall do. */
export const isGuarded = ({ base }: WantedIndex, found: readonly FoundIndex[]): boolean =>
  found.some(({ name, valid }) => valid === 1 && isOf(base, name));

/** A name that is made here, also for an index that is wanted no more. */
const MADE = /_(by|unique)_.*_[0-9a-f]{8}$/;

/** What is there of other descriptions of a table. */
export const unwanted = (
  wanted: readonly WantedIndex[],
  found: readonly FoundIndex[],
): readonly FoundIndex[] =>
  found.filter(({ table, name }) => {
    const isMade = name.startsWith(`${table}_`) && MADE.test(name);
    return (
      (isMade || wanted.some(({ base }) => isOf(base, name))) && !wanted.some((index) => index.name === name)
    );
  });

/** What a migration has to take away at once: unique rules that are none any more, and what is over a column that goes. */
export function inTheWay(
  table: AnyTable,
  { before, drop, found }: { before: Indexed; drop: readonly string[]; found: readonly FoundIndex[] },
): readonly FoundIndex[] {
  const gone = [...described(table.name, before)].filter(([, { on, where: fixed, present }], at) => {
    const [only = ""] = at < before.unique.length ? on : [];
    const isOver = [...on, ...Object.keys(fixed), ...present].some((field) => drop.includes(field));
    return isOver || (only !== "" && !table.unique.includes(only));
  });
  return found.filter(({ name }) => gone.some(([base]) => isOf(base, name)));
}

/** One change beside all work, and of which index. */
export interface IndexChange {
  readonly name: string;
  /** Null while another session builds it. */
  readonly change: "drop" | WantedIndex | null;
}

/** What is to be done next, null where nothing is: what is half built is built anew, and the old goes when all new are valid. */
export function nextChange(wanted: readonly WantedIndex[], found: readonly FoundIndex[]): IndexChange | null {
  for (const index of wanted) {
    const there = found.find(({ name }) => name === index.name);
    if (there === undefined) return { name: index.name, change: index };
    if (there.valid === 0) return { name: index.name, change: there.building === 1 ? null : "drop" };
  }
  const [old] = unwanted(wanted, found);
  return old === undefined ? null : { name: old.name, change: "drop" };
}
