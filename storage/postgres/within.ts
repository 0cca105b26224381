/** Commits in the transaction of a host, to which they only add rows. */
import { failed } from "../commit-answers.ts";
import type { GivenTables } from "../sql/given-tables.ts";
import type { AnyCommit, CommitAnswer, HostCommit, HostTransaction } from "../storage.ts";
import { answerOf } from "./commits.ts";
import type { Database } from "./database.ts";
import type { DatabaseClock } from "./database-clock.ts";
import { functionNames } from "./functions.ts";
import { askHost } from "./host-transaction.ts";
import { GroupWrites } from "./prepare-writes.ts";
import { type CommitRows, runOf } from "./runs.ts";
import { jsonLiteral, literal } from "./text.ts";

interface HostCommitWriterParts {
  readonly schema: string;
  /** Where the storage is. */
  readonly place: Place;
  readonly tables: GivenTables;
  readonly clock: DatabaseClock;
  /** The channel on which other processes hear of the commit once the host has committed; null for none. */
  readonly wakes: string | null;
}

/** A database of a server. */
export interface Place {
  readonly database: string;
  /** Null where the server hides it. */
  readonly server: string | null;
}

/** What the database function answers; nothing where the rows were added. */
interface Told {
  readonly ended?: true;
  readonly elsewhere?: true;
  readonly refused?: string;
  readonly code?: string;
  readonly message?: string;
}

export class HostCommitWriter {
  readonly #parts: HostCommitWriterParts;

  constructor(parts: HostCommitWriterParts) {
    this.#parts = parts;
  }

  /** Rejects as the host's library does where the transaction has failed before, or its connection. */
  async commit(host: HostTransaction, item: HostCommit): Promise<CommitAnswer> {
    if ("prepare" in host) throw ofSqlite();
    const { schema, place } = this.#parts;
    // In the transaction of the second statement this number is the same, or there is none that both belong to.
    const [found] = await askHost(
      host,
      `select pg_current_xact_id()::text as transaction, current_setting('transaction_isolation') as isolation,
        current_database()::text as database, exists (
          select 1 from pg_proc p join pg_namespace n on n.oid = p.pronamespace
            where n.nspname = ${literal(schema)} and p.proname = ${literal(functionNames.within)}
              and has_schema_privilege(n.oid, 'USAGE'))::text as "isHere"`,
    );
    if (found?.["database"] !== place.database || found["isHere"] !== "true") throw elsewhere(schema);
    assertCounted(item, found["isolation"] ?? "");
    const transaction = found["transaction"] ?? "";
    const request = { ...this.#request(item), transaction, server: place.server };
    const [row] = await askHost(
      host,
      `select "${schema}".${functionNames.within}(${jsonLiteral(request)}::jsonb)::text as answer`,
    );
    return this.#answer(JSON.parse(row?.["answer"] ?? "{}") as Told);
  }

  #request(item: HostCommit): object {
    const { tables, clock, wakes } = this.#parts;
    const writes = new GroupWrites(tables, clock);
    const run = unadmitted(runOf(item, writes, clock));
    const rows = writes.locks();
    const { statements, names } = writes;
    return { run, rows, statements, names, ...(wakes !== null && { wakes }) };
  }

  #answer({ ended, elsewhere: isElsewhere, refused, code, message }: Told): CommitAnswer {
    if (ended === true) throw notOpen();
    if (isElsewhere === true) throw elsewhere(this.#parts.schema);
    if (code !== undefined) return failed(Object.assign(new Error(message), { code }));
    return refused === undefined ? { ok: true } : answerOf(refused);
  }
}

/**
 * The place of the storage, which it keeps as long as it is open. Asked for then: where the host's transactions have all
 * connections of a shared pool, a call within one may wait for no other.
 */
export async function placeOf(database: Database): Promise<Place> {
  const [[row] = []] = await database.write(
    `select current_database()::text as database, split_part(${functionNames.server}(null), '/', 1) as server`,
  );
  return row as Place;
}

/** Tasks with limits ask for room in the first claim after the COMMIT: until then nobody waits for their keys. */
function unadmitted({ arms = [], ...run }: CommitRows): CommitRows {
  const paused = arms.map((arm) => {
    const task = arm as Readonly<Record<string, unknown>>;
    return task["firstKey"] === null ? task : { ...task, admission: "paused" };
  });
  return { ...run, ...(paused.length > 0 && { arms: paused }) };
}

/** @throws TypeError where what is counted may have grown since the transaction began. */
function assertCounted({ writes = [] }: Pick<AnyCommit, "writes">, isolation: string): void {
  const isCounting = writes.some((write) => "insert" in write && write.atMost !== undefined);
  if (!isCounting || !/^(repeatable read|serializable)$/.test(isolation)) return;
  throw new TypeError(
    `within: this transaction is ${isolation} and does not see what others have added since it began, so nothing can ` +
      "be counted in it: make it read committed, or leave out atMost",
  );
}

const ofSqlite = (): TypeError =>
  new TypeError("within: this is a database of SQLite and the storage is on PostgreSQL");

const notOpen = (): TypeError =>
  new TypeError(
    "within: no transaction is open on this connection, or it has ended before the call: send BEGIN first, hand over " +
      "the connection itself and no pool, and await the call before COMMIT",
  );

const elsewhere = (schema: string): TypeError =>
  new TypeError(
    `within: this transaction is on another database than the storage, or its role may not use the schema ${schema}: ` +
      "open the storage on the host's own database",
  );
