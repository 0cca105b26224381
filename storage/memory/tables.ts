/** The caller's tables in memory: installed, written in commits, and read. */
import {
  type AnyQuery,
  copyChanges,
  copyRow,
  definitionOf,
  isAsExpected,
  NotInstalled,
  planInstall,
  selectionOf,
} from "../index.ts";
import type { AnyInsert, AnyRemoval, AnyUpdate, AnyWrite, GroupLimit, TallyResult } from "../storage.ts";
import type { AnyTable, Migration } from "../table.ts";
import { by, compare, type Journal, Rows } from "./rows.ts";

/** With its place in the order in which rows were inserted, in a field that no column of a caller can be. */
type AnyRow = Readonly<Record<string, unknown>>;
type Selection = ReturnType<typeof selectionOf>;
const SEQ = "seq";

export class Tables {
  readonly #journal: Journal;
  readonly #installed = new Map<string, GivenTable>();

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  install(tables: readonly AnyTable[]): void {
    const plans = tables.map((table) => planInstall(table, this.#installed.get(table.name) ?? null));
    tables.forEach((table, index) => {
      const [plan, before] = [plans[index], this.#installed.get(table.name)];
      if (before !== undefined && before.migrations > table.migrations.length) return;
      const steps = typeof plan === "object" ? plan.steps : [];
      const rows = before?.all().map((row) => steps.reduce(migrated, row)) ?? [];
      this.#installed.set(table.name, new GivenTable(table, rows, this.#journal));
    });
  }

  /** @throws NotInstalled when the table is none that was installed. */
  of(name: string): GivenTable {
    const found = this.#installed.get(name);
    if (found === undefined) throw new NotInstalled(name);
    return found;
  }
}

/** A row of before, as the table has rows after one of its migrations. */
function migrated(row: AnyRow, { add = {}, drop = [] }: Migration): AnyRow {
  const kept = Object.entries(row).filter(([field]) => !drop.includes(field));
  return { ...Object.fromEntries(kept), ...add };
}

class GivenTable {
  readonly definition: string;
  readonly migrations: number;
  readonly #table: AnyTable;
  readonly #rows: Rows<AnyRow>;
  #inserted = 0;

  constructor(table: AnyTable, rows: readonly AnyRow[], journal: Journal) {
    this.definition = definitionOf(table);
    this.migrations = table.migrations.length;
    this.#table = table;
    // Looked up by unique fields, and by the first field of an index.
    const { columns, key, unique, indexes, group } = table;
    const firsts = [...Object.values(indexes).map(({ on }) => on), group?.by ?? []];
    const lookups = [...new Set([...unique, ...firsts.flatMap((fields) => fields.slice(0, 1))])];
    this.#rows = new Rows({ columns: { ...columns, [SEQ]: "integer" }, key: [key], lookups }, journal);
    for (const row of rows) {
      this.#rows.put(row);
      this.#inserted = Math.max(this.#inserted, row[SEQ] as number);
    }
  }

  all(): readonly AnyRow[] {
    return this.#rows.select();
  }

  get(key: string): AnyRow | null {
    const row = this.#rows.get(key);
    return row === undefined ? null : copyRow(this.#table, row);
  }

  find(query: AnyQuery): AnyRow[] {
    const { beyond, limit = Infinity } = query;
    const found = this.#selected(query);
    const start = beyond === undefined ? 0 : found.findIndex((row) => row[this.#table.key] === beyond) + 1;
    const isLost = beyond !== undefined && start === 0;
    return (isLost ? [] : found.slice(start, start + limit)).map((row) => copyRow(this.#table, row));
  }

  tally(query: AnyQuery): TallyResult {
    const found = this.#selected(query);
    return { count: found.length, total: query.sum === undefined ? 0n : totalOf(found, query.sum) };
  }

  #selected(query: AnyQuery): readonly AnyRow[] {
    const selection = selectionOf(this.#table, query);
    const { index, equals, anyOf, order, after } = selection;
    const isDescending = query.order === "desc";
    const isBeyond = (row: AnyRow): boolean => {
      // As a database compares: a row without a value is neither above nor below.
      for (const [{ name }, value] of after) {
        const side = compare(row[name], value);
        if (row[name] === null || side !== 0) return row[name] !== null && side > 0 !== isDescending;
      }
      return after.length === 0;
    };
    const candidates = this.#candidates(selection);
    const found = candidates.filter(
      (row) =>
        equals.every(([{ name }, value]) => row[name] === value) &&
        (anyOf === null || anyOf.values.some((value) => value === row[anyOf.field])) &&
        Object.entries(index.where).every(([field, value]) => row[field] === value) &&
        index.present.every((field) => row[field] !== null) &&
        isBeyond(row),
    );
    const inOrder = by<AnyRow>(...order.map(({ name }) => name), SEQ);
    return found.toSorted(isDescending ? (a, b) => inOrder(b, a) : inOrder);
  }

  /** Rows among which those of a selection are. */
  #candidates({ index, equals, anyOf }: Selection): readonly AnyRow[] {
    if (anyOf?.field === this.#table.key) {
      return [...new Set(anyOf.values)].map((key) => this.#rows.get(key)).filter((row) => row !== undefined);
    }
    const [first] = equals;
    // Reads by the key, and by the order of insertion, have no lookup.
    const looked = index.on[0] === this.#table.key ? undefined : first;
    return looked === undefined
      ? this.#rows.select()
      : this.#rows.select({ under: [looked[0].name, looked[1]] });
  }

  write(change: AnyWrite): boolean {
    if ("insert" in change) return this.#insert(change);
    if ("remove" in change) return this.#remove(change);
    if ("set" in change) return this.#update(change);
    return isAsExpected(this.#table, this.#rows.get(change.id) ?? null, change);
  }

  #insert({ insert, atMost }: AnyInsert): boolean {
    const row = { ...copyRow(this.#table, insert as AnyRow), [SEQ]: (this.#inserted += 1) };
    const hasRoom = atMost === undefined || this.#hasRoom(row, atMost);
    return hasRoom && !this.#isTaken(row) && this.#rows.insert(row);
  }

  #update(change: AnyUpdate): boolean {
    const { columns, key } = this.#table;
    const row = this.#rows.get(change.id) ?? null;
    const changes = copyChanges(this.#table, change.set);
    if (!isAsExpected(this.#table, row, change)) return false;
    const version = "version" in columns ? { version: Number(row?.["version"]) + 1 } : {};
    const changed = { ...row, ...changes, ...version, [key]: change.id };
    if (this.#isTaken(changed)) return false;
    this.#rows.put(changed);
    return true;
  }

  #remove(change: AnyRemoval): boolean {
    const row = this.#rows.get(change.remove);
    const isExpected = isAsExpected(this.#table, row ?? null, change);
    if (isExpected) this.#rows.remove(row);
    return isExpected;
  }

  /** Null is no value: any number of rows may have it. */
  #isTaken(row: AnyRow): boolean {
    const { key, unique } = this.#table;
    const isOther = (other: AnyRow): boolean => other[key] !== row[key];
    return unique.some(
      (field) => row[field] !== null && this.#rows.select({ under: [field, row[field]] }).some(isOther),
    );
  }

  /** Whether the group of a row has room for it. What has left the window of the group is removed. */
  #hasRoom(row: AnyRow, atMost: GroupLimit): boolean {
    const { name, group } = this.#table;
    const [first] = group?.by ?? [];
    if (group === null || first === undefined) throw new TypeError(`atMost: ${name} has no group`);
    if ("total" in atMost && group.sum === undefined) {
      throw new TypeError(`atMost: the group of ${name} has no sum`);
    }
    const { since = -Infinity } = atMost;
    const isOld = (other: AnyRow): boolean => "since" in group && Number(other[group.since]) <= since;
    const isCounted = (other: AnyRow): boolean => !("open" in group) || other[group.open] === null;
    const isMember = (other: AnyRow): boolean => group.by.every((field) => other[field] === row[field]);
    const members = this.#rows.select({ under: [first, row[first]], where: isMember });
    for (const old of members.filter(isOld)) this.#rows.remove(old);
    const counted = members.filter((other) => !isOld(other) && isCounted(other));
    if ("count" in atMost) return counted.length < atMost.count;
    return atMost.total === null || totalOf([...counted, row], group.sum ?? "") <= atMost.total;
  }
}

const totalOf = (rows: readonly AnyRow[], field: string): bigint =>
  rows.reduce((total, row) => total + ((row[field] as bigint | null) ?? 0n), 0n);
