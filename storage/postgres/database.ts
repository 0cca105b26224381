/** Each transaction is one message and one round trip, with its own limits, and leaves no state in the session. */
import { type CompiledQuery, notWriting, parametersOf, QueryFailed } from "../compiled-queries.ts";
import type { Statement } from "../sql/statement.ts";
import type { PostgresClient, PostgresQuery } from "./driver.ts";
import { StorageUnusable } from "../storage-unusable.ts";
import {
  DroppedError,
  isAway,
  isEnded,
  isGone,
  isLost,
  isOtherServer,
  isUnserved,
  readOnly,
  UnsentError,
} from "./explain.ts";
import { functionNames } from "./functions.ts";
import { ENDED } from "./functions/states.ts";
import type { HostPool } from "./host-pool.ts";
import { Loan } from "./loan.ts";
import { Reads } from "./reads.ts";
import { bound, jsonLiteral, literal } from "./text.ts";

interface DatabaseOptions {
  readonly schema: string;
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
}

type Rows = readonly object[];

/** Sends statements within an open transaction. */
export type SqlCall = (...statements: readonly string[]) => Promise<readonly Rows[]>;

/** Without an answer for so much longer than a statement may take, the connection is half open. */
const overdue = (statementTimeoutMs: number): number => Math.round(statementTimeoutMs * 1.2) + 500;

/** The time limit of schema changes, in milliseconds: as long as many rows take. */
const SCHEMA_TIMEOUT_MS = 3_600_000;

interface ServerRow {
  readonly server: string | null;
  readonly follows: boolean;
}

/** How a connection goes back to its pool. */
interface Holding {
  readonly servers?: HostPool;
  /** Sent where the work has failed and the connection has not. */
  readonly rollback?: string;
  /** A statement after the work. The caller does not wait for its answer. */
  readonly behind?: string;
  /** Whether an error says nothing of the connection. */
  readonly isOfHandler?: () => boolean;
  /** Whether the pool closes the connection, and lends it to no other caller. */
  readonly isSpent?: () => boolean;
  /** Errors of a broken connection: a query of a host may fail in the driver alone, and as if it were lost. */
  readonly broken?: (error: unknown) => unknown;
}

/** Connections of pools, whose errors have a listener: without one they would end the process. */
const heard = new WeakSet<PostgresClient>();

/** Connections that went away while nothing was asked of them. */
const dead = new WeakSet<PostgresClient>();

export class Database {
  readonly #servers: HostPool;
  readonly #options: DatabaseOptions;
  readonly #head: string;
  readonly #reads: Reads;
  /** The server that is written to, and its timeline; null until that is known, and where it cannot be read. */
  #server: string | null = null;
  #mend: ((apart: Database) => Promise<void>) | null = null;
  #mending: Promise<void> | null = null;

  constructor(servers: HostPool, options: DatabaseOptions) {
    this.#servers = servers;
    this.#options = options;
    this.#reads = new Reads((texts) => this.#current(READ_ONLY, texts), Math.max(1, servers.size >> 1));
    this.#head =
      // Unless it is named, the schema of temporary tables comes first: a pool's session may have some of these names.
      `set local search_path to "${options.schema}", pg_temp;` +
      `set local statement_timeout to ${options.statementTimeoutMs};` +
      `set local lock_timeout to ${options.lockTimeoutMs};`;
  }

  /** Asked again where the connection is lost. */
  async read<Values extends object, Row>(asked: Statement<Values, Row>, values: Values): Promise<Row[]> {
    const text = bound(asked, values);
    const rows: unknown = await (asked.isNamed === true ? this.#reads.named(text) : this.#reads.alone(text));
    return rows as Row[];
  }

  get schema(): string {
    return this.#options.schema;
  }

  /** How lost tables and functions are made again, as after the promotion of a server without them. */
  mendBy(mend: (apart: Database) => Promise<void>): void {
    this.#mend = mend;
  }

  /** The identity and the timeline of the server, as of the last call; null where they cannot be read. */
  get server(): string | null {
    return this.#server;
  }

  /** Calls a function with JSON in a transaction of its own. Where another server answers than before, nothing has happened. */
  async call(name: string, request: object): Promise<unknown> {
    return this.#told(await this.#send(WRITING, this.#called(name, request)));
  }

  #called(name: string, request: object): readonly string[] {
    const known = this.#server === null ? "null" : literal(this.#server);
    return [
      `select ${functionNames.server}(${known}) as server`,
      `select ${name}(${jsonLiteral(request)}) as answer`,
    ];
  }

