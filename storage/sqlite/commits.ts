/** Commits to SQLite, many in one physical transaction, each kept or taken back on its own. */
import type { Kysely } from "kysely";
import { encodeRow } from "../sql/codecs.ts";
import { instanceStatements } from "../sql/instance-statements.ts";
import type { Schema } from "../sql/schema.ts";
import type { AnyCommit, CommitResult } from "../storage.ts";
import { engineTables } from "../engine-tables.ts";
import type { Connection, PreparedAll } from "./connection.ts";
import type { Tables } from "./tables.ts";
import type { TaskQueue } from "./task-queue.ts";
import type { WatchList } from "./watch-list.ts";

/** What one physical transaction may hold, so that neither other processes nor the event loop wait long for it. */
const MAX_ITEMS = 256;
/** It executes for so long, or for as long as the disk took to keep the one before: on a slow disk few large ones end sooner. */
const MIN_EXECUTION_MS = 2;
const MAX_EXECUTION_MS = 10;

const isOk = ({ ok }: CommitResult): boolean => ok;

/** What commits change. */
interface CommitParts {
  readonly tasks: TaskQueue;
  readonly watches: WatchList;
  readonly tables: Tables;
  /** A clock in milliseconds that bounds a transaction. */
  readonly elapsed: () => number;
}

export class Commits {
  readonly #connection: Connection;
  readonly #parts: CommitParts;
  readonly #instances: PreparedAll<ReturnType<typeof instanceStatements>>;
  readonly #elapsed: () => number;
  #appliedAt = 0;
  /** How long the disk took for the last transaction. */
  #diskMs = 0;

  constructor(connection: Connection, db: Kysely<Schema>, parts: CommitParts) {
    this.#connection = connection;
    this.#parts = parts;
    this.#instances = connection.prepareAll(instanceStatements(db));
    this.#elapsed = parts.elapsed;
  }

  async commit(items: readonly AnyCommit[]): Promise<CommitResult[]> {
    const results: CommitResult[] = [];
    while (results.length < items.length) {
      if (results.length > 0) await new Promise(setImmediate);
      results.push(...(await this.#transaction(items, results.length)));
      this.#diskMs = this.#elapsed() - this.#appliedAt;
    }
    return results;
  }

  /** As many items as one physical transaction may hold, from `first` on. */
  async #transaction(items: readonly AnyCommit[], first: number): Promise<CommitResult[]> {
    const batch = items.slice(first, first + MAX_ITEMS);
    const [only] = batch;
    if (batch.length === 1 && only !== undefined) {
      const settled = (): CommitResult[] => this.#settled(() => [this.#apply(only)]);
      return this.#connection.write(settled, (results) => results.every(isOk));
    }
    // Conflicts are rare and savepoints cost a tenth of a commit: at first nobody has one, and the first conflict takes
    // the whole attempt back.
    const unhindered = await this.#connection.write(
      // What a refused item has left is still there, so no other is judged beside it.
      () => this.#settled(() => this.#applyAll(batch, (item) => this.#apply(item), isOk)),
      (results) => results.every(isOk),
    );
    if (unhindered.every(isOk)) return unhindered;
    return this.#connection.write(() =>
      this.#settled(() =>
        this.#applyAll(batch, (item) => this.#connection.savepoint(() => this.#apply(item), isOk)),
      ),
    );
  }

  /** What the commits do to lanes follows once, behind the last of them. */
  #settled(apply: () => CommitResult[]): CommitResult[] {
    const results = apply();
    this.#parts.tasks.settle();
    this.#appliedAt = this.#elapsed();
    return results;
  }

  /** One after another, until the time is up that one transaction may take, or a result is one not to go on after. */
  #applyAll(
    batch: readonly AnyCommit[],
    apply: (item: AnyCommit) => CommitResult,
    goesOn: (result: CommitResult) => boolean = () => true,
  ): CommitResult[] {
    const results: CommitResult[] = [];
    const end = this.#elapsed() + Math.min(Math.max(MIN_EXECUTION_MS, this.#diskMs), MAX_EXECUTION_MS);
    for (const item of batch) {
      const result = apply(item);
      results.push(result);
      if (!goesOn(result) || this.#elapsed() >= end) break;
    }
    return results;
  }

  /** One commit, to be rolled back by the caller unless it is ok. */
  #apply(commit: AnyCommit): CommitResult {
    const { consumes, step, removes = [], starts = [], writes = [], history = [] } = commit;
    const { tasks, watches, tables } = this.#parts;
    if (consumes !== undefined && !tasks.consume(consumes)) return { ok: false, conflict: "token" };
    if (!tasks.command(commit)) return { ok: false, conflict: "token" };
    if (step !== undefined && this.#instances.step.run({ ...step }) === 0) {
      return { ok: false, conflict: "version" };
    }
    for (const id of removes) {
      if (this.#instances.remove.run({ id }) === 0) return { ok: false, conflict: "version" };
      this.#instances.forget.run({ id });
    }
    for (const [index, start] of starts.entries()) {
      const row = encodeRow(engineTables.instances, { version: 1, updatedAt: start.createdAt, ...start });
      if (this.#instances.start.run(row as unknown as Schema["instances"]) === 0) {
        return { ok: false, conflict: "exists", index };
      }
    }
    for (const [index, write] of writes.entries()) {
      if (!tables.write(write)) return { ok: false, conflict: "write", index };
    }
    tasks.replace(commit);
    watches.replace(commit);
    for (const row of history) {
      this.#instances.record.run(encodeRow(engineTables.history, row) as unknown as Schema["history"]);
    }
    return { ok: true };
  }
}
