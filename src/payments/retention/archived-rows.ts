/** Converts rows to plain JSON for the archive, so that each row fits one line of text. */
import type { HistoryRecord, InstanceRecord } from "../../../storage/storage.ts";
import type { PaymentTables, TableName } from "../tables.ts";

/** A row that is about to be removed. Amounts are decimal digits in base units, bytes are base64. */
export interface ArchivedRow {
  /** A table of the service, or one of the engine's two. */
  readonly table: TableName | "instances" | "history";
  readonly row: Readonly<Record<string, unknown>>;
}

/** Rows of one table of the service. */
export function archivedRows<T extends TableName>(
  table: T,
  rows: readonly PaymentTables[T][],
): readonly ArchivedRow[] {
  return rows.map((row) => ({ table, row: plain(row) as ArchivedRow["row"] }));
}

/** An instance with its steps. */
export function archivedRun(
  instance: InstanceRecord,
  history: readonly HistoryRecord[],
): readonly ArchivedRow[] {
  return [
    { table: "instances", row: { ...instance } },
    ...history.map((row) => ({ table: "history" as const, row: { ...row } })),
  ];
}

function plain(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
}
