/**
 * Differences between the databases' schemas: types of columns, the place of null in an index, options of tables, and
 * the listing of tables.
 */
import { type RawBuilder, sql } from "kysely";
import { type Field, fieldsOf } from "../../row.ts";
import type { Column, ColumnKind } from "../../table.ts";
import { listed, quoted, type Statement, statement } from "../statement.ts";
import {
  type FoundTrigger,
  postgresTriggers,
  sqliteTriggers,
  type TriggerDialect,
} from "../total-triggers.ts";

type Columns = Readonly<Record<string, Column>>;

/** The parts of a table besides its name. */
interface TableParts {
  readonly columns: Columns;
  readonly key: readonly string[];
}

/** An existing table, and its new form. */
interface RemadeTable extends TableParts {
  /** A query that returns the rows, with values in the order of the columns. */
  readonly rows: string;
}

/** An existing index: an invalid index serves no read and enforces nothing. */
export interface FoundIndex {
  readonly table: string;
  readonly name: string;
  readonly valid: number;
  /** 1 while a living session builds the index. */
  readonly building: number;
}

/** A database's way to create tables. */
export interface SchemaDialect extends TriggerDialect {
  /** The type of a column of each kind. */
  readonly types: { readonly [K in ColumnKind]: string };
  /** The index clause for a column in which null comes before all values. */
  readonly nullsFirst: string;
  /** Ends an index whose fields leave rows in the order of their insertion; SQLite ends each index so by itself. */
  readonly insertionOrder: readonly string[];
  /** Creates a table. */
  readonly table: (name: string, parts: TableParts) => string;
  /** Creates one with a column `seq` that grows with every row, and a unique key. */
  readonly sequencedTable: (name: string, parts: TableParts) => string;
  /** Leaves no room for changed rows in the pages that a table fills from now on. */
  readonly settled: (name: string) => readonly string[];
  /** Makes a table anew, out of its own rows or others; its indexes are gone. */
  readonly remade: (name: string, parts: RemadeTable) => readonly string[];
  /** Drops columns of a sequenced table; the indexes may be gone afterwards. */
  readonly without: (name: string, columns: readonly string[], left: TableParts) => readonly string[];
  /** Sixteen digits that nobody can guess. */
  readonly chance: string;
  /** The instance that a stored snapshot names as its parent; null for none. */
  readonly parentOf: (snapshot: string) => string;
  /**
   * The names of the tables and views there are, in one schema where the database has several. Kysely's own list describes
   * every column of every schema: 1.6 ms for the tables of SQLite in place of 0.1.
   */
  readonly tableNames: (schema?: string) => RawBuilder<{ readonly name: string }>;
  /** The columns of every table. */
  readonly columns: (schema?: string) => RawBuilder<{ readonly table: string; readonly column: string }>;
  /** The unique keys of every table: the names of their columns, separated by spaces. */
  readonly uniques: (schema?: string) => RawBuilder<{ readonly table: string; readonly columns: string }>;
  /** Every index, and whether it can be used. */
  readonly indexes: Statement<object, FoundIndex>;
  /** Every trigger. */
  readonly foundTriggers: Statement<object, FoundTrigger>;
  /** Whether an index can be built without keeping out writers. */
  readonly buildsBeside: boolean;
}

function columnsIn(columns: Columns, types: SchemaDialect["types"]): string {
  const column = ({ name, kind, nullable }: Field): string =>
    `${quoted(name)} ${types[kind]}${nullable ? "" : " not null"}`;
  return fieldsOf({ columns }).map(column).join(", ");
}

const constraint = (name: string, kind: "primary key" | "unique", columns: readonly string[]): string =>
  `constraint ${quoted(name)} ${kind} (${listed(columns)})`;

/**
 * Rows go out and in again. SQLite renames a table, or drops a column, only where it can make sense of the whole schema, with
 * the views, triggers and collations of a host.
 */
const remadeInSqlite = (name: string, creation: string, rows: string): readonly string[] => {
  const next = quoted(`paystateNext_${name}`);
  return [
    `create table ${next} as ${rows}`,
    `drop table ${quoted(name)}`,
    creation,
    `insert into ${quoted(name)} select * from ${next}`,
    `drop table ${next}`,
  ];
};

const sqliteTypes: SchemaDialect["types"] = {
  text: "text",
  integer: "integer",
  amount: "text",
  boolean: "integer",
  bytes: "blob",
  json: "text",
};

/** No virtual table of a host, whose module this process may not have. */
const OF_SQLITE = sql`m.sql not like 'create virtual %'`;

