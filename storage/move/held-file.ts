/** An SQLite database that this process alone has open: what is moved away must not change, and no service may begin on it. */
import { existsSync } from "node:fs";
import type { TableSchema } from "../install-plan.ts";
import { Connection } from "../sqlite/connection.ts";
import { codeOf, explained, isBusy } from "../sqlite/explain.ts";
import type { SqliteDatabase } from "../sqlite/handle.ts";
import { assertOurs, openExisting } from "../sqlite/existing.ts";
import { installedIn, tableNames } from "../sqlite/installed.ts";
import { moveMarkOf, type MoveRecord, MOVES, MOVES_COLUMNS } from "../sqlite/moved.ts";
import { StorageUnusable } from "../storage-unusable.ts";
import { assertNotNewer, READ_VERSION, SCHEMA } from "../sql/schema.ts";
import { quoted, statement } from "../sql/statement.ts";
import { type CopiedTable, pageOf, type StoredRow } from "./stored-rows.ts";

/** Tables that every database makes anew, or that are about this file alone. */
const OWN = new Set([SCHEMA, MOVES]);

const columnsOf = statement<{ name: string }, { name: string; pk: number }>(
  "select name, pk from pragma_table_info({name})",
);

const marking = statement<MoveRecord>(
  `insert into "${MOVES}" (id, "copy", place, state) values (1, {copy}, {place}, {state})`,
);

export class HeldFile {
  readonly path: string;
  readonly #database: SqliteDatabase;
  readonly #connection: Connection;

  private constructor(path: string, database: SqliteDatabase) {
    this.path = path;
    this.#database = database;
    this.#connection = new Connection(database);
  }

  /**
   * Opens a file and keeps every other connection away until `close`, also those that only read.
   * @throws StorageUnusable `in_use` when a process has the file open, working or not. The usual ones for a foreign file, or
   * another version.
   */
  static async open(path: string): Promise<HeldFile> {
    if (!existsSync(path)) throw new StorageUnusable("cannot_open", `there is no file ${path}`);
    const database = await openExisting(path);
    try {
      hold(database, path);
      await assertOurs(database);
      // This program would copy only a part of a newer program's rows.
      assertNotNewer(database.prepare(READ_VERSION).all() as Parameters<typeof assertNotNewer>[0]);
      return new HeldFile(path, database);
    } catch (error) {
      database.close();
      throw explained(error, path);
    }
  }

  /** The caller's tables, by their names, as they were installed. */
  installed(): ReadonlyMap<string, TableSchema> {
    const tables = installedIn(this.#connection);
    return new Map(tables.map(({ name, definition }) => [name, JSON.parse(definition) as TableSchema]));
  }

  /** The tables with rows to copy, and the names of all other tables of the file. */
  tables(wanted: ReadonlySet<string>): {
    readonly copied: readonly CopiedTable[];
    readonly left: readonly string[];
  } {
    const definitions = this.installed();
    const left = new Set(tableNames(this.#connection));
    for (const name of OWN) left.delete(name);
    const copied = [...wanted]
      .toSorted()
      .flatMap((name) => (left.delete(name) ? [this.#described(name, definitions.get(name))] : []));
    return { copied, left: [...left] };
  }

  #described(name: string, definition: TableSchema | undefined): CopiedTable {
    const columns = this.#connection.all(columnsOf, { name });
    const order = columns.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk);
    const kinds = Object.entries(definition?.columns ?? {});
    return {
      name,
      columns: columns.map((column) => column.name),
      order: order.map((column) => column.name),
      amounts: kinds.filter(([, kind]) => kind.startsWith("amount")).map(([column]) => column),
    };
  }

  /** The rows of a table in pages, each with the row before it; the last page is empty. */
  *pages(
    table: CopiedTable,
  ): Generator<{ readonly after: StoredRow | undefined; readonly rows: readonly StoredRow[] }> {
    let after: StoredRow | undefined;
    for (;;) {
      const page = pageOf(table, after);
      const rows: readonly StoredRow[] = this.#connection.all(page, page.values);
      yield { after, rows };
      after = rows.at(-1);
      if (after === undefined) return;
    }
  }

  count(tables: readonly CopiedTable[]): number {
    const counts = tables.map(({ name }) => `(select count(*) from ${quoted(name)})`);
    const counting = statement<object, { rows: number }>(`select ${["0", ...counts].join(" + ")} as rows`);
    return this.#connection.get(counting, {})?.rows ?? 0;
  }

  mark(): MoveRecord | null {
    return moveMarkOf(this.#database);
  }

  /** Durable when it returns: from then on no service begins on this file. Null where the copy is known not to be there. */
  setMark(mark: MoveRecord | null): void {
    try {
      this.#database.prepare("begin immediate").run();
      this.#connection.change(`create table if not exists "${MOVES}" (${MOVES_COLUMNS}) strict`);
      this.#connection.change(`delete from "${MOVES}"`);
      if (mark !== null) this.#connection.run(marking, mark);
      this.#database.prepare("commit").run();
    } catch (error) {
      if (this.#database.inTransaction) this.#database.prepare("rollback").run();
      throw explained(error, this.path);
    }
  }

  /** Lets others in again. The file is left as services have it. */
  close(): void {
    try {
      this.#database.pragma("locking_mode = NORMAL");
      this.#database.pragma("journal_mode = WAL");
    } catch {
      // A service sets it as well when it opens the file.
    }
    this.#database.close();
  }
}

/**
 * SQLite leaves WAL mode only while no other connection has the file open, whatever that one does: so a service that is
 * idle, or frozen, is noticed too. Without WAL the lock that is taken here keeps out readers as well. The operating system
 * takes it back when this process ends. `EXTRA`: after a loss of power the mark is still there.
 */
function hold(database: SqliteDatabase, path: string): void {
  try {
    database.pragma("busy_timeout = 0");
    database.pragma("locking_mode = EXCLUSIVE");
    database.pragma("journal_mode = DELETE");
    database.pragma("synchronous = EXTRA");
    database.prepare("begin exclusive").run();
    database.prepare("commit").run();
  } catch (error) {
    if (!isBusy(error)) throw error;
    throw new StorageUnusable(
      "in_use",
      `a process has ${path} open (${codeOf(error)}): stop every service and command that uses it, and run this again`,
      { cause: error },
    );
  }
}
