/** The caller's tables in PostgreSQL: how they are installed, and summed. */
import { valueName, valueOf } from "../sql/given-table.ts";
import type { DatabaseDialect } from "../sql/given-tables.ts";
import { TOTALS } from "../sql/group-totals.ts";
import {
  type InstalledTable,
  installedStatements,
  installing,
  type TableStatus,
} from "../sql/install-statements.ts";
import { type FoundIndex, postgresSchema } from "../sql/dialect.ts";
import { type AnyRow, statement } from "../sql/statement.ts";
import type { FoundTrigger } from "../sql/total-triggers.ts";
import type { AnyTable } from "../table.ts";
import type { SqlCall, Database } from "./database.ts";
import { DATABASE_NOW } from "./database-clock.ts";
import { again } from "./retries.ts";
import { bound, jsonText, literal } from "./text.ts";

const ANY_OF = valueOf(valueName.anyOf);

export const databaseDialect = (database: Database, build?: DatabaseDialect["build"]): DatabaseDialect => ({
  read: (asked, values) => database.read(asked, values),
  ...(build === undefined ? {} : { build }),
  schema: postgresSchema,
  now: DATABASE_NOW,
  isAnyOf: `= any(array(select jsonb_array_elements_text(${ANY_OF}::jsonb)))`,
  json: jsonText,
  bring: (tables) =>
    again(() =>
      database.transaction(async (ask) => {
        await ask(`select pg_advisory_xact_lock(hashtextextended(current_schema() || '/install', 0))`);
        const { indexes, foundTriggers } = postgresSchema;
        const [found = [], made = [], small = []] = await ask(indexes.text, foundTriggers.text, SMALL_TABLES);
        const names = new Set(small.map((row) => (row as { readonly name: string }).name));
        const there = { found: found as readonly FoundIndex[], triggers: made as readonly FoundTrigger[] };
        for (const table of tables) await bring(table, { ...there, isSmall: names.has(table.sqlName) }, ask);
      }),
    ),
  async sum({ text, values }) {
    // numeric is exact, however large.
    const summing = statement<AnyRow, { count: number; total: string }>(
      `select count(*) as "count", coalesce(sum("part"), 0) as "total" from (${text}) as parts`,
    );
    const [sums] = await database.read(summing, values);
    return { count: sums?.count ?? 0, total: BigInt(sums?.total ?? 0) };
  },
  mend: (statements) =>
    again(() =>
      database.transaction((ask) => ask(LOCK_TOTALS, ...statements.map((each) => bound(each, each.values)))),
    ),
});

/** Waits for all that change a total, and lets them wait. */
const LOCK_TOTALS = `lock table "${TOTALS}" in share row exclusive mode`;

/** Some thousand rows: an index of them takes some milliseconds. */
const SMALL_TABLES = `select relname as name from pg_class
  where relnamespace = current_schema()::regnamespace and relkind = 'r' and pg_relation_size(oid) <= 1000000`;

async function bring(table: AnyTable, there: Omit<TableStatus, "stored">, ask: SqlCall): Promise<void> {
  const [rows = []] = await ask(bound(installedStatements.installed, { name: table.sqlName }));
  const plan = installing(table, { ...there, stored: rows[0] as InstalledTable | undefined }, postgresSchema);
  if (plan === null) return;
  const callOffs = plan.calledOff.map(({ name }) => callingOff(name));
  await ask(...callOffs, ...plan.changes, bound(installedStatements.record, plan.record));
}

/** Ends a running build, which would hold up all users of the table; those of other roles are left to their owners. */
const callingOff = (index: string): string =>
  `select pg_cancel_backend(p.pid) from pg_stat_progress_create_index p join pg_stat_activity a using (pid)
    where p.datname = current_database() and a.usename = current_user
      and p.index_relid = to_regclass(quote_ident(${literal(index)}))`;
