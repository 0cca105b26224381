/** The caller's tables over plain Maps: installing, reading and writing them by their descriptions. */
import type {
  AnyTable,
  AnyInsert,
  AnyRemoval,
  AnyUpdate,
  AnyWrite,
  Capacity,
  Group,
  Migration,
  Tallied,
} from "paystate/engine";
import {
  copyChanges,
  copyRow,
  definitionOf,
  isAsExpected,
  NotInstalled,
  planInstall,
  selectionOf,
} from "paystate/storage";
import { by, compared, type Database, type Row } from "./database.ts";

type AnyQuery = Parameters<typeof selectionOf>[1];

export class Tables {
  readonly #database: Database;
  readonly #described = new Map<string, AnyTable>();

  constructor(database: Database) {
    this.#database = database;
  }

  install(tables: readonly AnyTable[]): void {
    this.#database.atomically(() => tables.forEach((table) => this.#installOne(table)));
    for (const table of tables) this.#described.set(table.name, table);
  }

  get(table: AnyTable, key: string): Row | null {
    const row = this.#rowsOf(table.name).get(key);
    return row === undefined ? null : copyRow(table, row);
  }

  find(query: AnyQuery): readonly Row[] {
    const { table, limit, beyond } = query;
    const rows = this.#selected(query);
    const start = beyond === undefined ? 0 : rows.findIndex((row) => row[table.key] === beyond) + 1;
    if (beyond !== undefined && start === 0) return [];
    const wanted = rows.slice(start, limit === undefined ? undefined : start + limit);
    return wanted.map((row) => copyRow(table, row));
  }

  tally(query: AnyQuery): Tallied {
    const rows = this.#selected(query);
    return { count: rows.length, total: query.sum === undefined ? 0n : sumOf(rows, query.sum) };
  }

  /** False when the write is refused. */
  write(write: AnyWrite): boolean {
    const table = this.#described.get(write.table);
    if (table === undefined) throw new NotInstalled(write.table);
    if ("insert" in write) return this.#insert(table, write);
    if ("set" in write) return this.#update(table, write);
    if ("remove" in write) return this.#remove(table, write);
    return isAsExpected(table, this.#rowsOf(table.name).get(write.id) ?? null, write);
  }

  #installOne(table: AnyTable): void {
    const { installed, rows } = this.#database;
    const plan = planInstall(table, installed.get(table.name) ?? null);
    if (plan === "create") rows.set(table.name, new Map());
    if (typeof plan === "object") {
      const old = [...this.#rowsOf(table.name)];
      rows.set(table.name, new Map(old.map(([key, row]) => [key, plan.steps.reduce(migrated, row)])));
    }
    installed.set(table.name, { definition: definitionOf(table), migrations: table.migrations.length });
  }

  #selected(query: AnyQuery): readonly Row[] {
    const { table, order: direction = "asc" } = query;
    const { index, equals, order, after } = selectionOf(table, query);
    const sign = direction === "asc" ? 1 : -1;
    const isBeyond = (row: Row): boolean => {
      for (const [{ name }, value] of after) {
        if (row[name] === null) return false;
        const difference = compared(row[name], value) * sign;
        if (difference !== 0) return difference > 0;
      }
      return after.length === 0;
    };
    const found = [...this.#rowsOf(table.name).values()].filter(
      (row) =>
        Object.entries(index.where).every(([field, value]) => row[field] === value) &&
        index.present.every((field) => row[field] !== null) &&
        equals.every(([{ name }, value]) => row[name] === value) &&
        isBeyond(row),
    );
    const sorted = found.toSorted(
      by(
        ...order.map(
          ({ name }) =>
            (row: Row) =>
              row[name],
        ),
      ),
    );
    return direction === "asc" ? sorted : sorted.toReversed();
  }

  #insert(table: AnyTable, { insert, atMost }: AnyInsert): boolean {
    const row = copyRow(table, insert as Row);
    if (atMost !== undefined && !this.#hasRoom(table, row, atMost)) return false;
    if (this.#rowsOf(table.name).has(row[table.key] as string) || this.#isTaken(table, row)) return false;
    this.#put(table, row);
    return true;
  }

  #update(table: AnyTable, change: AnyUpdate): boolean {
    const row = this.#rowsOf(table.name).get(change.id) ?? null;
    const changes = copyChanges(table, change.set as Row);
    if (!isAsExpected(table, row, change)) return false;
    const version = "version" in table.columns ? { version: (row?.["version"] as number) + 1 } : {};
    const changed: Row = { ...row, ...changes, ...version, [table.key]: change.id };
    if (this.#isTaken(table, changed)) return false;
    this.#put(table, changed);
    return true;
  }

  #remove(table: AnyTable, removal: AnyRemoval): boolean {
    const rows = this.#rowsOf(table.name);
    const isExpected = isAsExpected(table, rows.get(removal.remove) ?? null, removal);
    return isExpected && rows.delete(removal.remove);
  }

  #hasRoom(table: AnyTable, row: Row, atMost: Capacity): boolean {
    const { group } = table;
    if (group === null) throw new TypeError(`${table.name} has no group, which atMost counts`);
    const rows = this.#rowsOf(table.name);
    const inGroup = [...rows].filter(([, each]) => group.by.every((field) => each[field] === row[field]));
    const counted: Row[] = [];
    for (const [key, each] of inGroup) {
      if (isOld(group, each, atMost)) rows.delete(key);
      else if (!("open" in group) || each[group.open] === null) counted.push(each);
    }
    if ("count" in atMost) return counted.length < atMost.count;
    return atMost.total === null || sumOf([...counted, row], group.sum ?? "") <= atMost.total;
  }

  #isTaken(table: AnyTable, row: Row): boolean {
    const others = [...this.#rowsOf(table.name).values()].filter(
      (each) => each[table.key] !== row[table.key],
    );
    return table.unique.some((field) =>
      others.some((each) => each[field] !== null && each[field] === row[field]),
    );
  }

  #put(table: AnyTable, row: Row): void {
    this.#rowsOf(table.name).set(row[table.key] as string, row);
  }

  #rowsOf(name: string): Map<string, Row> {
    const rows = this.#database.rows.get(name);
    if (rows === undefined) throw new NotInstalled(name);
    return rows;
  }
}

function migrated(row: Row, { add = {}, drop = [] }: Migration): Row {
  return { ...Object.fromEntries(Object.entries(row).filter(([field]) => !drop.includes(field))), ...add };
}

/** Whether a row is too old to count. */
function isOld(group: Group<string>, row: Row, { since }: Capacity): boolean {
  return since !== undefined && "since" in group && (row[group.since] as number) <= since;
}

const sumOf = (rows: readonly Row[], field: string): bigint =>
  rows.reduce((sum, row) => sum + ((row[field] as bigint | null) ?? 0n), 0n);
