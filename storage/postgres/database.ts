/** Each transaction is one message and one round trip, with its own limits, and leaves no state in the session. */
import pRetry from "p-retry";
import { type CompiledQuery, notWriting, parametersOf, QueryFailed } from "../compiled-queries.ts";
import type { Statement } from "../sql/statement.ts";
import type { PostgresClient, PostgresQuery } from "./driver.ts";
import { StorageUnusable } from "../storage-unusable.ts";
import {
  DroppedError,
  explained,
  isAway,
  isEnded,
  isGone,
  isLost,
  isOtherServer,
  isRace,
  isUnserved,
  lost,
  readOnly,
  UnsentError,
} from "./explain.ts";
import { functionNames } from "./functions.ts";
import { ENDED } from "./functions/states.ts";
import { LentClient } from "./lent-client.ts";
import { bound, jsonLiteral, literal } from "./text.ts";

interface Limits {
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
}

type Rows = readonly object[];

/** Sends statements within an open transaction. */
export type SqlCall = (...statements: readonly string[]) => Promise<readonly Rows[]>;

/** Retries for a server that is away, and may be back soon. */
export const SOON = { retries: Infinity, factor: 1.5, minTimeout: 20, maxTimeout: 500, randomize: true };

/** The server is asked again for so long after a connection was lost: about what a restart takes. */
const AGAIN = { ...SOON, maxRetryTime: 10_000 };

/** Two transactions that met are tried again soon. */
const RACES = { retries: 8, factor: 2, minTimeout: 2, maxTimeout: 100, randomize: true };

/** Without an answer for so much longer than a statement may take, the connection is half open. */
const overdue = (statementTimeoutMs: number): number => Math.round(statementTimeoutMs * 1.2) + 500;

/** The time limit of schema changes, in milliseconds: as long as many rows take. */
const SCHEMA_TIMEOUT_MS = 3_600_000;

export interface ConnectionSource {
  connect(): Promise<PostgresClient>;
  /** Whether a second server may take writes when the present server does not. */
  readonly areSeveral?: boolean;
  /** The server of this connection takes no writes, or was left behind. */
  leave?(client: PostgresClient): void;
}

interface ServerRow {
  readonly server: string | null;
  readonly follows?: boolean;
}

type Check = (row: ServerRow) => void;

/** A function that is called in a transaction with a mark, which tells it from those that its user may have begun. */
interface MarkedCall {
  readonly name: string;
  readonly mark: string;
}

interface Read {
  readonly text: string;
  readonly resolve: (rows: Rows) => void;
  readonly reject: (error: unknown) => void;
}

/** Connections of pools, whose errors have a listener: without one they would end the process. */
const heard = new WeakSet<PostgresClient>();

/** Connections that went away while nothing was asked of them. */
const dead = new WeakSet<PostgresClient>();

const TOGETHER = 64;

export class Database {
  readonly #servers: ConnectionSource;
  readonly #limits: Limits;
  readonly #head: string;
  #reads: Read[] = [];
  /** The server that is written to, and its timeline; null until that is known, and where it cannot be read. */
  #server: string | null = null;
  #mend: (() => Promise<void>) | null = null;
  #mending: Promise<void> | null = null;

  constructor(servers: ConnectionSource, schema: string, limits: Limits) {
    this.#servers = servers;
    this.#limits = limits;
    this.#head =
      // Unless it is named, the schema of temporary tables comes first: a pool's session may have some of these names.
      `set local search_path to "${schema}", pg_temp;` +
      `set local statement_timeout to ${limits.statementTimeoutMs};` +
      `set local lock_timeout to ${limits.lockTimeoutMs};`;
  }

  /** Those of one turn of the event loop are one message, and see one state. Asked again where the connection is lost. */
  read<Values extends object, Row>(statement: Statement<Values, Row>, values: Values): Promise<Row[]> {
    return new Promise<Rows>((resolve, reject) => {
      const text = bound(statement, values);
      if (this.#reads.length === 0) setImmediate(() => void this.#flush());
      this.#reads.push({ text, resolve, reject });
    }) as Promise<unknown> as Promise<Row[]>;
  }

  async #flush(): Promise<void> {
    const reads = this.#reads;
    this.#reads = [];
    for (let first = 0; first < reads.length; first += TOGETHER) {
      const batch = reads.slice(first, first + TOGETHER);
      void this.#readTogether(batch);
    }
  }

