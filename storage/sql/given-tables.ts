/** The tables of the caller in a database: installed and read, the same on every one. Adapters write to them in their own ways. */
import { NotInstalled } from "../install-plan.ts";
import type { EngineStorage, RowQuery, TallyResult, Tally } from "../storage.ts";
import type { AnyTable } from "../table.ts";
import { decodeRow } from "./codecs.ts";
import { GivenTable, type Part, type TableDialect } from "./given-table.ts";
import { totalIn } from "./group-totals.ts";
import { installing, nextBuild, standings } from "./install-statements.ts";
import type { SchemaDialect } from "./dialect.ts";
import type { BoundStatement, StatementReader } from "./statement.ts";

/** Acts that differ between databases. */
export interface DatabaseDialect extends TableDialect {
  readonly read: StatementReader;
  readonly schema: SchemaDialect;
  /** Installs tables in one transaction that excludes concurrent installations. */
  readonly bring: (tables: readonly AnyTable[]) => Promise<unknown>;
  /** Builds missing indexes of the tables, while work goes on. */
  readonly build?: (tables: readonly AnyTable[]) => void;
  /** Counts and adds up the parts that a statement lists. */
  readonly sum: (parts: BoundStatement<Part>) => Promise<TallyResult>;
  /** Carries out statements that mend a total, in one transaction that other changes of the total wait for. */
  readonly mend: (statements: readonly BoundStatement[]) => Promise<unknown>;
}

export class GivenTables implements Pick<EngineStorage, "install" | "find" | "tally"> {
  readonly #acts: DatabaseDialect;
  readonly #tables = new Map<string, GivenTable>();

  constructor(acts: DatabaseDialect) {
    this.#acts = acts;
  }

  /** @throws NotInstalled when the table is none that was installed. */
  of(name: string): GivenTable {
    const table = this.#tables.get(name);
    if (table === undefined) throw new NotInstalled(name);
    return table;
  }

  /** Asks for a lock only when there is something to do. */
  async install(tables: readonly AnyTable[]): Promise<void> {
    const { read, schema, bring, build } = this.#acts;
    const there = await standings(read, tables, schema);
    if (there.some(([table, standing]) => installing(table, standing, schema) !== null)) await bring(tables);
    if (there.some(([table, standing]) => nextBuild(table, standing, schema) !== null)) build?.(tables);
    for (const table of tables) this.#tables.set(table.name, new GivenTable(table, this.#acts));
  }

  /** The tables that were installed. */
  all(): readonly AnyTable[] {
    return [...this.#tables.values()].map(({ table }) => table);
  }

  async find<R extends object>(query: RowQuery<R>): Promise<readonly R[]> {
    const given = this.of(query.table.name);
    const rows = await this.#read(query.key === undefined ? given.find(query) : given.get(query.key));
    return rows.map((row) => decodeRow(given.table, row) as R);
  }

  async tally<R extends object>(query: Tally<R>): Promise<TallyResult> {
    const given = this.of(query.table.name);
    const mending = query.recount === true ? given.mending(query) : null;
    if (mending !== null) await this.#acts.mend(mending);
    const kept = given.total(query);
    if (kept === null && query.sum !== undefined) return this.#acts.sum(given.parts(query, query.sum));
    const [row = { count: 0 }] = await this.#read(kept ?? given.count(query));
    return { count: row.count, total: query.sum === undefined ? 0n : totalIn(row) };
  }

  #read<Row>(statement: BoundStatement<Row>): Promise<Row[]> {
    return this.#acts.read(statement, statement.values);
  }
}
