/** Differences between the databases' schemas: types of columns, the place of null in an index, options of tables. */
import { type Field, fieldsOf } from "../row.ts";
import type { Column, ColumnKind } from "../table.ts";
import { listed, quoted, type Statement, statement } from "./statement.ts";
import {
  type FoundTrigger,
  postgresTriggers,
  sqliteTriggers,
  type TriggerDialect,
} from "./total-triggers.ts";

type Columns = Readonly<Record<string, Column>>;

/** The parts of a table besides its name. */
interface TableParts {
  readonly columns: Columns;
  readonly key: readonly string[];
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

const sqliteTypes: SchemaDialect["types"] = {
  text: "text",
  integer: "integer",
  amount: "text",
  boolean: "integer",
  bytes: "blob",
  json: "text",
};

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
  // Exact and without a limit, also in sums.
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
