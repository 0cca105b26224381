/** The statements that create and migrate the caller's tables. */
import { definitionOf, planInstall, type TableSchema } from "../install-plan.ts";
import { fieldNamed } from "../query.ts";
import type { AnyTable, Migration } from "../table.ts";
import { encodeValue } from "./codecs.ts";
import { literalOf } from "./given-table.ts";
import type { FoundIndex, SchemaDialect } from "./dialect.ts";
import { namedRead, quoted, type StatementReader, statement } from "./statement.ts";
import { type FoundTrigger, planTotals } from "./total-triggers.ts";
import {
  creating,
  type IndexChange,
  indexesOf,
  isGuarded,
  nextChange,
  inTheWay,
  isBuilt,
  unwanted,
} from "./table-indexes.ts";

/** One row for each of the caller's tables: its present definition, and the number of its migrations. */
export interface InstalledTable {
  readonly name: string;
  readonly definition: string;
  readonly migrations: number;
}

/** Statements on the list of installed tables. */
export const installedStatements = {
  installed: namedRead<{ name: string }, InstalledTable>(
    `select * from "paystateTables" where name = {name}`,
  ),
  record: statement<InstalledTable>(`insert into "paystateTables" (name, definition, migrations)
    values ({name}, {definition}, {migrations})
    on conflict (name) do update set definition = {definition}, migrations = {migrations}`),
};

/** The database's state of a table, with the indexes and triggers of every table. */
export interface TableStatus {
  readonly stored: InstalledTable | undefined;
  readonly found: readonly FoundIndex[];
  readonly triggers: readonly FoundTrigger[];
  /** Whether it has so few rows that its indexes are made in a moment. Default: it may have any number. */
  readonly isSmall?: boolean;
}

/** The database's state of these tables. */
export async function standings(
  read: StatementReader,
  tables: readonly AnyTable[],
  { indexes, foundTriggers }: SchemaDialect,
): Promise<readonly (readonly [AnyTable, TableStatus])[]> {
  // Asked together: a read that rejects while nobody waits for its answer would end the process.
  const [found, triggers, stored] = await Promise.all([
    read(indexes, {}),
    read(foundTriggers, {}),
    Promise.all(tables.map((table) => read(installedStatements.installed, { name: table.sqlName }))),
  ]);
  return tables.map((table, at) => [table, { stored: stored[at]?.[0], found, triggers }] as const);
}

const foundOf = ({ sqlName }: AnyTable, { found }: TableStatus): readonly FoundIndex[] =>
  found.filter(({ table }) => table === sqlName);

/** The statements of one transaction. */
interface Installing {
  readonly changes: readonly string[];
  /** The notes about the table from then on. */
  readonly record: InstalledTable;
  /** Indexes that are being built: the builds hold the table until all transactions of the database have ended. */
  readonly calledOff: readonly FoundIndex[];
}

/**
 * The statements that install a table in one transaction, with its note. Null when the table exists as described. An
 * index is included when building it locks out writers anyway, when the table is new; when the table is small and changed
 * besides; and when a unique rule would otherwise have no index.
 */
export function installing(table: AnyTable, status: TableStatus, dialect: SchemaDialect): Installing | null {
  const { stored, triggers, isSmall = false } = status;
  const plan = planInstall(table, stored ?? null);
  const { sqlName, migrations } = table;
  if (stored !== undefined && stored.migrations > migrations.length) return null;
  const totals = planTotals(table, triggers, dialect);
  const record = { name: sqlName, definition: definitionOf(table), migrations: migrations.length };
  if (plan === "create") {
    return { changes: [...creation(table, dialect), ...totals.after], record, calledOff: [] };
  }
  const found = foundOf(table, status);
  const [steps, gone] =
    plan === "keep"
      ? [[], []]
      : [plan.steps, inTheWay(table, { ...plan, drop: plan.steps.flatMap(({ drop = [] }) => drop), found })];
  const altered = steps.flatMap((step) => altering(table, step, dialect));
  const wanted = indexesOf(table, dialect);
  const calledOff = altered.length > 0 ? found.filter(isBuilt) : [];
  const left = found.filter((index) => !gone.includes(index) && !calledOff.includes(index));
  const isAtOnce = !dialect.buildsBeside || (isSmall && altered.length > 0);
  const made = wanted.filter((index) => {
    if (left.some((each) => each.name === index.name)) return false;
    return isAtOnce || (index.isUnique && !isGuarded(index, left));
  });
  const dropped = [...gone, ...calledOff, ...(isAtOnce ? unwanted(wanted, left) : [])];
  const changes = [
    ...totals.before,
    ...new Set(dropped.map((index) => `drop index if exists ${quoted(index.name)}`)),
    ...altered,
    ...(plan === "keep" ? [] : settling(table, dialect)),
    ...made.map((index) => creating(index, quoted(sqlName))),
    ...totals.after,
  ];
  if (plan === "keep" && changes.length === 0) return null;
  return { changes, record, calledOff };
}

/**
 * The next index change of a table that runs while work goes on; null when all is done, or a newer program does it.
 */
export function nextBuild(table: AnyTable, status: TableStatus, dialect: SchemaDialect): IndexChange | null {
  const { stored } = status;
  const isOurs = stored !== undefined && stored.migrations <= table.migrations.length;
  return isOurs ? nextChange(indexesOf(table, dialect), foundOf(table, status)) : null;
}

/** Creates a table with a column for the order in which its rows are inserted, and without totals. */
export function creation(
  table: TableSchema & Pick<AnyTable, "name" | "sqlName" | "settled">,
  dialect: SchemaDialect,
): readonly string[] {
  const { sqlName, columns, key } = table;
  const indexes = indexesOf(table, dialect).map((index) => creating(index, quoted(sqlName)));
  return [dialect.sequencedTable(sqlName, { columns, key: [key] }), ...settling(table, dialect), ...indexes];
}

const settling = (
  { sqlName, settled }: Pick<AnyTable, "sqlName" | "settled">,
  dialect: SchemaDialect,
): readonly string[] => (settled ? dialect.settled(sqlName) : []);

/** The changes of a migration to the columns. */
function altering(
  table: AnyTable,
  { add = {}, drop = [] }: Migration,
  dialect: SchemaDialect,
): readonly string[] {
  const alter = `alter table ${quoted(table.sqlName)}`;
  return [
    ...drop.map((field) => `${alter} drop column ${quoted(field)}`),
    ...Object.entries(add).map((column) => `${alter} add column ${adding(table, column, dialect)}`),
  ];
}

function adding(
  table: AnyTable,
  [name, value]: readonly [string, unknown],
  { types }: SchemaDialect,
): string {
  const field = fieldNamed(table, name);
  const encoded = encodeValue(field, value);
  if (encoded instanceof Uint8Array) {
    throw new TypeError(`${table.name}: ${name} cannot be added with bytes in the rows that are there`);
  }
  return `${quoted(name)} ${types[field.kind]}${field.nullable ? "" : " not null"} default ${literalOf(encoded)}`;
}
