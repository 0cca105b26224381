/** Commits to PostgreSQL: a group is one round trip and one transaction, and each item is kept or taken back on its own. */
import pRetry from "p-retry";
import { engineTables } from "../engine-tables.ts";
import { encodeRow } from "../sql/codecs.ts";
import type { GivenTables } from "../sql/given-table.ts";
import type { AnyCommit, CommitResult } from "../storage.ts";
import { checkedNarrow, storedTask } from "../stored-task.ts";
import { type Database, lost } from "./database.ts";
import type { DatabaseClock } from "./database-clock.ts";
import { explained, isGivenUp, isLocked, isLost, isRefused } from "./explain.ts";
import { functionNames } from "./functions.ts";
import { merge, type PreparedItem } from "./merge-items.ts";
import { GroupWrites } from "./prepare-writes.ts";
import { type Writer, Writers } from "./writers.ts";

/** So many items share one transaction: enough to share its cost, few enough that others do not wait long for its locks. */
const MAX_GROUP = 128;

/** How long is asked after a lost answer, in milliseconds. */
const ASKING_MS = 30_000;

/** What the writes of a group need: their statements, and what is locked before the first item. Left out where there is none. */
interface Needs {
  readonly statements?: readonly string[];
  readonly names?: readonly string[];
  readonly rows?: readonly object[];
}

/** A group as the functions of the database take it. */
interface Group {
  readonly items: readonly PreparedItem[];
  readonly needs: Needs;
}

export class Commits {
  readonly #database: Database;
  readonly #tables: GivenTables;
  readonly #clock: DatabaseClock;
  readonly #writers: Writers;

  constructor(database: Database, tables: GivenTables, clock: DatabaseClock) {
    this.#database = database;
    this.#tables = tables;
    this.#clock = clock;
    this.#writers = new Writers(database);
  }

  async commit(items: readonly AnyCommit[]): Promise<CommitResult[]> {
    const results: CommitResult[] = [];
    while (results.length < items.length) {
      const group = this.#prepared(items.slice(results.length, results.length + MAX_GROUP));
      results.push(...((await this.#together(group)) ?? (await this.#oneByOne(group))));
    }
    return results;
  }

  close(): Promise<void> {
    return this.#writers.forget();
  }

  /** All items at once, where none is in the way of another; null when one was refused, and so nothing was kept. */
  async #together(group: Group): Promise<CommitResult[] | null> {
    const merged = merge(group.items);
    if (merged === null) return null;
    try {
      const answers = group.items.map(() => "ok");
      return await this.#carryOut(functionNames.together, { ...group.needs, ...merged, answers });
    } catch (error) {
      if (isRefused(error)) return null;
      throw error;
    }
  }

  /** Item by item. Their instances and tasks are locked before the first. */
  #oneByOne({ items, needs }: Group): Promise<CommitResult[]> {
    const instances = items.flatMap(({ step }) => step?.id ?? []);
    const tasks = items.flatMap(({ consumes }) => consumes?.task ?? []);
    return this.#carryOut(functionNames.commit, { ...needs, items, instances, tasks });
  }

  /** Sends the group until it is known to have happened, and never twice. */
  async #carryOut(name: string, group: object): Promise<CommitResult[]> {
    let writer = await this.#writers.take();
    try {
      for (;;) {
        writer.number += 1;
        const { id, number } = writer;
        try {
          const request = { ...group, writer: id, number };
          const answers = await this.#database.raced(() => this.#database.call(name, request));
          return (answers as string[]).map(resultOf);
        } catch (error) {
          if (isGivenUp(error)) writer = await this.#writers.take();
          else if (!isLost(error)) throw explained(error);
          else {
            const known = await this.#outcome(writer);
            if (known !== null) return (JSON.parse(known) as string[]).map(resultOf);
          }
        }
      }
    } finally {
      this.#writers.giveBack(writer);
    }
  }

  /** Waits for the server, and for the lost transaction itself should it still be under way. */
  async #outcome(writer: Writer): Promise<string | null> {
    try {
      return await pRetry(() => this.#writers.outcome(writer), {
        retries: Infinity,
        factor: 1.5,
        minTimeout: 20,
        maxTimeout: 500,
        randomize: true,
        maxRetryTime: ASKING_MS,
        shouldRetry: ({ error }) => isLost(error) || isLocked(error),
      });
    } catch (error) {
      throw lost(error);
    }
  }

  /** @throws TypeError when an item holds what no table can. */
  #prepared(items: readonly AnyCommit[]): Group {
    const writes = new GroupWrites(this.#tables, this.#clock);
    const prepared = items.map((item) => this.#item(item, writes));
    const rows = writes.locks();
    const { names, statements } = writes;
    return {
      items: prepared,
      needs: {
        ...(statements.length === 0 ? {} : { statements }),
        ...(names.length === 0 ? {} : { names }),
        ...(rows.length === 0 ? {} : { rows }),
      },
    };
  }

  /** One commit; what it does not do is left out. */
  #item(commit: AnyCommit, writes: GroupWrites): PreparedItem {
    const { consumes, step, retries, drops, removes, ends, disarms, adopts, amends, unwatches } = commit;
    const clock = this.#clock;
    return {
      consumes,
      step,
      drops,
      removes,
      ends,
      disarms,
      adopts,
      amends: amends?.map((each) => ({ ...each, visibleAt: clock.stored(each.dueAt) })),
      unwatches,
      retries: retries?.map(({ task, dueAt }) => ({ task, dueAt, visibleAt: clock.stored(dueAt) })),
      starts: commit.starts?.map((start) =>
        encodeRow(engineTables.instances, { version: 1, updatedAt: start.createdAt, ...start }),
      ),
      writes: commit.writes?.map((write) => writes.prepare(write)),
      arms: commit.arms?.map(({ task, lease }) => {
        const row = encodeRow(engineTables.tasks, storedTask(task, lease));
        return { ...row, visibleAt: clock.stored(Number(row["visibleAt"])) };
      }),
      narrows: commit.narrows?.map(checkedNarrow),
      watches: commit.watches?.map((watch) => encodeRow(engineTables.watches, watch)),
      history: commit.history?.map((row) => encodeRow(engineTables.history, row)),
    };
  }
}

/** How an item ended, from the word for it: `ok`, or the conflict and the place of what was refused. */
function resultOf(word: string): CommitResult {
  const [conflict, index] = word.split("/");
  if (conflict === "ok") return { ok: true };
  if (conflict === "exists" || conflict === "write") return { ok: false, conflict, index: Number(index) };
  return { ok: false, conflict: conflict === "version" ? "version" : "token" };
}
