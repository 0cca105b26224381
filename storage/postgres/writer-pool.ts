/**
 * Finds out whether a group whose answer was lost was applied: it changes its writer's row in the same transaction, and a later
 * change of that row keeps a late group from being applied at all.
 */
import type { Database } from "./database.ts";
import { CLOCK } from "./database-clock.ts";
import { isAway, isGivenUp, isLocked, isLost, lost, UnsentError } from "./explain.ts";
import { persistent, SOON } from "./retries.ts";
import { literal } from "./text.ts";

/** A row of `paystateWriters`, which numbers the groups sent one after the other. */
interface Writer {
  readonly id: string;
  /** The number of the last group. */
  number: number;
}

/** The answer for an item as the functions of the database give it: a word, or the error that took the item back. */
export type Told = string | { readonly code: string; readonly message: string };

/** The function's answer: one for each item with its own run, and the tasks armed without their lease. */
export interface ToldGroup {
  readonly answers: readonly Told[];
  readonly parked: readonly string[];
  readonly admits: boolean;
}

/** Instead of an answer, which was lost: nothing of the group has happened, and nothing of it ever will. */
export interface NotApplied {
  readonly again: unknown;
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

  /**
   * Sends a group under the name and the number of its writer. Rejects as `send` does where nothing of the group was kept.
   * @param wasSent Whether the group is under way where `send` rejects.
   * @throws AnswerLost when it cannot be found out what has happened.
   */
  async sent(
    send: (writer: { readonly writer: string; readonly number: number }) => Promise<unknown>,
    wasSent: () => boolean = () => true,
  ): Promise<ToldGroup | NotApplied> {
    const writer = this.#free.pop() ?? (await this.#made());
    writer.number += 1;
    let isKnown = true;
    try {
      return (await send({ writer: writer.id, number: writer.number })) as ToldGroup;
    } catch (error) {
      isKnown = !isGivenUp(error);
      // If the database has lost one writer's row, it may have lost all rows.
      if (!isKnown) this.#free.length = 0;
      if (!wasSent() || !isLost(error) || isAway(error)) throw error;
      const told = await this.#outcome(writer);
      return told === null ? { again: error } : (JSON.parse(told) as ToldGroup);
    } finally {
      if (isKnown) this.#free.push(writer);
    }
  }

  async #made(): Promise<Writer> {
    const made = this.#database.write(
      `delete from "paystateWriters" where "usedAt" < ${CLOCK} - ${FORGOTTEN_MS}`,
      `insert into "paystateWriters" (id, number, "usedAt") values (gen_random_uuid()::text, 0, ${CLOCK}) returning id`,
    );
    const [, [row] = []] = await made.catch((error: unknown) => {
      // Nothing of the group was sent yet.
      throw isLost(error) ? new UnsentError(error) : error;
    });
    const { id } = row as { readonly id: string };
    this.#all.add(id);
    return { id, number: 0 };
  }

  /**
   * The answer to the writer's last group; null when the group was not applied and from now on cannot be. Waits for the
   * server, and for the lost transaction itself should it still be under way.
   */
  #outcome({ id, number }: Writer): Promise<string | null> {
    const asked = async (): Promise<string | null> => {
      const [, [row] = []] = await this.#database.decide(
        `update "paystateWriters" set number = ${number}, results = null where id = ${literal(id)} and number < ${number}`,
        `select results from "paystateWriters" where id = ${literal(id)} and number = ${number}`,
      );
      // A promoted server may lack it, and a writer idle for a day has lost it.
      if (row === undefined) throw new AnswerLost(new Error("the row of the group's writer is gone"));
      return (row as { readonly results: string | null }).results;
    };
    const isAgain = (error: unknown): boolean =>
      !(error instanceof AnswerLost) && (isLost(error) || isAway(error) || isLocked(error));
    return persistent(asked, { ...SOON, maxRetryTime: ASKING_MS }, isAgain).catch((error: unknown) => {
      throw error instanceof AnswerLost ? error : new AnswerLost(lost(error));
    });
  }

  /** Removes the rows; what is left undone is done by another process after a day. */
  async forget(): Promise<void> {
    if (this.#all.size === 0) return;
    const ids = [...this.#all].map(literal).join(", ");
    await this.#database.write(`delete from "paystateWriters" where id in (${ids})`).catch(() => {});
  }
}

/** The connection was lost behind a group that was sent, and nothing tells any more what became of it. */
export class AnswerLost extends Error {
  override readonly name = "AnswerLost";

  constructor(cause: unknown) {
    super("the answer for a group of commits was lost", { cause });
  }
}
