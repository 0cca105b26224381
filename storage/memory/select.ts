/** The rows of a table in memory that a read asks for, in their order. */
import { type AnyQuery, selectionOf, type Selection } from "../query.ts";
import type { AnyTable } from "../table.ts";
import { compareTexts } from "../compare-texts.ts";
import type { MemoryTable } from "./table.ts";

type AnyRow = Readonly<Record<string, unknown>>;

export function select(table: AnyTable, rows: MemoryTable<AnyRow>, query: AnyQuery): readonly AnyRow[] {
  const { order = "asc", beyond, limit = Infinity } = query;
  const selection = selectionOf(table, query);
  const direction = order === "asc" ? 1 : -1;
  const sorted = candidates(rows, selection)
    .filter((row) => isIn(row, selection))
    .filter((row) => isAfter(row, selection, direction))
    .map((row) => ({ row, place: rows.placeOf(row) }))
    .toSorted((a, b) => direction * (compareRows(a.row, b.row, selection) || a.place - b.place))
    .map(({ row }) => row);
  if (beyond === undefined) return sorted.slice(0, limit);
  const start = sorted.findIndex((row) => row[table.key] === beyond) + 1;
  return start === 0 ? [] : sorted.slice(start, start + limit);
}

/** Few rows that all those looked for are among. */
function candidates(rows: MemoryTable<AnyRow>, { equals }: Selection): readonly AnyRow[] {
  const [first] = equals;
  return (first === undefined ? null : rows.gathered(first[0].name, first[1])) ?? rows.all();
}

function isIn(row: AnyRow, { index, equals }: Selection): boolean {
  return (
    equals.every(([{ name }, value]) => row[name] === value) &&
    Object.entries(index.where).every(([field, value]) => row[field] === value) &&
    index.present.every((field) => row[field] !== null)
  );
}

function isAfter(row: AnyRow, { after }: Selection, direction: number): boolean {
  if (after.length === 0) return true;
  // As a database compares: a row without a value is neither above nor below.
  for (const [{ name }, value] of after) {
    if (row[name] === null) return false;
    const side = compare(row[name], value);
    if (side !== 0) return side * direction > 0;
  }
  return false;
}

function compareRows(a: AnyRow, b: AnyRow, { order }: Selection): number {
  for (const { name } of order) {
    const side = compare(a[name], b[name]);
    if (side !== 0) return side;
  }
  return 0;
}

/** As databases order values: nothing first, false before true, texts by their bytes. */
function compare(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? -1 : 1;
  if (typeof a === "string" && typeof b === "string") return compareTexts(a, b);
  return Number(a) - Number(b);
}
