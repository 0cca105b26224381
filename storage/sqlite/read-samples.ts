/** Reads rows of a database file here and there, or each page of it, and tells of damage. */
import { engineTables } from "../engine-tables.ts";
import { Connection } from "./connection.ts";
import type { SqliteDatabase } from "./handle.ts";
import { installedIn } from "./installed.ts";

/** Places in each table, and rows at each of them. */
const PLACES = 32;
const ROWS = 2;

type Row = Readonly<Record<string, unknown>>;

interface Table {
  readonly name: string;
  /** 1 for a table that is ordered by its key, and not by numbers. */
  readonly wr: number;
}

/**
 * Looks at the tables of the engine and those that were installed: a host's own may need functions or collations of the host.
 * Answers how many rows were read; the time does not grow with the file. Throws at a damaged page that it meets, and for a
 * row that is not in an index.
 */
export function readSamples(handle: SqliteDatabase): number {
  const connection = new Connection(handle);
  const names = [...Object.keys(engineTables), ...installedIn(connection).map(({ name }) => name)];
  const tables = handle
    .prepare(
      `select name, wr from pragma_table_list where schema = 'main' and type = 'table'
        and name in (select value from json_each(?))`,
    )
    .all(JSON.stringify(names)) as readonly Table[];
  const looked = tables.map((table) => sample(handle, table));
  return looked.reduce((sum, { length }) => sum + length, 0);
}

/** Reads every page, but not whether indexes and rows agree, which takes much longer. Throws what SQLite says of damage. */
export function readPages(handle: SqliteDatabase, onTable: (done: number, tables: number) => void): void {
  const tables = handle
    .prepare("select name from pragma_table_list where schema = 'main' and type in ('table', 'shadow')")
    .all() as readonly { readonly name: string }[];
  for (const [done, { name }] of tables.entries()) {
    onTable(done, tables.length);
    const [{ quick_check: said = "no answer" } = {}] = handle.pragma(
      `quick_check(${quoted(name)})`,
    ) as readonly { readonly quick_check?: string }[];
    if (said !== "ok") throw new Error(said);
  }
}

function sample(handle: SqliteDatabase, table: Table): readonly Row[] {
  const rows = table.wr === 1 ? ends(handle, table) : spread(handle, table);
  const indexes = handle
    .prepare("select name from pragma_index_list(?) where partial = 0")
    .all(table.name) as readonly { readonly name: string }[];
  for (const { name } of indexes) {
    const columns = handle.prepare("select name from pragma_index_info(?)").all(name) as readonly {
      readonly name: string | null;
    }[];
    const named = columns.flatMap(({ name: column }) => (column === null ? [] : [column]));
    if (named.length === 0) continue;
    const places = named.map((column) => `${quoted(column)} is ?`).join(" and ");
    const find = handle.prepare(
      `select 1 from ${quoted(table.name)} indexed by ${quoted(name)} where ${places}`,
    );
    for (const row of rows) {
      if (find.get(...named.map((column) => row[column])) === undefined) {
        throw new Error(`a row of ${table.name} is not in its index ${name}`);
      }
    }
  }
  return rows;
}

/** Rows at equal distances. */
function spread(handle: SqliteDatabase, { name }: Table): readonly Row[] {
  const { last } = handle.prepare(`select max(rowid) as last from ${quoted(name)}`).get() as {
    readonly last: number | null;
  };
  const from = handle.prepare(
    `select * from ${quoted(name)} where rowid >= ? order by rowid limit ${ROWS} + 0`,
  );
  from.safeIntegers(true);
  return Array.from({ length: PLACES }, (_, place) => Math.floor(((last ?? 0) * place) / PLACES)).flatMap(
    (rowid) => from.all(rowid) as readonly Row[],
  );
}

/** Rows of the beginning and the end. */
function ends(handle: SqliteDatabase, { name }: Table): readonly Row[] {
  const key = handle
    .prepare("select name from pragma_table_info(?) where pk > 0 order by pk")
    .all(name) as readonly { readonly name: string }[];
  const order = (how: string): string => key.map((column) => `${quoted(column.name)} ${how}`).join(", ");
  return ["asc", "desc"].flatMap((how) => {
    const rows = handle.prepare(`select * from ${quoted(name)} order by ${order(how)} limit ${PLACES}`);
    rows.safeIntegers(true);
    return rows.all() as readonly Row[];
  });
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
