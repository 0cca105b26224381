/** Transactions in which a handler works: the commit of its end is their last statement. */
import { failed, unknown } from "../commit-answers.ts";
import type { GivenTables } from "../sql/given-tables.ts";
import type { AnyCommit, CommitAnswer, TransactionClient } from "../storage.ts";
import { answersFor, refusal, type ToldGroup } from "./commits.ts";
import type { ConnectionSource, Database } from "./database.ts";
import type { DatabaseClock } from "./database-clock.ts";
import type { PostgresClient } from "./driver.ts";
import { explained, isAway, isGivenUp, isLost, isRace } from "./explain.ts";
import { functionNames } from "./functions.ts";
import { GroupWrites } from "./prepare-writes.ts";
import { runOf } from "./runs.ts";
import type { WakeFeed } from "./wake-feed.ts";
import { AnswerLost, type Writer, WriterPool } from "./writer-pool.ts";

interface TransactionWriterParts {
  readonly database: Database;
  /** A pool of its own: a handler may take long, and the engine's own connections wait for none. */
  readonly servers: () => ConnectionSource;
  readonly tables: GivenTables;
  readonly clock: DatabaseClock;
  /** Tells other processes of a durable commit. */
  readonly wakes: Pick<WakeFeed, "tell">;
}

type Act = (client: TransactionClient) => Promise<AnyCommit>;

/** How far a transaction has come. */
interface Progress {
  isActing: boolean;
  /** What ends it. */
  item: AnyCommit | null;
}

export class TransactionWriter {
  readonly #parts: TransactionWriterParts;
  readonly #writers: WriterPool;

  constructor(parts: TransactionWriterParts) {
    this.#parts = parts;
    this.#writers = new WriterPool(parts.database);
  }

  /** Rejects as `act` does, and for a transaction that it has ended itself. */
  async transact(act: Act): Promise<CommitAnswer> {
    const { database, wakes } = this.#parts;
    for (;;) {
      const answer = await database.raced(() => this.#once(act));
      if (answer === "again") continue;
      if (answer.ok) wakes.tell();
      return answer;
    }
  }

  close(): Promise<void> {
    return this.#writers.forget();
  }

  /** `again` where nothing has happened, and nothing of it ever will. */
  async #once(act: Act): Promise<CommitAnswer | "again"> {
    const { database, servers } = this.#parts;
    const writer = await this.#writers.take().catch((error: unknown) => {
      throw explained(error);
    });
    writer.number += 1;
    const progress: Progress = { isActing: false, item: null };
    const worked = async (client: PostgresClient): Promise<object> => {
      progress.isActing = true;
      progress.item = await act(client as unknown as TransactionClient);
      progress.isActing = false;
      return this.#request(progress.item, writer);
    };
    const call = { name: functionNames.commit, mark: `${writer.id}/${writer.number}` };
    try {
      const told = (await database.callBehind(servers(), call, worked)) as ToldGroup;
      this.#writers.giveBack(writer);
      return answerIn(progress, told);
    } catch (error) {
      return this.#after(error, writer, progress);
    }
  }

  #request(item: AnyCommit, { id, number }: Writer): object {
    const { tables, clock } = this.#parts;
    const writes = new GroupWrites(tables, clock);
    const runs = [runOf(item, writes, clock)];
    const rows = writes.locks();
    const { statements, names } = writes;
    return { runs, rows, statements, names, writer: id, number };
  }

  async #after(error: unknown, writer: Writer, progress: Progress): Promise<CommitAnswer | "again"> {
    const isEnding = !progress.isActing && progress.item !== null;
    if (isEnding && isLost(error) && !isAway(error)) return this.#lookUp(writer, progress);
    if (isGivenUp(error)) {
      this.#writers.leaveFree();
      return "again";
    }
    this.#writers.giveBack(writer);
    if (progress.isActing) throw raceIn(error) ?? error;
    if (isRace(error) || error instanceof TypeError) throw error;
    return refusal(error) ?? failed(explained(error));
  }

  async #lookUp(writer: Writer, progress: Progress): Promise<CommitAnswer | "again"> {
    try {
      const told = await this.#writers.outcome(writer);
      return told === null ? "again" : answerIn(progress, JSON.parse(told) as ToldGroup);
    } catch (error) {
      return unknown(error instanceof AnswerLost ? error.cause : error);
    } finally {
      this.#writers.giveBack(writer);
    }
  }
}

const answerIn = ({ item }: Progress, told: ToldGroup): CommitAnswer =>
  answersFor([item ?? {}], told)[0] ?? { ok: true };

/** Libraries put the server's error into one of their own. */
function raceIn(error: unknown): unknown {
  for (let each = error; each instanceof Error; each = each.cause) if (isRace(each)) return each;
  return null;
}
