/** Which tasks with limits have room: brought up to date in every transaction that lets one into a key, or out of one. */
import type { Kysely, Selectable } from "kysely";
import { compareTexts } from "../compare-texts.ts";
import { hasRoom, type LimitedTasks, nextAdmitted } from "../limits.ts";
import type { Schema } from "../sql/schema.ts";
import { roomStatements } from "../sql/task-statements.ts";
import type { Connection, PreparedAll } from "./connection.ts";

type TaskRow = Selectable<Schema["tasks"]>;

/** The keys of a task that has come or gone. */
export type KeysOfTask = Pick<TaskRow, "firstKey" | "lastKey">;

export class Rooms {
  readonly #statements: PreparedAll<ReturnType<typeof roomStatements>>;
  readonly #tasks: LimitedTasks<TaskRow>;
  /** First keys in which something has changed since `settle`, each with the last key that a task has left. */
  readonly #changed = new Map<string, string>();

  constructor(connection: Connection, db: Kysely<Schema>) {
    const statements = connection.prepareAll(roomStatements(db));
    this.#statements = statements;
    this.#tasks = {
      admittedUnder: (firstKey) => statements.admittedUnder.get({ firstKey })?.count ?? 0,
      admittedIn: (firstKey, lastKey) => statements.admittedIn.get({ firstKey, lastKey })?.count ?? 0,
      heads: (firstKey, after) => this.#heads(firstKey, after),
    };
  }

  /** A task has left its keys, was parked in them, or neither: it is looked at once more. */
  touch({ firstKey, lastKey }: KeysOfTask): void {
    if (firstKey !== null) this.#changed.set(firstKey, lastKey ?? "");
  }

  /** Whether no task of this key is still to be done. */
  isFree(firstKey: string | null): boolean {
    return firstKey === null || this.#statements.anyUnder.get({ firstKey }) === undefined;
  }

  hasRoom(task: TaskRow): boolean {
    return hasRoom(task, this.#tasks);
  }

  /**
   * At the end of a transaction: lets in what there is room for, once for each first key however many tasks have left it. The
   * keys of a commit that was taken back are only looked at in vain.
   */
  settle(): void {
    for (const [firstKey, after] of this.#changed) {
      let next = nextAdmitted(this.#tasks, { firstKey, after });
      while (next !== undefined) {
        this.#statements.admit.run({ id: next.id });
        next = nextAdmitted(this.#tasks, { firstKey, after });
      }
    }
    this.#changed.clear();
  }

  /** Those behind the key that a task has left, then those before it. */
  *#heads(firstKey: string, left: string): Generator<TaskRow> {
    yield* this.#headsBetween(firstKey, left, null);
    if (left !== "") yield* this.#headsBetween(firstKey, "", left);
  }

  *#headsBetween(firstKey: string, from: string, to: string | null): Generator<TaskRow> {
    let after: string | null = from;
    while (after !== null) {
      const head: TaskRow | undefined = this.#statements.headAfter.get({ firstKey, after });
      after = head?.lastKey ?? null;
      if (head === undefined || (to !== null && compareTexts(head.lastKey ?? "", to) > 0)) return;
      yield head;
    }
  }
}
