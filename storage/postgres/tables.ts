/** The caller's tables in PostgreSQL: installed, read, and their writes made ready for a commit. */
import type { AnyQuery } from "../query.ts";
import { decodeRow } from "../sql/codecs.ts";
import { GivenTables } from "../sql/given-table.ts";
import { type InstalledTable, installedStatements, installing } from "../sql/install-statements.ts";
import { postgresSchema } from "../sql/migrations/dialect.ts";
import { type AnyRow, type Statement, statement as statementOf } from "../sql/statement.ts";
import type { Tallied } from "../storage.ts";
import type { AnyTable } from "../table.ts";
import type { Ask, Database } from "./database.ts";
import { DATABASE_NOW } from "./database-clock.ts";
import { bound } from "./text.ts";

export class Tables {
  /** What is installed, for commits. */
  readonly given = new GivenTables(DATABASE_NOW);
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Asks for the lock on installing only when there is something to do, and looks again when it has it. */
  async install(tables: readonly AnyTable[]): Promise<void> {
    const stored = await Promise.all(
      tables.map(({ name }) => this.#database.read(installedStatements.installed, { name })),
    );
    const isDone = tables.every(
      (table, index) => installing(table, stored[index]?.[0] ?? null, postgresSchema) === null,
    );
    if (!isDone) {
      await this.#database.again(() =>
        this.#database.transaction(async (ask) => {
          await ask(`select pg_advisory_xact_lock(hashtextextended(current_schema() || '/install', 0))`);
          for (const table of tables) await this.#bring(table, ask);
        }),
      );
    }
    for (const table of tables) this.given.add(table);
  }

  async #bring(table: AnyTable, ask: Ask): Promise<void> {
    const [rows = []] = await ask(bound(installedStatements.installed, { name: table.name }));
    const plan = installing(table, (rows[0] as InstalledTable | undefined) ?? null, postgresSchema);
    if (plan === null) return;
    await ask(...plan.changes, bound(installedStatements.record, plan.record));
  }

  /** One record, or null. */
  async get({ name }: AnyTable, key: string): Promise<object | null> {
    const given = this.given.of(name);
    const { statement, values } = given.get(key);
    const [row] = await this.#database.read(statement, values);
    return row === undefined ? null : decodeRow(given.table, row);
  }

  async find(query: AnyQuery): Promise<object[]> {
    const given = this.given.of(query.table.name);
    const { statement, values } = given.find(query);
    const rows = await this.#database.read(statement, values);
    return rows.map((row) => decodeRow(given.table, row));
  }

  async tally(query: AnyQuery): Promise<Tallied> {
    const { statement, values } = this.given.of(query.table.name).tally(query);
    if (query.sum === undefined) {
      const [row] = await this.#database.read(statement, values);
      return { count: row?.count ?? 0, total: 0n };
    }
    const [sums] = await this.#database.read(summing(statement), values);
    return { count: sums?.count ?? 0, total: BigInt(sums?.total ?? 0) };
  }
}

/** The statement that adds up what another lists: numeric is exact, however large. */
const summing = ({ text }: Statement<AnyRow, unknown>) =>
  statementOf<AnyRow, { count: number; total: string }>(
    `select count(*) as "count", coalesce(sum("part"), 0) as "total" from (${text}) as parts`,
  );
