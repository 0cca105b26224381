/**
 * Finds out whether a group whose answer was lost was applied: it changes its writer's row in the same transaction, and a later
 * change of that row keeps a late group from being applied at all.
 */
import pRetry from "p-retry";
import { type Database, SOON } from "./database.ts";
import { CLOCK } from "./database-clock.ts";
import { isAway, isLocked, isLost, lost, UnsentError } from "./explain.ts";
import { literal } from "./text.ts";

/** A row of `paystateWriters`, which numbers the groups sent one after the other. */
export interface Writer {
  readonly id: string;
  /** The number of the last group. */
  number: number;
}

/** How long is asked after a lost answer, in milliseconds. */
const ASKING_MS = 15_000;

/** Rows of processes that ended without a word are removed after a day. */
const FORGOTTEN_MS = 86_400_000;

export class WriterPool {
  readonly #database: Database;
  readonly #free: Writer[] = [];
  readonly #all = new Set<string>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** A writer for one user until it is given back. */
  async take(): Promise<Writer> {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const made = this.#database.write(
      `delete from "paystateWriters" where "usedAt" < ${CLOCK} - ${FORGOTTEN_MS}`,
      `insert into "paystateWriters" (id, number, "usedAt") values (gen_random_uuid()::text, 0, ${CLOCK}) returning id`,
    );
    const [, [row] = []] = await made.catch((error: unknown) => {
      // Of the group nothing was sent yet.
      throw isLost(error) ? new UnsentError(error) : error;
    });
    const { id } = row as { readonly id: string };
    this.#all.add(id);
    return { id, number: 0 };
  }

  /** Forgets all free writers: if the database has lost one writer's row, it may have lost all rows. */
  leaveFree(): void {
    this.#free.length = 0;
  }

  giveBack(writer: Writer): void {
    this.#free.push(writer);
  }

  /**
   * The answer to the writer's last group; null when the group was not applied and from now on cannot be. Waits for the
   * server, and for the lost transaction itself should it still be under way.
   * @throws AnswerLost when it cannot be found out.
   */
  async outcome(writer: Writer): Promise<string | null> {
    try {
      return await pRetry(() => this.#outcome(writer), {
        ...SOON,
        maxRetryTime: ASKING_MS,
        shouldRetry: ({ error }) =>
          !(error instanceof WriterGoneError) && (isLost(error) || isAway(error) || isLocked(error)),
      });
    } catch (error) {
      throw new AnswerLost(error instanceof WriterGoneError ? error : lost(error));
    }
  }

  /** @throws WriterGoneError when nothing tells any more. */
  async #outcome({ id, number }: Writer): Promise<string | null> {
    const [, [row] = []] = await this.#database.decide(
      `update "paystateWriters" set number = ${number}, results = null where id = ${literal(id)} and number < ${number}`,
      `select results from "paystateWriters" where id = ${literal(id)} and number = ${number}`,
    );
    if (row === undefined) throw new WriterGoneError("the row of the group's writer is gone");
    return (row as { readonly results: string | null }).results;
  }

  /** Removes the rows; what is left undone is done by another process after a day. */
  async forget(): Promise<void> {
    if (this.#all.size === 0) return;
    const ids = [...this.#all].map(literal).join(", ");
    await this.#database.write(`delete from "paystateWriters" where id in (${ids})`).catch(() => {});
  }
}

/** The row of a writer is missing: a promoted server may lack it, and a writer idle for a day has lost it. */
class WriterGoneError extends Error {
  override readonly name = "WriterGoneError";
}

/** The connection was lost behind a group that was sent, and the server could not be asked what became of it. */
export class AnswerLost extends Error {
  override readonly name = "AnswerLost";

  constructor(cause: unknown) {
    super("the answer for a group of commits was lost", { cause });
  }
}
