/** The caller's tables in memory: installed, written in commits, and read. */
import {
  definitionOf,
  NotInstalled,
  type MigrationPlan,
  planInstall,
  type StoredTable,
} from "../install-plan.ts";
import type { AnyQuery } from "../query.ts";
import { copyChanges } from "../row.ts";
import type { AnyInsert, AnyRemoval, AnyUpdate, AnyWrite, Tallied } from "../storage.ts";
import { isAsExpected } from "../expected-fields.ts";
import type { AnyTable, Group } from "../table.ts";
import { type Journal, MemoryTable } from "./table.ts";
import { select } from "./select.ts";

/** One record, whichever table it is of. */
export type AnyRow = Readonly<Record<string, unknown>>;

interface Installed {
  readonly table: AnyTable;
  readonly rows: MemoryTable<AnyRow>;
  readonly stored: StoredTable;
}

export class Tables {
  readonly #journal: Journal;
  readonly #installed = new Map<string, Installed>();

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** All of them, or none when one is refused. */
  install(tables: readonly AnyTable[]): void {
    const planned = tables.map((table) => {
      const before = this.#installed.get(table.name);
      return { table, before, plan: planInstall(table, before?.stored ?? null) };
    });
    for (const { table, before, plan } of planned) {
      const kept = before === undefined || plan === "create" ? [] : before.rows.all();
      if (before !== undefined && plan === "keep") {
        this.#installed.set(table.name, { ...before, table });
        continue;
      }
      const rows = new MemoryTable<AnyRow>(shapeOf(table), this.#journal);
      for (const row of kept) rows.insert(migrated(row, table, plan));
      const stored = { definition: definitionOf(table), migrations: table.migrations.length };
      this.#installed.set(table.name, { table, rows, stored });
    }
  }

  get({ name }: AnyTable, key: string): AnyRow | null {
    const { rows } = this.#of(name);
    const row = rows.get(key);
    return row === undefined ? null : rows.copy(row);
  }

  find(query: AnyQuery): AnyRow[] {
    const { table, rows } = this.#of(query.table.name);
    return select(table, rows, query).map((row) => rows.copy(row));
  }

  tally(query: AnyQuery): Tallied {
    const { table, rows } = this.#of(query.table.name);
    const found = select(table, rows, query);
    return { count: found.length, total: query.sum === undefined ? 0n : totalOf(found, query.sum) };
  }

  /** Carries out one write; false when it is refused. */
  write(change: AnyWrite): boolean {
    const { table, rows } = this.#of(change.table);
    if ("insert" in change) return insert(rows, table, change);
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

/** Rows are looked up by the first field of an index, unless all rows of it have the same there. */
function shapeOf({
  columns,
  key,
  unique,
  indexes,
  group,
}: AnyTable): ConstructorParameters<typeof MemoryTable>[0] {
  const firsts = Object.values(indexes).flatMap(({ on }) => on.slice(0, 1));
  const lookups = [...new Set([...firsts, ...(group?.by.slice(0, 1) ?? [])])];
  return { columns, key: [key], unique, lookups };
}

/** A row of before, as the table has rows now. */
function migrated(row: AnyRow, { columns }: AnyTable, plan: MigrationPlan | "create" | "keep"): AnyRow {
  const values = { ...row };
  for (const { add = {}, drop = [] } of typeof plan === "string" ? [] : plan.steps) {
    for (const field of drop) delete values[field];
    for (const [field, value] of Object.entries(add)) values[field] = value;
  }
  return Object.fromEntries(Object.keys(columns).map((field) => [field, values[field]]));
}

function remove(rows: MemoryTable<AnyRow>, table: AnyTable, change: AnyRemoval): boolean {
  const row = rows.get(change.remove) ?? null;
  const isExpected = isAsExpected(table, row, change);
  if (row !== null && isExpected) rows.remove(row);
  return isExpected;
}

function insert(rows: MemoryTable<AnyRow>, table: AnyTable, change: AnyInsert): boolean {
  const row = rows.copy(change.insert as AnyRow);
  return (
    (change.atMost === undefined || hasRoom(rows, table, { row, atMost: change.atMost })) && rows.insert(row)
  );
}

/** A row that is inserted only where its group has room for it. */
interface BoundedInsert {
  readonly row: AnyRow;
  readonly atMost: NonNullable<AnyInsert["atMost"]>;
}

function hasRoom(
  rows: MemoryTable<AnyRow>,
  { name, group }: AnyTable,
  { row, atMost }: BoundedInsert,
): boolean {
  const [first] = group?.by ?? [];
  if (group === null || first === undefined) throw new TypeError(`atMost: ${name} has no group`);
  const members = rows
    .under(first, row[first])
    .filter((other) => group.by.every((field) => other[field] === row[field]));
  const counted = countedMembers(rows, group, { members, since: atMost.since });
  if (!("total" in atMost)) return counted.length < atMost.count;
  const { sum } = group;
  if (sum === undefined) throw new TypeError(`atMost: the group of ${name} has no sum`);
  return atMost.total === null || totalOf([...counted, row], sum) <= atMost.total;
}

const totalOf = (rows: readonly AnyRow[], field: string): bigint =>
  rows.reduce((total, row) => {
    const amount = row[field];
    return typeof amount === "bigint" ? total + amount : total;
  }, 0n);

/** The rows of a group, and the beginning of its window where it has one. */
interface Membership {
  readonly members: readonly AnyRow[];
  readonly since: number | undefined;
}

/** Those of the group that count: the open ones, or those in the window. What has left the window is removed. */
function countedMembers(
  rows: MemoryTable<AnyRow>,
  group: Group<string>,
  { members, since }: Membership,
): readonly AnyRow[] {
  if ("open" in group) return members.filter((other) => other[group.open] === null);
  const isOld = (other: AnyRow): boolean => since !== undefined && Number(other[group.since]) <= since;
  for (const old of members.filter(isOld)) rows.remove(old);
  return members.filter((other) => !isOld(other));
}

function update(rows: MemoryTable<AnyRow>, table: AnyTable, change: AnyUpdate): boolean {
  const row = rows.get(change.id) ?? null;
  const changes = copyChanges(table, change.set as AnyRow);
  if (!isAsExpected(table, row, change)) return false;
  const version = "version" in table.columns ? { version: Number(row?.["version"]) + 1 } : {};
  return rows.put({ ...row, ...changes, ...version, [table.key]: change.id });
}