  #told(rows: readonly Rows[]): unknown {
    const [[here] = [], [told] = []] = rows;
    this.#server ??= (here as ServerRow).server;
    return (told as { readonly answer: unknown } | undefined)?.answer;
  }

  /**
   * Calls the function of commits, with statements of the host behind it in the same transaction, which find tables as the
   * session does.
   * Rejects with `QueryFailed` where one of them cannot be carried out, and with `DroppedError` where the connection went away
   * before COMMIT.
   */
  commitWith(request: object, queries: readonly CompiledQuery[]): Promise<unknown> {
    // A pool of the host has settings of its own, so none are reset.
    const isLasting = queries.some(({ sql }) => /set_config|advisory_lock/i.test(sql));
    return this.#mended(() => {
      let isEnding = false;
      const carriedOut = async (client: PostgresClient): Promise<unknown> => {
        const called = [KEEP_PATH, this.#head, ...this.#called(functionNames.commit, request), OWN_PATH].join(
          ";",
        );
        const all = await this.#query(client, `begin;${WRITING}${GIVEN_UP_AFTER}${called}`);
        for (const [place, query] of queries.entries()) await this.#carryOut(client, query, place);
        // They would fail at COMMIT otherwise, of which nothing is left to be told.
        await this.#query(client, "set constraints all immediate").catch(ofQuery(null));
        isEnding = true;
        await this.#query(client, "commit");
        return this.#told(all.slice(-3));
      };
      return this.#held(carriedOut, {
        rollback: isLasting ? `rollback;${UNLOCKED}` : "rollback",
        isSpent: () => isLasting && isEnding,
        broken: (error) =>
          !isEnding && (isLost(error) || error instanceof QueryFailed) ? new DroppedError(error) : error,
      });
    });
  }

  /**
   * Calls the function of commits as the last statement of a transaction in which `act` has worked on the connection, and made
   * the request.
   * The next one finds the session as it was. Rejects as `act` does, and with `DroppedError` where the connection went away
   * before the request was sent.
   * @param mark Tells the transaction from those that `act` may have begun.
   * @throws TypeError where `act` has ended the transaction, or its isolation is another.
   */
  async commitBehind(
    servers: HostPool,
    mark: string,
    act: (client: PostgresClient) => Promise<object>,
  ): Promise<unknown> {
    const loan = new Loan();
    const worked = async (client: PostgresClient): Promise<unknown> => {
      await this.#query(client, `begin;${WRITING}set local ${MARK} to ${literal(mark)};${ABANDONED_AFTER}`);
      const request = await loan.of(client, act);
      if (dead.has(client)) throw new DroppedError(null);
      const called = [
        standing(mark),
        UNSET,
        `${this.#head}select 1`,
        ...this.#called(functionNames.commit, request),
        "commit",
      ];
      const all = await this.#query(client, called.join(";"));
      return this.#told(all.slice(-3));
    };
    try {
      return await this.#held(worked, {
        servers,
        rollback: `rollback;${UNSET};${CLEARED}`,
        // Behind the COMMIT, for which the locks may have been taken.
        behind: CLEARED,
        isOfHandler: () => loan.hasFailed,
        isSpent: () => loan.isStray,
      });
    } catch (error) {
      throw !loan.hasFailed && isEnded(error) ? notStanding(error) : error;
    }
  }

  async #carryOut(client: PostgresClient, query: CompiledQuery, place: number): Promise<void> {
    const sent = {
      text: query.sql,
      // In a message of this mode the server takes no second statement.
      values: [...parametersOf(query)],
      queryMode: "extended" as const,
      types,
      query_timeout: overdue(this.#options.statementTimeoutMs),
    };
    const result = await client.query(sent).catch(ofQuery(place));
    const { command = "" } = Array.isArray(result) ? {} : result;
    // A statement that begins with `with` may end as one that reads.
    if (!/^(INSERT|UPDATE|DELETE|MERGE|SELECT)$/.test(command)) throw notWriting(place, command);
  }

  /** A server with a lower timeline was left behind by a promotion: nothing is written to it. Another one is used from now on. */
  #met(refusal: unknown): unknown {
    if (!isOtherServer(refusal)) return refusal;
    if (this.#isLeftBehind(refusal.message)) return leftBehind();
    this.#server = refusal.message;
    return refusal;
  }

  #isLeftBehind(here: string): boolean {
    const [id, timeline] = here.split("/");
    const [knownId, knownTimeline] = (this.#server ?? "").split("/");
    return id === knownId && Number(timeline) < Number(knownTimeline);
  }

  /** Statements that are one transaction. Rejects as the driver does. */
  write(...statements: readonly string[]): Promise<readonly Rows[]> {
    return this.#send(WRITING, statements);
  }

  /** Like `write`, for statements whose answer counts: a server that was left behind knows nothing of later commits. */
  decide(...statements: readonly string[]): Promise<readonly Rows[]> {
    return this.#current(WRITING, statements);
  }

  /** A server that takes no writes may lack acknowledged commits, and is refused; and one that was left behind. */
  async #current(mode: string, statements: readonly string[]): Promise<readonly Rows[]> {
    const follows = this.#servers.areSeveral ? "pg_is_in_recovery()" : "false";
    const which = `select ${functionNames.server}(null) as server, ${follows} as follows`;
    const [, ...rows] = await this.#send(mode, [which, ...statements], ([row]) => {
      const { server, follows: isStandby } = row as ServerRow;
      if (isStandby) throw readOnly();
      if (server !== null && this.#isLeftBehind(server)) throw leftBehind();
    });
    return rows;
  }

  /** A transaction of several messages that changes the schema, or fills it; kept when `act` resolves, taken back when it rejects. */
  transaction<A>(act: (ask: SqlCall) => Promise<A>): Promise<A> {
    const begin = `begin;${WRITING}${GIVEN_UP_AFTER}${this.#head}set local statement_timeout to ${SCHEMA_TIMEOUT_MS}`;
    const changed = async (client: PostgresClient): Promise<A> => {
      await this.#query(client, begin);
      const answer = await act((...statements) =>
        this.#query(client, statements.join(";"), SCHEMA_TIMEOUT_MS),
      );
      await this.#query(client, "commit");
      return answer;
    };
    return this.#held(changed, { rollback: "rollback" });
  }

  /** @param check Looks at the first rows while the connection is held. */
  #send(
    mode: string,
    statements: readonly string[],
    check?: (first: Rows) => void,
  ): Promise<readonly Rows[]> {
    const sent = async (client: PostgresClient): Promise<readonly Rows[]> => {
      const all = await this.#query(client, `${mode}${this.#head}${statements.join(";")}`);
      const rows = all.slice(-statements.length);
      check?.(rows[0] ?? []);
      return rows;
    };
    return this.#mended(() => this.#held(sent));
  }

  /** Once more where tables or functions of the engine were gone. */
  async #mended<A>(act: () => Promise<A>): Promise<A> {
    try {
      return await act();
    } catch (error) {
      if (!isGone(error) || this.#mend === null) throw error;
      this.#mending ??= this.#mend(new Database(this.#servers, this.#options)).finally(
        () => (this.#mending = null),
      );
      await this.#mending;
    }
    return act();
  }

  /** Works on a connection, and gives it back: the last message shows whether it still works. */
  async #held<A>(work: (client: PostgresClient) => Promise<A>, holding: Holding = {}): Promise<A> {
    const { servers = this.#servers, rollback, behind, broken = (error) => error } = holding;
    const client = await this.#connect(servers);
    const givenBack = async (last: string | undefined, isLostBefore = false): Promise<boolean> => {
      const isBroken =
        last === undefined || isLostBefore
          ? isLostBefore
          : await this.#query(client, last).then(
              () => false,
              () => true,
            );
      client.release(isBroken || holding.isSpent?.() === true);
      return isBroken;
    };
    try {
      const answer = await work(client);
      void givenBack(behind);
      return answer;
    } catch (thrown) {
      if (holding.isOfHandler?.() === true) {
        await givenBack(rollback);
        throw thrown;
      }
      const error = this.#met(thrown);
      if (isAway(error)) servers.leave(client);
      throw (await givenBack(rollback, isLost(error))) ? broken(error) : error;
    }
  }

  async #connect(servers: HostPool): Promise<PostgresClient> {
    const client = await servers.connect().catch((error: unknown) => {
      throw isLost(error) || isUnserved(error) ? new UnsentError(error) : error;
    });
    if (!heard.has(client)) {
      heard.add(client);
      // The next question notices whatever it says while idle.
      client.on("error", () => void dead.add(client));
    }
    return client;
  }

  async #query(
    client: PostgresClient,
    text: string,
    timeoutMs = this.#options.statementTimeoutMs,
  ): Promise<readonly Rows[]> {
    const query: PostgresQuery = { text, types, query_timeout: overdue(timeoutMs) };
    const results = await client.query(query);
    return (Array.isArray(results) ? results : [results]).map(({ rows }) => rows);
  }
}

