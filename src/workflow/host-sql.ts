/** SQL of a host in a workflow: compiled queries in the commits of its steps, and effects that work in a transaction. */
// modules: host-sql
import type { CompiledQuery, QueryRefusal } from "../../storage/compiled-queries.ts";
import type { AnyCommit, CommitResult, Insert, TransactionClient } from "../../storage/storage.ts";
import type { EffectRun, StartRequest } from "./effect-run.ts";
import type { OwnLimit } from "./own-limit.ts";
import type { Retry } from "./retry.ts";
import type { Writable } from "./writable.ts";

export type { CompiledQuery, QueryRefusal };

/** Queries of an effect's outcome. */
export interface QueriesOption {
  /**
   * Statements of your own, in the same transaction: `{ sql, parameters }` of Kysely's `compile()`, or Drizzle's `toSQL()`.
   * One INSERT, UPDATE, DELETE, MERGE or WITH each, on SQLite or PostgreSQL.
   */
  readonly queries?: readonly CompiledQuery[];
}

/** Queries in a commit, behind all else of it. */
export const queryCarrier = {
  fields: { queries: ["a list", Array.isArray] },
  ofOutcome: ({ queries = NONE }: QueriesOption) => queries,
  isCarried: (projected: object): projected is CompiledQuery => "sql" in projected,
  put(commit: Writable<AnyCommit>, queries: readonly CompiledQuery[]) {
    commit.queries = queries;
  },
  refused(result: CommitResult): { readonly place: number | null; readonly told: QueryRefusal } | null {
    if (result.ok || result.conflict !== "query") return null;
    return { place: result.refusal.query, told: result.refusal };
  },
} as const;

const NONE: readonly never[] = [];

/**
 * The outcome of a handler with a transaction: part of the same transaction, so that the event is a message to its instance.
 */
export interface SqlOutcome<Event, W> {
  readonly event?: Event;
  readonly starts?: readonly StartRequest[];
  readonly writes?: readonly Insert<W>[];
}

/** An effect on PostgreSQL that works in a transaction, of which its own end is part: exactly once, whatever dies. */
export interface SqlTransaction<Params, Event, W> {
  /**
   * `client` is a `PoolClient` of pg with an open transaction, read committed: `async (params, client: PoolClient) => …`. An
   * exception takes it back, and the engine tries it again later. It runs again at once where it met other transactions
   * (40001, 40P01), or its COMMIT was lost: what it does beside the database happens at least once. It never sends BEGIN,
   * COMMIT or ROLLBACK, which is refused.
   */
  transact(
    params: Params,
    client: TransactionClient,
    run: EffectRun,
  ): Promise<SqlOutcome<Event, W> | undefined>;
  /** At most so many run at a time. */
  readonly limit?: OwnLimit<Params>;
  /** How it is run again after it has thrown. Default: with growing pauses, without end. */
  readonly retry?: Retry;
}
