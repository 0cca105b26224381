/** The caller's tables in PostgreSQL: how they are installed, and summed. */
import { valueName, valueOf } from "../sql/given-table.ts";
import type { DatabaseDialect } from "../sql/given-tables.ts";
import { foundOf, type InstalledTable, installedStatements, installing } from "../sql/install-statements.ts";
import { type FoundIndex, postgresSchema } from "../sql/migrations/dialect.ts";
import { type AnyRow, statement as statementOf } from "../sql/statement.ts";
import type { AnyTable } from "../table.ts";
import type { SqlCall, Database } from "./database.ts";
import { DATABASE_NOW } from "./database-clock.ts";
import { bound } from "./text.ts";

const ANY_OF = valueOf(valueName.anyOf);

export const databaseDialect = (database: Database, build?: DatabaseDialect["build"]): DatabaseDialect => ({
  read: (statement, values) => database.read(statement, values),
  ...(build === undefined ? {} : { build }),
  schema: postgresSchema,
  dialect: { now: DATABASE_NOW, isAnyOf: `= any(array(select jsonb_array_elements_text(${ANY_OF}::jsonb)))` },
  bring: (tables) =>
    database.again(() =>
      database.transaction(async (ask) => {
        await ask(`select pg_advisory_xact_lock(hashtextextended(current_schema() || '/install', 0))`);
        const [found = []] = await ask(postgresSchema.indexes.text);
        for (const table of tables) await bring(table, found as readonly FoundIndex[], ask);
      }),
    ),
  async sum({ statement: { text }, values }) {
    // numeric is exact, however large.
    const summing = statementOf<AnyRow, { count: number; total: string }>(
      `select count(*) as "count", coalesce(sum("part"), 0) as "total" from (${text}) as parts`,
    );
    const [sums] = await database.read(summing, values);
    return { count: sums?.count ?? 0, total: BigInt(sums?.total ?? 0) };
  },
});

async function bring(table: AnyTable, found: readonly FoundIndex[], ask: SqlCall): Promise<void> {
  const [rows = []] = await ask(bound(installedStatements.installed, { name: table.name }));
  const standing = { stored: rows[0] as InstalledTable | undefined, found: foundOf(table, found) };
  const plan = installing(table, standing, postgresSchema);
  if (plan !== null) await ask(...plan.changes, bound(installedStatements.record, plan.record));
}