const leftBehind = (): UnsentError =>
  new UnsentError(
    new StorageUnusable(
      "unavailable",
      "this server was the primary before another one was promoted: see that the URL leads to the one that is",
    ),
  );

/** One state of the database, and bytes in hex: a role or a database may be set to another default. */
const READ_ONLY = "set transaction isolation level repeatable read, read only;set local bytea_output to hex;";

/** A statement sees what it waited for: at a higher isolation, a read behind a lock would show the state before. */
const WRITING = "set transaction isolation level read committed;";

/** The path of the session, by which the host names its tables: it is set aside, and comes back behind the engine's own rows. */
const KEEP_PATH = "select set_config('paystate.path', current_setting('search_path'), true)";
const OWN_PATH = "select set_config('search_path', current_setting('paystate.path'), true)";

/** Errors of a machine that is gone between two messages. */
const GIVEN_UP_AFTER = "set local idle_in_transaction_session_timeout to 10000;";

/** A handler may wait for something; a machine that is gone must not keep its locks. */
const ABANDONED_AFTER = "set local idle_in_transaction_session_timeout to 60000;";

/** A setting of the transaction alone: it ends with it. */
const MARK = "paystate.transact";

/** Settings that a handler has made for its session do not reach the next handler, nor the engine's own statements. */
const UNSET = "reset session authorization;reset role;reset all";
const UNLOCKED = "select pg_advisory_unlock_all()";