  async #readTogether(batch: readonly Read[]): Promise<void> {
    try {
      const rows = await this.again(() => this.#read(batch.map(({ text }) => text)));
      batch.forEach(({ resolve }, index) => resolve(rows[index] ?? []));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  /** Of several servers one that takes no writes may lack acknowledged commits, and is refused. */
  async #read(texts: readonly string[]): Promise<readonly Rows[]> {
    const follows = this.#servers.areSeveral === true ? "pg_is_in_recovery()" : "false";
    const which = `select ${functionNames.server}(null) as server, ${follows} as follows`;
    const [, ...rows] = await this.#send(READ_ONLY, [which, ...texts], (row) => this.#assertCurrent(row));
    return rows;
  }

  /** How lost tables and functions are made again, as after the promotion of a server without them: over a second `Database`. */
  mendBy(mend: () => Promise<void>): void {
    this.#mend = mend;
  }

  /** The identity and the timeline of the server, as of the last call; null where they cannot be read. */
  get server(): string | null {
    return this.#server;
  }

  /** Calls a function with JSON in a transaction of its own. Where another server answers than before, nothing has happened. */
  async call(name: string, request: object): Promise<unknown> {
    const [[here] = [], [told] = []] = await this.#send(WRITING, this.#called(name, request));
    return this.#told(here, told);
  }

  #called(name: string, request: object): readonly string[] {
    const known = this.#server === null ? "null" : literal(this.#server);
    return [
      `select ${functionNames.server}(${known}) as server`,
      `select ${name}(${jsonLiteral(request)}) as answer`,
    ];
  }

