/** The target of a move: a schema of PostgreSQL that is made, filled and read back in one transaction. */
import type { TableSchema } from "../install-plan.ts";
import { creation } from "../sql/install-statements.ts";
import { postgresSchema } from "../sql/dialect.ts";
import { MOVES, MOVES_COLUMNS } from "../sqlite/moved.ts";
import type { Database, SqlCall } from "../postgres/database.ts";
import { assertServer, bringUp, lockSchema } from "../postgres/prepare-schema.ts";
import { bound, literal } from "../postgres/text.ts";
import { listed, quoted, type SqlValue } from "../sql/statement.ts";
import { type CopiedTable, pageOf, type StoredRow } from "./stored-rows.ts";

export class FilledSchema {
  readonly #ask: SqlCall;
  readonly #schema: string;

  private constructor(ask: SqlCall, schema: string) {
    this.#ask = ask;
    this.#schema = schema;
  }

  /**
   * One transaction, which waits for a concurrent move or start on this schema.
   * @throws StorageUnusable `server_too_old` or `wrong_encoding`.
   */
  static within<A>(database: Database, act: (filled: FilledSchema) => Promise<A>): Promise<A> {
    return database.transaction(async (ask) => {
      await assertServer(ask);
      await lockSchema(ask, database.schema);
      return act(new FilledSchema(ask, database.schema));
    });
  }

  /** The names of the existing tables; empty when the schema does not exist. */
  async present(): Promise<ReadonlySet<string>> {
    const [rows = []] = await this.#ask(
      `select tablename as name from pg_tables where schemaname = ${literal(this.#schema)}`,
    );
    return new Set((rows as readonly { readonly name: string }[]).map(({ name }) => name));
  }

  /** The name of the copy in this schema; null without a copy. */
  async arrived(): Promise<string | null> {
    if (!(await this.present()).has(MOVES)) return null;
    const [rows = []] = await this.#ask(`select "copy" from "${MOVES}" where state = 'arrived'`);
    return (rows[0] as { readonly copy: string } | undefined)?.copy ?? null;
  }

  /** Makes the schema with the engine's tables, and those of the caller as they are installed in the source. */
  async make(installed: ReadonlyMap<string, TableSchema>): Promise<void> {
    await bringUp(this.#ask, this.#schema);
    for (const [name, definition] of installed) {
      await this.#ask(...creation({ name, sqlName: name, settled: false, ...definition }, postgresSchema));
    }
  }

  /** Adds rows as they lie in the source, places in the order of insertion included. */
  async add({ name, columns }: CopiedTable, rows: readonly StoredRow[]): Promise<void> {
    const into = `insert into ${quoted(name)} (${listed(columns)}) overriding system value`;
    const values = rows.map((row) => `(${columns.map((column) => kept(name, row[column])).join(", ")})`);
    await this.#ask(`${into} values ${values.join(", ")}`);
  }

  /** Later inserts get places behind this last row, and the planner learns the size of the table. */
  async finish({ name }: CopiedTable, last: StoredRow | undefined): Promise<void> {
    if (last !== undefined && "seq" in last) {
      const seq = literal(last["seq"] ?? null);
      await this.#ask(`select setval(pg_get_serial_sequence(${literal(quoted(name))}, 'seq'), ${seq})`);
    }
    await this.#ask(`analyze ${quoted(name)}`);
  }

  async page(table: CopiedTable, after: StoredRow | undefined): Promise<readonly StoredRow[]> {
    const page = pageOf(table, after);
    const [rows = []] = await this.#ask(bound(page, page.values));
    return rows as readonly StoredRow[];
  }

  /** Marks the schema as a complete copy, in the transaction that completes it. Returns the name of the copy. */
  async markArrived(from: string): Promise<string> {
    const [, rows = []] = await this.#ask(
      `create table "${MOVES}" (${MOVES_COLUMNS})`,
      `insert into "${MOVES}" (id, "copy", place, state)
        values (1, gen_random_uuid()::text, ${literal(from)}, 'arrived') returning "copy"`,
    );
    return (rows[0] as { readonly copy: string }).copy;
  }
}

/** A text with a NUL character is the one thing that SQLite keeps and PostgreSQL does not. */
function kept(table: string, value: SqlValue | undefined): string {
  try {
    return literal(value ?? null);
  } catch (error) {
    throw new TypeError(`${table}: ${(error as TypeError).message}`, { cause: error });
  }
}
