/** A connection to SQLite: prepared statements, and transactions that wait for their turn without blocking anyone. */
import pRetry from "p-retry";
import { type CompiledQuery, notWriting, parametersOf, QueryFailed } from "../compiled-queries.ts";
import { type SqlValue, type Statement, withPlaces } from "../sql/statement.ts";
import type { SqliteDatabase, SqliteStatement } from "./handle.ts";
import { explained, isAnothersTurn, isBusy, isUncertain } from "./explain.ts";
import type { FileGuard } from "./file-guard.ts";

/**
 * SQLite's own busy timeout sleeps inside the event loop, so it is off, and a turn is asked for again soon: often, since
 * other processes hold the lock for milliseconds, and with jitter, so that two of them do not meet again and again.
 */
const TURN = {
  retries: Infinity,
  factor: 1,
  minTimeout: 6,
  randomize: true,
  maxRetryTime: 5_000,
  shouldRetry: ({ error }: { readonly error: unknown }) => isAnothersTurn(error),
};

/**
 * SQLite plans by a number that stands alone behind `limit`, and compiles the statement again each time one is bound: ten
 * times the work of a seek. It does not look into an expression.
 */
const BOUND_LIMIT = " limit ?";

/** A statement that this connection has run before, and the values that go into its places. */
interface Prepared {
  readonly statement: SqliteStatement;
  readonly places: readonly string[];
}

/** Statements that begin and end transactions, and savepoints within them. */
const CONTROL = [
  ...(["begin immediate", "begin deferred", "commit", "rollback"] as const),
  ...(["savepoint item", "release item", "rollback to item"] as const),
];
type Control = (typeof CONTROL)[number];

/** A COMMIT failed in a way that leaves open whether it has happened. */
export class UncertainCommitError extends Error {
  override readonly name = "UncertainCommitError";

  constructor(cause: unknown) {
    super("the disk failed during a COMMIT", { cause });
  }
}

export class Connection {
  readonly #database: SqliteDatabase;
  /** Throws where the file is another. Null where the database is none of a path that was opened here. */
  readonly #guard: FileGuard | null;
  readonly #prepared = new Map<string, Prepared>();
  /** False from a commit that did not wait for the disk until the next ones do so again. */
  #isSynced = true;
  readonly #control = new Map<Control, SqliteStatement>();

  constructor(database: SqliteDatabase, guard: FileGuard | null = null) {
    this.#database = database;
    this.#guard = guard;
    for (const text of CONTROL) this.#control.set(text, database.prepare(text));
  }

  #do(text: Control): void {
    (this.#control.get(text) ?? this.#database.prepare(text)).run();
  }

  /** Answers how many rows it changed. */
  run<Values extends object>(statement: Statement<Values, unknown>, values: Values): number {
    const { statement: prepared, places } = this.#prepare(statement.text);
    return prepared.run(bound(places, values)).changes;
  }

  /** The first row. */
  get<Values extends object, Row>(statement: Statement<Values, Row>, values: Values): Row | undefined {
    const { statement: prepared, places } = this.#prepare(statement.text);
    return prepared.get(bound(places, values)) as Row | undefined;
  }

  /** All rows, as the columns lie. */
  all<Values extends object, Row>(statement: Statement<Values, Row>, values: Values): Row[] {
    const { statement: prepared, places } = this.#prepare(statement.text);
    return prepared.all(bound(places, values)) as Row[];
  }

