/** The statements that create and migrate the caller's tables. */
import { type Definition, definitionOf, planInstall } from "../install-plan.ts";
import { fieldNamed } from "../query.ts";
import type { AnyTable, Index, Migration } from "../table.ts";
import { encodeValue } from "./codecs.ts";
import { indexConditions, literalOf, mayBeNull, where } from "./given-table.ts";
import type { SchemaDialect } from "./migrations/dialect.ts";
import { quoted, statement } from "./statement.ts";

/** One row for each of the caller's tables: what it is now, and how many migrations it has seen. */
export interface InstalledTable {
  readonly name: string;
  readonly definition: string;
  readonly migrations: number;
}

/** What is kept of every installed table. */
export const installedStatements = {
  installed: statement<{ name: string }, InstalledTable>(
    `select * from "paystateTables" where name = {name}`,
  ),
  record: statement<InstalledTable>(`insert into "paystateTables" (name, definition, migrations)
    values ({name}, {definition}, {migrations})
    on conflict (name) do update set definition = {definition}, migrations = {migrations}`),
};

/** What installing a table takes, and the note of it. Null where it is there as described. */
export function installing(
  table: AnyTable,
  stored: InstalledTable | undefined,
  dialect: SchemaDialect,
): { readonly changes: readonly string[]; readonly record: InstalledTable } | null {
  const plan = planInstall(table, stored ?? null);
  if (plan === "keep") return null;
  const { name, migrations } = table;
  return {
    changes: plan === "create" ? creation(table, dialect) : migration(table, { ...plan, dialect }),
    record: { name, definition: definitionOf(table), migrations: migrations.length },
  };
}

/** Creates a table with a column for the order in which its rows are inserted. */
export function creation(table: AnyTable, dialect: SchemaDialect): readonly string[] {
  const { name, columns, key } = table;
  return [dialect.sequencedTable(name, { columns, key: [key] }), ...indexing(table, dialect)];
}

/** What changes a table: the migrations, what it was before, and for which database. */
interface TableChange {
  readonly steps: readonly Migration[];
  readonly before: Definition;
  readonly dialect: SchemaDialect;
}

/** Carries out migrations. Indexes go before the columns do, and come back when these are as they shall be. */
function migration(table: AnyTable, { steps, before, dialect }: TableChange): readonly string[] {
  const indexes = [
    ...Object.keys(before.indexes).map((index) => indexName(table.name, index)),
    ...before.unique.map((field) => uniqueName(table.name, field)),
  ];
  const alter = `alter table ${quoted(table.name)}`;
  const changes = steps.flatMap(({ add = {}, drop = [] }) => [
    ...drop.map((field) => `${alter} drop column ${quoted(field)}`),
    ...Object.entries(add).map((column) => `${alter} add column ${adding(table, column, dialect)}`),
  ]);
  return [...indexes.map((index) => `drop index ${quoted(index)}`), ...changes, ...indexing(table, dialect)];
}

function adding(
  table: AnyTable,
  [name, value]: readonly [string, unknown],
  { types }: SchemaDialect,
): string {
  const field = fieldNamed(table, name);
  const encoded = encodeValue(field, value);
  if (encoded instanceof Uint8Array) {
    throw new TypeError(`${table.name}: ${name} cannot be added with bytes in the rows of before`);
  }
  return `${quoted(name)} ${types[field.kind]}${field.nullable ? "" : " not null"} default ${literalOf(encoded)}`;
}

function indexing(table: AnyTable, dialect: SchemaDialect): readonly string[] {
  const { name, indexes, unique } = table;
  const created = (kind: string, made: string, index: Index): string => {
    const fields = columnsOfIndex(table, index, dialect);
    return `create ${kind} ${quoted(made)} on ${quoted(name)} (${fields})${where(indexConditions(table, index))}`;
  };
  return [
    ...unique.map((field) =>
      created("unique index", uniqueName(name, field), { on: [field], where: {}, present: [] }),
    ),
    ...Object.entries(indexes).map(([each, index]) => created("index", indexName(name, each), index)),
  ];
}

/** In the order of reads, where null stands before all values. */
function columnsOfIndex(table: AnyTable, index: Index, { nullsFirst }: SchemaDialect): string {
  const column = (name: string): string =>
    `${quoted(name)}${mayBeNull(fieldNamed(table, name), index) ? nullsFirst : ""}`;
  return index.on.map(column).join(", ");
}

/** PostgreSQL cuts names off here, and two that begin alike would be one. */
const MAX_NAME = 63;

const indexName = (table: string, index: string): string => shortened(`${table}_by_${index}`);
const uniqueName = (table: string, field: string): string => shortened(`${table}_unique_${field}`);

function shortened(name: string): string {
  if (name.length <= MAX_NAME) return name;
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 2 ** 32;
  return `${name.slice(0, MAX_NAME - 9)}_${sum.toString(16).padStart(8, "0")}`;
}
