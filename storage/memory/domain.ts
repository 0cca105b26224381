/** The tables of the payment service in memory, and the writes to them. */
import type { PaymentTables } from "../records.ts";
import { copyChanges } from "../row.ts";
import type { Insert, PaymentWrite, Update } from "../storage.ts";
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
  return "insert" in change ? insert(rows, table, change) : update(rows, table, change);
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
  if ("total" in atMost) {
    const { open, sum } = summedGroup(group);
    const promised = members.filter((other) => other[open] === null);
    return [...promised, row].reduce((total, each) => total + (each[sum] as bigint), 0n) <= atMost.total;
  }
  const { count, since } = atMost;
  if ("open" in group) return members.filter((other) => other[group.open] === null).length < count;
  const isOld = (other: AnyRow): boolean => since !== undefined && Number(other[group.since]) <= since;
  for (const old of members.filter(isOld)) rows.remove(old);
  return members.filter((other) => !isOld(other)).length < count;
}

/** The fields that a total is made of. */
function summedGroup(group: NonNullable<Table<AnyRow>["group"]>): { open: string; sum: string } {
  if ("open" in group && group.sum !== undefined) return { open: group.open, sum: group.sum };
  throw new TypeError("a total needs a group with a sum");
}

function update(rows: MemoryTable<AnyRow>, table: Table<AnyRow>, change: Update<PaymentTables>): boolean {
  const { id, set, expectedVersion } = change;
  const versioned = "version" in table.columns;
  if (expectedVersion !== undefined && !versioned) throw new TypeError(`${change.table} has no version`);
  const row = rows.get(id);
  const isExpected = expectedVersion === undefined || row?.["version"] === expectedVersion;
  if (row === undefined || !isExpected) return false;
  const version = versioned ? { version: Number(row["version"]) + 1 } : {};
  return rows.put({ ...row, ...copyChanges(table, set as Partial<AnyRow>), ...version, id });
}