  #prepare(text: string): Prepared {
    const known = this.#prepared.get(text);
    if (known !== undefined) return known;
    const places: string[] = [];
    const place = (name: string): string => {
      places.push(name);
      return "?";
    };
    const sql = withPlaces(text, place);
    const statement = this.#database.prepare(sql.replaceAll(BOUND_LIMIT, `${BOUND_LIMIT} + 0`));
    // A host may have set its own database to another default.
    if (statement.reader) statement.safeIntegers(false);
    const prepared = { statement, places };
    this.#prepared.set(text, prepared);
    return prepared;
  }

  /** Within `write`: a statement that is seldom carried out, such as a change of the schema. */
  change(sql: string): void {
    this.#database.prepare(sql).run();
  }

  /**
   * Within `write`: carries out a statement of the host, at this place in its list.
   * @throws QueryFailed where it cannot be, or has ended the transaction, as ROLLBACK of a conflict clause does.
   */
  query(query: CompiledQuery, place: number): void {
    const attempt = <A>(act: () => A): A => {
      try {
        return act();
      } catch (error) {
        throw isBusy(error) ? error : new QueryFailed(place, error);
      }
    };
    const statement = attempt(() => this.#database.prepare(query.sql));
    if (statement.readonly) throw notWriting(place, "one that reads");
    const parameters = [...parametersOf(query)];
    // Nobody looks at the rows: none of their numbers may be refused for its size.
    if (statement.reader) statement.safeIntegers(true);
    attempt(() => (statement.reader ? statement.all(parameters) : statement.run(parameters)));
    if (!this.#database.inTransaction) {
      throw new QueryFailed(place, new Error("it has ended the transaction of its commit"));
    }
  }

  /** Reads, again when the file is just then being recovered or closed by another process. */
  read<A>(act: () => A): Promise<A> {
    return inTurn(() => {
      this.#guard?.check();
      return act();
    });
  }

  /** Reads several things of one moment, even while other processes commit. */
  snapshot<A>(act: () => A): Promise<A> {
    return inTurn(() => {
      this.#guard?.check();
      this.#do("begin deferred");
      try {
        return act();
      } finally {
        this.#do("rollback");
      }
    });
  }

  /**
   * Runs `act` in a transaction that holds the write lock from its beginning, and resolves once it is durable. Rolled
   * back when `act` throws or `isKept` is false. `act` may run several times, so it must not count its runs.
   *
   * Where COMMIT itself fails, the transaction is taken back and has not happened; only where the disk refused a write or a
   * sync may the WAL hold all of it, for the next process to open the file: then rejects with `UncertainCommitError`.
   */
  write<A>(act: () => A, isKept: (answer: A) => boolean = () => true): Promise<A> {
    return inTurn(() => {
      this.#sync();
      return this.#transaction(act, isKept);
    });
  }

  /**
   * Like `write`, without waiting for the disk: a loss of power may take the transaction back, as long as no `write`
   * came after it. The file stays whole, and a process that ends loses nothing. For data that only matter while the
   * machine stays up: a lease ends with the power of its holder, since all processes of one file are on one machine.
   */
  writeUnsynced<A>(act: () => A): Promise<A> {
    return inTurn(() => {
      this.#isSynced = false;
      this.#database.pragma("synchronous = NORMAL");
      try {
        return this.#transaction(act, () => true);
      } finally {
        this.#trySync();
      }
    });
  }

  /** Turns syncing on again. A failure must not lose the answer of the commit. */
  #trySync(): void {
    try {
      this.#sync();
    } catch {
      // The next write tries again, and throws if it fails as well.
    }
  }

  /** From now on a commit waits for the disk. */
  #sync(): void {
    if (this.#isSynced) return;
    this.#database.pragma("synchronous = FULL");
    this.#isSynced = true;
  }

  #transaction<A>(act: () => A, isKept: (answer: A) => boolean): A {
    this.#guard?.check();
    this.#do("begin immediate");
    try {
      const answer = act();
      if (isKept(answer)) this.#commit();
      else this.#do("rollback");
      return answer;
    } catch (error) {
      if (this.#database.inTransaction) this.#do("rollback");
      throw error;
    }
  }

  #commit(): void {
    try {
      this.#do("commit");
    } catch (error) {
      throw isUncertain(error) ? new UncertainCommitError(error) : error;
    }
  }

  /** False where a statement that failed has ended the whole transaction. */
  get isInTransaction(): boolean {
    return this.#database.inTransaction;
  }

  /**
   * Within `write`: keeps the changes of `act`, or takes back only those, even when `act` throws. A full disk or a
   * failed read may end the whole transaction instead: see `isInTransaction`.
   */
  savepoint<A>(act: () => A, isKept: (answer: A) => boolean): A {
    this.#do("savepoint item");
    let kept = false;
    try {
      const answer = act();
      kept = isKept(answer);
      return answer;
    } finally {
      if (this.#database.inTransaction) this.#endSavepoint(kept);
    }
  }

  /** A savepoint that cannot be taken back alone is taken back with the whole transaction. */
  #endSavepoint(isKept: boolean): void {
    try {
      if (!isKept) this.#do("rollback to item");
      this.#do("release item");
    } catch (error) {
      if (this.#database.inTransaction) this.#do("rollback");
      throw error;
    }
  }
}

const bound = (places: readonly string[], values: object): SqlValue[] =>
  places.map((name) => (values as Readonly<Record<string, SqlValue>>)[name] as SqlValue);

/** Tries at once; only when it is another's turn, again in a few milliseconds, for five seconds at most. */
export async function inTurn<A>(act: () => A | Promise<A>): Promise<A> {
  try {
    return await act();
  } catch (error) {
    if (!isAnothersTurn(error)) throw explained(error);
  }
  try {
    return await pRetry(act, TURN);
  } catch (error) {
    throw explained(error);
  }
}
