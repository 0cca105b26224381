/**
 * The engine's own tables, the same under the same names on each database, and what is refused of those that are there. Rows refer
 * to each other by id without foreign keys: the parts of a commit may be written in any order, and history outlives its
 * instance.
 */
import { engineTables } from "../engine-tables.ts";
import { StorageUnusable } from "../storage-unusable.ts";
import type { Column } from "../table.ts";
import type { SchemaDialect } from "./dialect.ts";
import { TOTALS, totalsTable } from "./group-totals.ts";

/** The one row of `paystateSchema`. */
interface SchemaVersion {
  readonly version: number;
  /** The version that a program must know to work beside it. */
  readonly oldest: number;
}

/** The schema that this program makes. */
const MADE: SchemaVersion = { version: 1, oldest: 1 };

export const SCHEMA = "paystateSchema";
/** The caller's tables. */
export const TABLES = "paystateTables";

/** The tables of a paystate from before the first release. */
export const UNRELEASED = "paystateMigrations";

type Tables = Readonly<
  Record<string, { readonly columns: Readonly<Record<string, Column>>; readonly key?: readonly string[] }>
>;

/** The tables that a program works with, and must find as they are here. */
const needs: Tables = {
  ...engineTables,
  [TABLES]: { columns: { name: "text", definition: "text", migrations: "integer" }, key: ["name"] },
  [TOTALS]: totalsTable,
};

export const neededTables: readonly string[] = Object.keys(needs);

/** All tables that nobody installs. */
export const schemaTables: Tables = {
  ...needs,
  [SCHEMA]: { columns: { version: "integer", oldest: "integer" }, key: ["version"] },
};

/** By table and name. */
const indexes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  paystateInstances: {
    by_workflow_status_id: "(workflow, status, id)",
    by_createdAt_id: `("createdAt", id)`,
    // Ended instances by the time of their end: an instance enters the index once, with its last step.
    finished: `("updatedAt", id) where status = 'done'`,
    children: "(parent) where parent is not null and status = 'active'",
  },
  paystateTasks: {
    // A claim seeks in the first three, one for each queue; the next has the rooms of each key. The dead are in none of them.
    steps: `(workflow, "visibleAt", seq)
      where "deadAt" is null and kind in ('timer', 'message') and (admission is null or admission = 'admitted')`,
    free: `(workflow, "visibleAt", seq)
      where "deadAt" is null and kind in ('effect', 'invocation') and "firstKey" is null`,
    limited: `(workflow, admission, "visibleAt", seq)
      where "deadAt" is null and kind in ('effect', 'invocation') and "firstKey" is not null`,
    rooms: `("firstKey", admission, "lastKey", priority desc, seq) where "deadAt" is null and "firstKey" is not null`,
    // Tasks with two limits, by the second.
    second: `("lastKey", admission) where "deadAt" is null and "lastKey" <> "firstKey"`,
    rated: `("rateKey") where "rateKey" is not null`,
    suspect: `(holder, workflow, ("aloneSince" is not null), crashes, (kind in ('effect', 'invocation')), seq)
      where "crashedAt" is not null and "deadAt" is null`,
    of_instance: "(instance, name, seq)",
    failing: `("failingSince", seq) where "failingSince" is not null and "deadAt" is null`,
    dead: `("deadAt", seq) where "deadAt" is not null`,
  },
};

/** The statements that make the schema. */
export const schemaStatements = ({ table, sequencedTable, settled }: SchemaDialect): readonly string[] => [
  ...Object.entries(schemaTables).map(([name, { columns, key = ["id"] }]) =>
    // Tasks of the same time are ordered by their arrival.
    (name === "paystateTasks" ? sequencedTable : table)(name, { columns, key }),
  ),
  // Its rows never change: its pages keep no room for that.
  ...settled("paystateHistory"),
  ...Object.entries(indexes).flatMap(([of, all]) =>
    Object.entries(all).map(([name, over]) => `create index "${of}_${name}" on "${of}" ${over}`),
  ),
  `insert into "${SCHEMA}" (version, oldest) values (${MADE.version}, ${MADE.oldest})`,
];

/** Reads the row of the schema, whose columns are others in a table of a host. */
export const READ_VERSION = `select * from "${SCHEMA}"`;

/**
 * Whether a database with these tables has the schema, of whatever version.
 * @throws StorageUnusable `old_schema` where it is one from before the first release.
 */
export function isWritten(tables: readonly string[]): boolean {
  if (tables.includes(SCHEMA)) return true;
  if (!tables.includes(UNRELEASED)) return false;
  throw new StorageUnusable(
    "old_schema",
    "this database was written by a paystate from before its first release, which cannot be read any more: " +
      "let that version finish its work, then give this one a new file or schema",
  );
}

/** The schema of a database, as far as it has one. */
export interface FoundSchema {
  readonly versions: readonly SchemaVersion[];
  /** The columns of each table. */
  readonly columns: readonly { readonly table: string; readonly column: string }[];
  /** The unique keys of each table: the names of their columns, separated by spaces. */
  readonly uniques: readonly { readonly table: string; readonly columns: string }[];
}

/**
 * Further tables, columns and indexes may exist: of a host, of an administrator, of a newer program that allows this one.
 * @throws StorageUnusable `newer_schema` when the schema excludes this program, `old_schema` when it lacks what this program uses.
 */
export function assertUsable({ versions, columns, uniques }: FoundSchema): void {
  const [row] = versions;
  if (row === undefined) throw lacking(`the table ${SCHEMA} is empty`);
  if (typeof row.version !== "number" || typeof row.oldest !== "number") {
    throw lacking(`the table ${SCHEMA} has no version`);
  }
  if (row.oldest > MADE.version) throw newerSchema(row);
  for (const [name, { columns: needed, key = ["id"] }] of Object.entries(needs)) {
    const there = new Set(columns.filter(({ table }) => table === name).map(({ column }) => column));
    const missing = Object.keys(needed).filter((column) => !there.has(column));
    if (missing.length > 0) throw lacking(`the table ${name} lacks ${missing.join(", ")}`);
    const isKey = (found: string): boolean => found.split(" ").toSorted().join() === key.toSorted().join();
    if (!uniques.some((each) => each.table === name && isKey(each.columns))) {
      throw lacking(`nothing keeps ${key.join(" and ")} unique in the table ${name}`);
    }
  }
}

/** @throws StorageUnusable `newer_schema` when a newer program made the schema, also where this program can work beside it. */
export function assertNotNewer([row]: readonly SchemaVersion[]): void {
  if (row !== undefined && row.version > MADE.version) throw newerSchema(row);
}

const newerSchema = ({ version }: SchemaVersion): StorageUnusable =>
  new StorageUnusable(
    "newer_schema",
    `this database was written by a newer paystate (schema ${version}): upgrade paystate, or restore a backup from before`,
  );

const lacking = (what: string): StorageUnusable =>
  new StorageUnusable(
    "old_schema",
    `the schema is not the one that this program uses: ${what}. It was made by another build of paystate, or changed by ` +
      "hand: use that build, undo the change, or restore a backup",
  );