/** Statements that a driver has prepared stay: it takes them for there. */
const UNPREPARED = `do $prepared$ declare made text; begin
    for made in select name from pg_prepared_statements where from_sql loop execute format('deallocate %I', made); end loop;
  end $prepared$`;

/** The session of a handler ends with it: another handler would meet its temporary tables, or write to them. */
const CLEARED = [UNLOCKED, UNPREPARED, "close all", "unlisten *", "discard temp"].join(";");

/** Counting, as for limits, needs to see what others have committed since the transaction began. */
const standing = (mark: string): string =>
  `do $standing$ begin
    if current_setting('${MARK}', true) is distinct from ${literal(mark)} then
      raise exception using errcode = '${ENDED}', message = 'it has ended the transaction itself, and what it did may stand';
    elsif current_setting('transaction_isolation') <> 'read committed' then
      raise exception using errcode = '${ENDED}', message = 'it has set another isolation than read committed';
    end if; end $standing$`;

const notStanding = (error: Error): TypeError =>
  new TypeError(
    `transact: ${error.message}: leave BEGIN, COMMIT, ROLLBACK and the isolation to the engine, throw to take back, and lock ` +
      "rows that must not change with FOR UPDATE",
    { cause: error },
  );

const ofQuery =
  (place: number | null) =>
  (error: unknown): never => {
    throw new QueryFailed(place, error);
  };

const asText = (text: string): string => text;
const asBytes = (text: string): Buffer => Buffer.from(text.slice(2), "hex");
const asJson = (text: string): unknown => JSON.parse(text) as unknown;

/** Parsers by PostgreSQL's types: bool, bytea, int8, int2, int4, json, jsonb. Times and counts are safe integers. */
const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text: string) => text === "t",
  17: asBytes,
  20: Number,
  21: Number,
  23: Number,
  114: asJson,
  3802: asJson,
};

const types = { getTypeParser: (oid: number) => parsers[oid] ?? asText };