  #told(here: object | undefined, told: object | undefined): unknown {
    this.#server ??= (here as { readonly server: string | null }).server;
    return (told as { readonly answer: unknown } | undefined)?.answer;
  }

  /**
   * Like `call`, with statements of the host behind it in the same transaction, which find tables as the session does.
   * Rejects with `QueryFailed` where one of them cannot be carried out, and with `DroppedError` where the connection went away
   * before COMMIT.
   */
  callWith(name: string, request: object, queries: readonly CompiledQuery[]): Promise<unknown> {
    return this.#mended(async () => {
      const client = await this.#connect();
      let isEnding = false;
      try {
        const called = [KEEP_PATH, this.#head, ...this.#called(name, request), OWN_PATH].join(";");
        const all = await this.#query(client, `begin;${WRITING}${GIVEN_UP_AFTER}${called}`);
        const [[here] = [], [told] = []] = all.slice(-3);
        for (const [place, query] of queries.entries()) await this.#carryOut(client, query, place);
        // They would fail at COMMIT otherwise, of which nothing is left to be told.
        await this.#query(client, "set constraints all immediate").catch(ofQuery(null));
        isEnding = true;
        await this.#query(client, "commit");
        client.release(isLasting(queries));
        return this.#told(here, told);
      } catch (thrown) {
        const error = this.#met(thrown);
        const isBroken = await this.#end(
          client,
          error,
          isLasting(queries) ? `rollback;${UNLOCKED}` : "rollback",
        );
        const isDropped = isBroken && !isEnding && (isLost(error) || error instanceof QueryFailed);
        throw isDropped ? new DroppedError(error) : error;
      }
    });
  }

  /**
   * Like `call`, as the last statement of a transaction in which `act` has worked on the connection, and made the request.
   * The next one finds the session as it was. Rejects as `act` does, and with `DroppedError` where the connection went away
   * before the request was sent. @throws TypeError where `act` has ended the transaction, or its isolation is another.
   */
  async callBehind(
    servers: ConnectionSource,
    { name, mark }: MarkedCall,
    act: (client: PostgresClient) => Promise<object>,
  ): Promise<unknown> {
    const client = await this.#connect(servers);
    const loan = new LentClient(client);
    try {
      await this.#query(client, `begin;${WRITING}set local ${MARK} to ${literal(mark)};${ABANDONED_AFTER}`);
      const request = await loan.to(act);
      if (dead.has(client)) throw new DroppedError(null);
      const called = [
        standing(mark),
        UNSET,
        `${this.#head}select 1`,
        ...this.#called(name, request),
        "commit",
      ];
      const all = await this.#query(client, called.join(";"));
      const [[here] = [], [told] = []] = all.slice(-3);
      // Behind the COMMIT, for which the locks may have been taken; nobody waits for this answer.
      void this.#giveBack(client, loan, UNLOCKED);
      return this.#told(here, told);
    } catch (thrown) {
      if (loan.hasFailed) {
        await this.#giveBack(client, loan, `rollback;${UNSET};${UNLOCKED}`);
        throw thrown;
      }
      const error = this.#met(thrown);
      if (isAway(error)) servers.leave?.(client);
      if (isLost(error)) client.release(true);
      else await this.#giveBack(client, loan, `rollback;${UNSET};${UNLOCKED}`);
      throw isEnded(error) ? notStanding(error) : error;
    }
  }

  /** Gives back the connection of a handler behind this last message, which shows that the connection still works. */
  async #giveBack(client: PostgresClient, loan: LentClient, last: string): Promise<void> {
    const works = await this.#query(client, last).then(
      () => true,
      () => false,
    );
    client.release(!works || loan.isStray);
  }

  async #carryOut(client: PostgresClient, query: CompiledQuery, place: number): Promise<void> {
    const sent = {
      text: query.sql,
      // In a message of this mode the server takes no second statement.
      values: [...parametersOf(query)],
      queryMode: "extended" as const,
      types,
      query_timeout: overdue(this.#limits.statementTimeoutMs),
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
  async decide(...statements: readonly string[]): Promise<readonly Rows[]> {
    const which = `select ${functionNames.server}(null) as server`;
    const asked = [which, ...statements];
    const [, ...rows] = await this.#send(WRITING, asked, (row) => this.#assertCurrent(row));
    return rows;
  }

  /** @throws What a server says that takes no writes, or was left behind. */
  #assertCurrent({ server, follows = false }: ServerRow): void {
    if (follows) throw readOnly();
    if (server !== null && this.#isLeftBehind(server)) throw leftBehind();
  }

  /** A transaction of several messages that changes the schema, or fills it; kept when `act` resolves, taken back when it rejects. */
  async transaction<A>(act: (ask: SqlCall) => Promise<A>): Promise<A> {
    const client = await this.#connect();
    try {
      await this.#query(
        client,
        `begin;${WRITING}${GIVEN_UP_AFTER}${this.#head}set local statement_timeout to ${SCHEMA_TIMEOUT_MS}`,
      );
      const answer = await act((...statements) =>
        this.#query(client, statements.join(";"), SCHEMA_TIMEOUT_MS),
      );
      await this.#query(client, "commit");
      client.release();
      return answer;
    } catch (error) {
      await this.#end(client, error, "rollback");
      throw error;
    }
  }

  /** Tries again what may be done twice, while the server is away or another transaction is in the way. */
  async again<A>(act: () => Promise<A>): Promise<A> {
    try {
      return await this.raced(act);
    } catch (error) {
      if (!isAgain(error)) throw explained(error);
    }
    try {
      return await pRetry(() => this.raced(act), { ...AGAIN, shouldRetry: ({ error }) => isAgain(error) });
    } catch (error) {
      throw lost(error);
    }
  }

  /** Tries again what the server took back because of another transaction. Rejects as the driver does. */
  async raced<A>(act: () => Promise<A>): Promise<A> {
    try {
      return await act();
    } catch (error) {
      if (!isRace(error)) throw error;
    }
    return pRetry(act, { ...RACES, shouldRetry: ({ error }) => isRace(error) });
  }

  /** @param check Looks at the first row while the connection is held. */
  #send(mode: string, statements: readonly string[], check?: Check): Promise<readonly Rows[]> {
    return this.#mended(() => this.#sendOnce(mode, statements, check));
  }

  /** Once more where tables or functions of the engine were gone. */
  async #mended<A>(act: () => Promise<A>): Promise<A> {
    try {
      return await act();
    } catch (error) {
      if (!isGone(error) || this.#mend === null) throw error;
      this.#mending ??= this.#mend().finally(() => (this.#mending = null));
      await this.#mending;
    }
    return act();
  }

  async #sendOnce(mode: string, statements: readonly string[], check?: Check): Promise<readonly Rows[]> {
    const client = await this.#connect();
    try {
      const all = await this.#query(client, `${mode}${this.#head}${statements.join(";")}`);
      const rows = all.slice(-statements.length);
      check?.(rows[0]?.[0] as ServerRow);
      client.release();
      return rows;
    } catch (thrown) {
      const error = this.#met(thrown);
      await this.#end(client, error);
      throw error;
    }
  }

  async #connect(servers = this.#servers): Promise<PostgresClient> {
    const client = await servers.connect().catch((error: unknown) => {
      throw isLost(error) || isUnserved(error) ? new UnsentError(error) : error;
    });
    if (!heard.has(client)) {
      heard.add(client);
      // What it says while nothing is asked of it is found out at the next question.
      client.on("error", () => void dead.add(client));
    }
    return client;
  }

  /** Answers whether the connection is broken: a query of a host may fail in the driver alone, and as if it were lost. */
  async #end(client: PostgresClient, error: unknown, rollback?: string): Promise<boolean> {
    let isBroken = isLost(error);
    if (isAway(error)) this.#servers.leave?.(client);
    if (rollback !== undefined && !isBroken) {
      isBroken = await this.#query(client, rollback).then(
        () => false,
        () => true,
      );
    }
    client.release(isBroken);
    return isBroken;
  }

  async #query(
    client: PostgresClient,
    text: string,
    timeoutMs = this.#limits.statementTimeoutMs,
  ): Promise<readonly Rows[]> {
    const query: PostgresQuery = { text, types, query_timeout: overdue(timeoutMs) };
    const results = await client.query(query);
    return (Array.isArray(results) ? results : [results]).map(({ rows }) => rows);
  }
}

/** Whether the request may be repeated, since no answer counted. */
const isAgain = (error: unknown): boolean => isLost(error) || isAway(error);

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

/** Of a machine that is gone between two messages. */
const GIVEN_UP_AFTER = "set local idle_in_transaction_session_timeout to 10000;";

/** A handler may wait for something; a machine that is gone must not keep its locks. */
const ABANDONED_AFTER = "set local idle_in_transaction_session_timeout to 60000;";

/** A setting of the transaction alone: it ends with it. */
const MARK = "paystate.transact";

/** Whether a query may change its session beyond the transaction: a pool of the host has settings of its own, so none are reset. */
const isLasting = (queries: readonly CompiledQuery[]): boolean =>
  queries.some(({ sql }) => /set_config|advisory_lock/i.test(sql));

/** What a handler has set for its session is not there for the next one, nor for the engine's own statements. */
const UNSET = "reset session authorization;reset role;reset all";
const UNLOCKED = "select pg_advisory_unlock_all()";

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
