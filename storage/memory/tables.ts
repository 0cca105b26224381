/** The caller's tables in memory: installed, written in commits, and read. */
import { isAsExpected } from "../expected-fields.ts";
import { definitionOf, NotInstalled, planInstall } from "../install-plan.ts";
import { type AnyQuery, selectionOf, type Selection } from "../query.ts";
import { copyChanges, copyRow } from "../row.ts";
import type { AnyInsert, AnyRemoval, AnyUpdate, AnyWrite, Tallied } from "../storage.ts";
import type { AnyTable, Migration } from "../table.ts";
import { by, compare, type Journal, Rows } from "./rows.ts";

/** With its place in the order in which rows were inserted. */
type AnyRow = Readonly<Record<string, unknown>>;

interface Installed {
  readonly table: AnyTable;
  readonly rows: Rows<AnyRow>;
  readonly definition: string;
  readonly migrations: number;
}

export class Tables {
  readonly #journal: Journal;
  readonly #installed = new Map<string, Installed>();
  #inserted = 0;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** All of them, or none when one is refused. */
  install(tables: readonly AnyTable[]): void {
    const plans = tables.map((table) => planInstall(table, this.#installed.get(table.name) ?? null));
    tables.forEach((table, index) => this.#bring(table, plans[index] ?? "keep"));
  }

  #bring(table: AnyTable, plan: ReturnType<typeof planInstall>): void {
    const before = this.#installed.get(table.name)?.rows;
    const rows =
      before !== undefined && plan === "keep" ? before : new Rows<AnyRow>(shapeOf(table), this.#journal);
    if (before !== undefined && typeof plan === "object") {
      for (const row of before.all()) rows.put(plan.steps.reduce(migrated, row));
    }
    const stored = { definition: definitionOf(table), migrations: table.migrations.length };
    this.#installed.set(table.name, { table, rows, ...stored });
  }

  get({ name }: AnyTable, key: string): AnyRow | null {
    const { table, rows } = this.#of(name);
    const row = rows.get(key);
    return row === undefined ? null : copyRow(table, row);
  }

  find(query: AnyQuery): AnyRow[] {
    const { table, rows } = this.#of(query.table.name);
    return select(table, rows, query).map((row) => copyRow(table, row));
  }

  tally(query: AnyQuery): Tallied {
    const { table, rows } = this.#of(query.table.name);
    const found = select(table, rows, query);
    return { count: found.length, total: query.sum === undefined ? 0n : totalOf(found, query.sum) };
  }

  /** Carries out one write; false when it is refused. */
  write(change: AnyWrite): boolean {
    const { table, rows } = this.#of(change.table);
    if ("insert" in change) return insert(rows, table, { ...change, seq: (this.#inserted += 1) });
    if ("remove" in change) return remove(rows, table, change);
    if ("set" in change) return update(rows, table, change);
    return isAsExpected(table, rows.get(change.id) ?? null, change);
  }

  #of(name: string): Installed {
    const found = this.#installed.get(name);
    if (found === undefined) throw new NotInstalled(name);
    return found;
  }
}

/** No column of a caller is called so. */
const SEQ = "seq";

/** Rows are looked up by unique fields, and by the first field of an index. */
function shapeOf({ columns, key, unique, indexes, group }: AnyTable) {
  const firsts = [...Object.values(indexes).map(({ on }) => on), group?.by ?? []];
  const lookups = new Set([...unique, ...firsts.flatMap((fields) => fields.slice(0, 1))]);
  return { columns: { ...columns, [SEQ]: "integer" }, key: [key], lookups: [...lookups] };
}

/** A row of before, as the table has rows after one of its migrations. */
function migrated(row: AnyRow, { add = {}, drop = [] }: Migration): AnyRow {
  const kept = Object.entries(row).filter(([field]) => !drop.includes(field));
  return { ...Object.fromEntries(kept), ...add };
}

/** The rows that a read asks for, in their order. */
function select(table: AnyTable, rows: Rows<AnyRow>, query: AnyQuery): readonly AnyRow[] {
  const { order = "asc", beyond, limit = Infinity } = query;
  const selection = selectionOf(table, query);
  const [first] = selection.equals;
  // Reads by the key, and by the order of insertion, have no lookup.
  const isGathered = first !== undefined && query.index !== "key";
  const candidates = isGathered ? rows.under(first[0].name, first[1]) : rows.all();
  const fields = [...selection.order.map(({ name }) => name), SEQ];
  const inOrder = by(...fields.map((field) => (row: AnyRow) => row[field]));
  const found = candidates
    .filter((row) => isIn(row, selection) && isAfter(row, selection, order))
    .toSorted(order === "asc" ? inOrder : (a, b) => inOrder(b, a));
  if (beyond === undefined) return found.slice(0, limit);
  const start = found.findIndex((row) => row[table.key] === beyond) + 1;
  return start === 0 ? [] : found.slice(start, start + limit);
}

function isIn(row: AnyRow, { index, equals }: Selection): boolean {
  return (
    equals.every(([{ name }, value]) => row[name] === value) &&
    Object.entries(index.where).every(([field, value]) => row[field] === value) &&
    index.present.every((field) => row[field] !== null)
  );
}

function isAfter(row: AnyRow, { after }: Selection, order: "asc" | "desc"): boolean {
  // As a database compares: a row without a value is neither above nor below.
  for (const [{ name }, value] of after) {
    if (row[name] === null) return false;
    const side = compare(row[name], value);
    if (side !== 0) return order === "asc" ? side > 0 : side < 0;
  }
  return after.length === 0;
}

function remove(rows: Rows<AnyRow>, table: AnyTable, change: AnyRemoval): boolean {
  const row = rows.get(change.remove) ?? null;
  const isExpected = isAsExpected(table, row, change);
  if (row !== null && isExpected) rows.remove(row);
  return isExpected;
}

function insert(
  rows: Rows<AnyRow>,
  table: AnyTable,
  { insert: given, atMost, seq }: AnyInsert & { readonly seq: number },
): boolean {
  const row = { ...copyRow(table, given as AnyRow), [SEQ]: seq };
  const hasPlace = atMost === undefined || hasRoom(rows, table, { row, atMost });
  return hasPlace && !isTaken(rows, table, row) && rows.insert(row);
}

/** Null is no value: any number of rows may have it. */
const isTaken = (rows: Rows<AnyRow>, { key, unique }: AnyTable, row: AnyRow): boolean =>
  unique.some(
    (field) => row[field] !== null && rows.under(field, row[field]).some((other) => other[key] !== row[key]),
  );

/** Whether the group of a row has room for it. What has left the window of the group is removed. */
function hasRoom(
  rows: Rows<AnyRow>,
  { name, group }: AnyTable,
  { row, atMost }: { readonly row: AnyRow; readonly atMost: NonNullable<AnyInsert["atMost"]> },
): boolean {
  const [first] = group?.by ?? [];
  if (group === null || first === undefined) throw new TypeError(`atMost: ${name} has no group`);
  if ("total" in atMost && group.sum === undefined) {
    throw new TypeError(`atMost: the group of ${name} has no sum`);
  }
  const { since = -Infinity } = atMost;
  const isOld = (other: AnyRow): boolean => "since" in group && Number(other[group.since]) <= since;
  const isCounted = (other: AnyRow): boolean => !("open" in group) || other[group.open] === null;
  const gathered = rows.under(first, row[first]);
  const members = gathered.filter((other) => group.by.every((field) => other[field] === row[field]));
  for (const old of members.filter(isOld)) rows.remove(old);
  const counted = members.filter((other) => !isOld(other) && isCounted(other));
  if (!("total" in atMost)) return counted.length < atMost.count;
  return atMost.total === null || totalOf([...counted, row], group.sum ?? "") <= atMost.total;
}

const totalOf = (rows: readonly AnyRow[], field: string): bigint =>
  rows.reduce((total, row) => total + ((row[field] as bigint | null) ?? 0n), 0n);

function update(rows: Rows<AnyRow>, table: AnyTable, change: AnyUpdate): boolean {
  const row = rows.get(change.id) ?? null;
  const changes = copyChanges(table, change.set as AnyRow);
  if (!isAsExpected(table, row, change)) return false;
  const version = "version" in table.columns ? { version: Number(row?.["version"]) + 1 } : {};
  const changed = { ...row, ...changes, ...version, [table.key]: change.id };
  if (isTaken(rows, table, changed)) return false;
  rows.put(changed);
  return true;
}
