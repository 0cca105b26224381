/** Transactions in which a handler works: the commit of its end is their last statement. */
import { failed, unknown } from "../commit-answers.ts";
import type { GivenTables } from "../sql/given-tables.ts";
import type { AnyCommit, CommitAnswer, TransactionClient } from "../storage.ts";
import { answersFor, refusal, type ToldGroup } from "./commits.ts";
import type { ConnectionSource, Database } from "./database.ts";
import type { DatabaseClock } from "./database-clock.ts";
import type { PostgresClient } from "./driver.ts";
import { DroppedError, explained, isAway, isGivenUp, isLost, isRace } from "./explain.ts";
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

/** How often a handler runs again at once for what is no fault of its own. */
const MAX_AGAIN = 3;

/** Nothing has happened, and nothing of it ever will. */
interface Again {
  readonly again: unknown;
}

type Act = (client: TransactionClient) => Promise<AnyCommit>;

interface Progress {
  isActing: boolean;
  item: AnyCommit | null;
}

export class TransactionWriter {
  readonly #parts: TransactionWriterParts;
  readonly #writers: WriterPool;

  constructor(parts: TransactionWriterParts) {
    this.#parts = parts;
    this.#writers = new WriterPool(parts.database);
  }

  /** Rejects as `act` does, for a transaction that it has ended itself, and where its connection went away before COMMIT. */
  async transact(act: Act): Promise<CommitAnswer> {
    const { database, wakes } = this.#parts;
    for (let times = 0; ; times += 1) {
      const answer = await database.raced(() => this.#once(act));
      if ("again" in answer) {
        if (times === MAX_AGAIN) throw new DroppedError(answer.again);
        continue;
      }
      if (answer.ok) wakes.tell();
      return answer;
    }
  }

  close(): Promise<void> {
    return this.#writers.forget();
  }

  async #once(act: Act): Promise<CommitAnswer | Again> {
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
    return { runs, ...writes.needs(), writer: id, number };
  }

  async #after(error: unknown, writer: Writer, progress: Progress): Promise<CommitAnswer | Again> {
    if (progress.isActing) {
      this.#writers.giveBack(writer);
      throw raceIn(error) ?? error;
    }
    const isUnderWay = progress.item !== null && isLost(error) && !isAway(error);
    if (isUnderWay) return this.#lookUp(error, writer, progress);
    if (isGivenUp(error)) {
      this.#writers.leaveFree();
      return { again: error };
    }
    this.#writers.giveBack(writer);
    if (isRace(error) || error instanceof TypeError || error instanceof DroppedError) throw error;
    return refusal(error) ?? failed(explained(error));
  }

  async #lookUp(lost: unknown, writer: Writer, progress: Progress): Promise<CommitAnswer | Again> {
    try {
      const told = await this.#writers.outcome(writer);
      return told === null ? { again: lost } : answerIn(progress, JSON.parse(told) as ToldGroup);
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
