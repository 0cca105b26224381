/** The tables of the payment service in memory, and the writes to them. */
import type { PaymentTables } from "../records.ts";
import { copyChanges } from "../row.ts";
import type { Expectation, Insert, PaymentWrite, Update } from "../storage.ts";
import { paymentTables, type Table } from "../tables.ts";
import { type Journal, MemoryTable } from "./table.ts";

/** One record, whichever table it is of. */
type AnyRow = { readonly id: string } & Readonly<Record<string, unknown>>;

export type DomainTables = { readonly [T in keyof PaymentTables]: MemoryTable<PaymentTables[T]> };

export function domainTables(journal: Journal): DomainTables {
  const entries = Object.entries(paymentTables).map(([name, table]) => [
    name,
    new MemoryTable(table as unknown as Table<AnyRow>, journal),
  ]);
  return Object.fromEntries(entries) as DomainTables;
}

/** Carries out one write; false when it is refused. */
export function write(tables: DomainTables, change: PaymentWrite): boolean {
  // The union says that table and row belong together; TypeScript cannot follow it through the lookup.
  const rows = tables[change.table] as unknown as MemoryTable<AnyRow>;
  const table = paymentTables[change.table] as unknown as Table<AnyRow>;
  if ("insert" in change) return insert(rows, table, change);
  return "set" in change ? update(rows, table, change) : isAsExpected(rows, table, change);
}

function isAsExpected(
  rows: MemoryTable<AnyRow>,
  table: Table<AnyRow>,
  { table: name, id, expectVersion }: Expectation<PaymentTables>,
): boolean {
  if (!("version" in table.columns)) throw new TypeError(`${name} has no version`);
  return Number(rows.get(id)?.["version"] ?? 0) === expectVersion;
}

function insert(rows: MemoryTable<AnyRow>, table: Table<AnyRow>, change: Insert<PaymentTables>): boolean {
  const row = change.insert as unknown as AnyRow;
  return (change.atMost === undefined || hasRoom(rows, table, row, change.atMost)) && rows.insert(row);
}

function hasRoom(
  rows: MemoryTable<AnyRow>,
  { group, lookup }: Table<AnyRow>,
  row: AnyRow,
  atMost: NonNullable<Insert<PaymentTables>["atMost"]>,
): boolean {
  if (group === undefined || lookup === undefined) {
    throw new TypeError("atMost needs a table that has a group");
  }
  const members = rows
    .under(row[lookup])
    .filter((other) => group.by.every((field) => other[field] === row[field]));
  const counted = countedMembers(rows, group, members, atMost.since);
  if (!("total" in atMost)) return counted.length < atMost.count;
  const { sum } = group;
  if (sum === undefined) throw new TypeError("a total needs a group with a sum");
  if (atMost.total === null) return true;
  return [...counted, row].reduce((total, each) => total + (each[sum] as bigint), 0n) <= atMost.total;
}

/** Those of the group that count: the open ones, or those in the window. What has left the window is removed. */
function countedMembers(
  rows: MemoryTable<AnyRow>,
  group: NonNullable<Table<AnyRow>["group"]>,
  members: readonly AnyRow[],
  since: number | undefined,
): readonly AnyRow[] {
  if ("open" in group) return members.filter((other) => other[group.open] === null);
  const isOld = (other: AnyRow): boolean => since !== undefined && Number(other[group.since]) <= since;
  for (const old of members.filter(isOld)) rows.remove(old);
  return members.filter((other) => !isOld(other));
}

function update(rows: MemoryTable<AnyRow>, table: Table<AnyRow>, change: Update<PaymentTables>): boolean {
  if (table.appendOnly === true) throw new TypeError(`rows of ${change.table} are never changed`);
  const { id, set, expectedVersion } = change;
  const versioned = "version" in table.columns;
  if (expectedVersion !== undefined && !versioned) throw new TypeError(`${change.table} has no version`);
  const row = rows.get(id);
  const isExpected = expectedVersion === undefined || row?.["version"] === expectedVersion;
  if (row === undefined || !isExpected) return false;
  const version = versioned ? { version: Number(row["version"]) + 1 } : {};
  return rows.put({ ...row, ...copyChanges(table, set as Partial<AnyRow>), ...version, id });
}
