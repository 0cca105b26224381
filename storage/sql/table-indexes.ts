/**
 * The indexes of a caller's table, named by content: a name ends in a digest of the statement, so a changed index gets
 * a new name, and is built beside the old index. The database is asked for existing indexes and their names.
 */
import type { TableSchema } from "../install-plan.ts";
import { fieldNamed } from "../query.ts";
import type { AnyTable, Index } from "../table.ts";
import { indexConditions, mayBeNull, where } from "./given-table.ts";
import type { FoundIndex, SchemaDialect } from "./dialect.ts";
import { digest, quoted } from "./statement.ts";

/** An index as it shall be. */
interface WantedIndex {
  /** The beginning of the name, independent of the details. */
  readonly base: string;
  readonly name: string;
  readonly isUnique: boolean;
  readonly table: string;
  /** The part of the statement after the table. */
  readonly over: string;
}

/** PostgreSQL cuts names off behind 63 characters, and two that begin alike would be one. The digest takes 9. */
const MAX_BASE = 54;

const baseOf = (table: string, kind: "by" | "unique", of: string): string => {
  const base = `${table}_${kind}_${of}`;
  return base.length <= MAX_BASE ? base : `${base.slice(0, MAX_BASE - 9)}_${digest(base)}`;
};

/** The parts of a table that need an index. */
type Indexed = Pick<AnyTable, "unique" | "indexes">;

/** Indexes by the bases of their names. */
const described = (table: string, { unique, indexes }: Indexed): ReadonlyMap<string, Index> =>
  new Map([
    ...unique.map((on) => [baseOf(table, "unique", on), { on: [on], where: {}, present: [] }] as const),
    ...Object.entries(indexes).map(([name, index]) => [baseOf(table, "by", name), index] as const),
  ]);

/** Unique ones first. */
export function indexesOf(
  table: TableSchema & Pick<AnyTable, "name" | "sqlName">,
  { nullsFirst, insertionOrder }: SchemaDialect,
): readonly WantedIndex[] {
  const { sqlName, unique, key } = table;
  return [...described(sqlName, table)].map(([base, index], at) => {
    // In the order of reads, where null stands before all values.
    const columns = index.on.map(
      (field) => `${quoted(field)}${mayBeNull(fieldNamed(table, field), index) ? nullsFirst : ""}`,
    );
    const isUnique = at < unique.length;
    // Otherwise PostgreSQL sorts all rows that are equal, or walks the whole table in the order of insertion.
    const ends = isUnique || index.on.includes(key) ? [] : insertionOrder;
    const over = `(${[...columns, ...ends].join(", ")})${where(indexConditions(table, index))}`;
    return { base, name: `${base}_${digest(`${isUnique} ${over}`)}`, isUnique, table: sqlName, over };
  });
}

/** @param place The table, with its schema where the statement needs one. */
export const creating = ({ name, isUnique, over }: WantedIndex, place: string, how = ""): string =>
  `create ${isUnique ? "unique " : ""}index ${how}${quoted(name)} on ${place} ${over}`;

const isOf = (base: string, name: string): boolean =>
  name.startsWith(base) && /^(_[0-9a-f]{8})?$/.test(name.slice(base.length));

/** Whether an existing index, such as its older version, already enforces what a unique index should enforce. */
export const isGuarded = ({ base }: WantedIndex, found: readonly FoundIndex[]): boolean =>
  found.some(({ name, valid }) => valid === 1 && isOf(base, name));

/** Names of indexes made here, wanted or not. */
const MADE = /_(by|unique)_.*_[0-9a-f]{8}$/;

/** Whether a program of paystate is building the index. */
export const isBuilt = ({ name, building }: FoundIndex): boolean => building === 1 && MADE.test(name);

/** Indexes of older descriptions of a table. */
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

/**
 * Indexes that a migration must drop at once: unique indexes that are no longer wanted, and indexes over a dropped
 * column.
 */
export function inTheWay(
  table: AnyTable,
  { before, drop, found }: { before: Indexed; drop: readonly string[]; found: readonly FoundIndex[] },
): readonly FoundIndex[] {
  const gone = [...described(table.sqlName, before)].filter(([, { on, where: fixed, present }], at) => {
    const [only = ""] = at < before.unique.length ? on : [];
    const isOver = [...on, ...Object.keys(fixed), ...present].some((field) => drop.includes(field));
    return isOver || (only !== "" && !table.unique.includes(only));
  });
  return found.filter(({ name }) => gone.some(([base]) => isOf(base, name)));
}

/** A single index change that runs while work goes on. */
export interface IndexChange {
  readonly name: string;
  /** Null while another session builds the index. */
  readonly change: "drop" | WantedIndex | null;
}

/**
 * The next index change, null when all indexes are done: an invalid index is dropped and built again; old indexes are
 * dropped when all new indexes are valid.
 */
export function nextChange(wanted: readonly WantedIndex[], found: readonly FoundIndex[]): IndexChange | null {
  for (const index of wanted) {
    const there = found.find(({ name }) => name === index.name);
    if (there === undefined) return { name: index.name, change: index };
    if (there.valid === 0) return { name: index.name, change: there.building === 1 ? null : "drop" };
  }
  const [old] = unwanted(wanted, found);
  return old === undefined ? null : { name: old.name, change: "drop" };
}