/** Strict, so that SQLite holds to the types; clustered by their key where it is not a single id. */
export const sqliteSchema: SchemaDialect = {
  types: sqliteTypes,
  nullsFirst: "",
  insertionOrder: [],
  table: (name, { columns, key }) =>
    `create table ${quoted(name)} (${columnsIn(columns, sqliteTypes)}, ${constraint(`${name}_key`, "primary key", key)})
      strict${key.length > 1 ? ", without rowid" : ""}`,
  sequencedTable: (name, { columns, key }) =>
    `create table ${quoted(name)} (${columnsIn(columns, sqliteTypes)}, seq integer primary key,
      ${constraint(`${name}_key`, "unique", key)}) strict`,
  settled: () => [],
  remade: (name, { rows, ...parts }) => remadeInSqlite(name, sqliteSchema.table(name, parts), rows),
  without: (name, _, left) => {
    const kept = listed([...Object.keys(left.columns), "seq"]);
    const rows = `select ${kept} from ${quoted(name)}`;
    return remadeInSqlite(name, sqliteSchema.sequencedTable(name, left), rows);
  },
  chance: "lower(hex(randomblob(8)))",
  parentOf: (snapshot) =>
    `case when json_valid(${snapshot}) then json_extract(${snapshot}, '$.parent.instance') end`,
  tableNames: () => sql`select name from sqlite_master
    where type in ('table', 'view') and name not like 'sqlite\\_%' escape '\\'`,
  columns: () => sql`select m.name as "table", c.name as "column"
    from sqlite_master m join pragma_table_info(m.name) c where m.type = 'table' and ${OF_SQLITE}`,
  uniques: () => sql`select m.name as "table",
      (select group_concat(c.name, ' ') from pragma_index_info(i.name) c) as "columns"
    from sqlite_master m join pragma_index_list(m.name) i
    where m.type = 'table' and ${OF_SQLITE} and i."unique" = 1 and i.partial = 0`,
  indexes: statement(
    `select tbl_name as "table", name, 1 as valid, 0 as building from sqlite_master where type = 'index'`,
  ),
  totals: {
    list: (values) => `json_array(${values.join(", ")})`,
    // Beginning before the text, a part is shorter.
    digits: (amount, skipped) => `cast(substr(${amount}, -${skipped + 9}, 9) as integer)`,
  },
  triggers: sqliteTriggers,
  foundTriggers: statement(
    `select tbl_name as "table", name, 1 as here from sqlite_master where type = 'trigger'`,
  ),
  dropTrigger: (name) => `drop trigger if exists ${quoted(name)}`,
  buildsBeside: false,
};

const postgresTypes: SchemaDialect["types"] = {
  // Compared byte by byte, in every language that a database may be set to.
  text: 'text collate "C"',
  integer: "bigint",
  // Of any size and exact, and so are their sums.
  amount: "numeric",
  boolean: "smallint",
  bytes: "bytea",
  // As text: what is read is what was written, to the byte.
  json: "text",
};

/** Rows that change often leave room in their pages, and are cleaned up before there are many dead ones. */
const KEPT_SMALL = "with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02)";

export const postgresSchema: SchemaDialect = {
  types: postgresTypes,
  nullsFirst: " nulls first",
  insertionOrder: [`"seq"`],
  table: (name, { columns, key }) =>
    `create table ${quoted(name)} (${columnsIn(columns, postgresTypes)}, ${constraint(`${name}_key`, "primary key", key)})
      ${KEPT_SMALL}`,
  // Their indexes are called as they are, and no table can begin with _.
  sequencedTable: (name, { columns, key }) =>
    `create table ${quoted(name)} (${columnsIn(columns, postgresTypes)}, seq bigint generated always as identity,
      ${constraint(`_${name}_seq`, "primary key", ["seq"])}, ${constraint(`_${name}_key`, "unique", key)}) ${KEPT_SMALL}`,
  settled: (name) => [`alter table ${quoted(name)} set (fillfactor = 100)`],
  remade: (name, { rows, ...parts }) => [
    postgresSchema.table(`paystateNext_${name}`, parts),
    `insert into "paystateNext_${name}" ${rows}`,
    `drop table ${quoted(name)}`,
    `alter table "paystateNext_${name}" rename to ${quoted(name)}`,
    // The names of indexes belong to the schema.
    `alter index "paystateNext_${name}_key" rename to "${name}_key"`,
  ],
  without: (name, columns) =>
    columns.map((column) => `alter table ${quoted(name)} drop column ${quoted(column)}`),
  chance: "left(replace(gen_random_uuid()::text, '-', ''), 16)",
  parentOf: (snapshot) => `${snapshot}::json #>> '{parent,instance}'`,
  // The catalogue also has tables of a schema that the role may not look into.
  tableNames: (
    schema,
  ) => sql`select relname as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where nspname = ${schema} and relkind in ('r', 'p', 'v') and has_schema_privilege(nspname, 'USAGE')`,
  columns: (schema) => sql`select c.relname as "table", a.attname as "column"
    from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
    where n.nspname = ${schema} and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped`,
  uniques: (schema) => sql`select c.relname as "table", string_agg(a.attname, ' ') as "columns"
    from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_index i on i.indrelid = c.oid
      join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
    where n.nspname = ${schema} and i.indisunique and i.indisvalid and i.indpred is null
    group by c.relname, i.indexrelid`,
  indexes: statement(`select t.relname as "table", c.relname as name, i.indisvalid::int as valid,
      (p.pid is not null)::int as building
    from pg_index i join pg_class c on c.oid = i.indexrelid join pg_class t on t.oid = i.indrelid
      left join pg_stat_progress_create_index p on p.index_relid = c.oid and p.datname = current_database()
    where t.relnamespace = current_schema()::regnamespace`),
  totals: {
    list: (values) => `jsonb_build_array(${values.join(", ")})::text`,
    digits: (amount, skipped) => `mod(div(${amount}, 1${"0".repeat(skipped)}), 1000000000)`,
  },
  triggers: postgresTriggers,
  foundTriggers: statement(`select c.relname as "table", t.tgname as name,
      exists (select 1 from unnest(p.proconfig) c
        where split_part(replace(c, '"', ''), ',', 1) = 'search_path=' || current_schema())::int as here
    from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_proc p on p.oid = t.tgfoid
    where not t.tgisinternal and c.relnamespace = current_schema()::regnamespace`),
  dropTrigger: (name) => `drop function if exists ${quoted(name)}() cascade`,
  buildsBeside: true,
};
