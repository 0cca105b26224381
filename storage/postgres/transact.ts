/** Transactions in which a handler works: the commit of its end is their last statement. */
import { failed, unknown } from "../commit-answers.ts";
import type { AnyCommit, CommitAnswer, TransactionClient } from "../storage.ts";
import { answersFor, type CommitContext, refusal } from "./commits.ts";
import { DroppedError, explained, isGivenUp, isRace } from "./explain.ts";
import type { HostPool } from "./host-pool.ts";
import { GroupWrites } from "./prepare-writes.ts";
import { raced } from "./retries.ts";
import { runOf } from "./runs.ts";
import type { WakeFeed } from "./wake-feed.ts";
import { AnswerLost, type NotApplied } from "./writer-pool.ts";

interface TransactionContext extends CommitContext {
  /** A pool of its own: a handler may take long, and the engine's own connections wait for none. */
  readonly servers: () => HostPool;
  /** Tells other processes of a durable commit. */
  readonly wakes: Pick<WakeFeed, "tell">;
}

/** How often a handler runs again at once for what is no fault of its own. */
const MAX_AGAIN = 3;

type Act = (client: TransactionClient) => Promise<AnyCommit>;

interface Progress {
  stage: "waiting" | "connecting" | "acting" | "ending";
  item: AnyCommit;
}

/** Rejects as `act` does, for a transaction that it has ended itself, and where its connection went away before COMMIT. */
export async function transacted(context: TransactionContext, act: Act): Promise<CommitAnswer> {
  for (let times = 0; ; times += 1) {
    const answer = await raced(() => once(context, act));
    if (!("again" in answer)) {
      if (answer.ok) context.wakes.tell();
      return answer;
    }
    if (times === MAX_AGAIN) throw new DroppedError(answer.again);
  }
}

async function once(context: TransactionContext, act: Act): Promise<CommitAnswer | NotApplied> {
  const { database, servers, writers, tables, clock } = context;
  const progress: Progress = { stage: "waiting", item: {} };
  try {
    const told = await writers.sent(
      (numbered) => {
        progress.stage = "connecting";
        const mark = `${numbered.writer}/${numbered.number}`;
        return database.commitBehind(servers(), mark, async (client) => {
          progress.stage = "acting";
          progress.item = await act(client as unknown as TransactionClient);
          progress.stage = "ending";
          const writes = new GroupWrites(tables, clock);
          return { runs: [runOf(progress.item, writes)], ...writes.needs(), ...numbered };
        });
      },
      () => progress.stage === "ending",
    );
    return "again" in told ? told : (answersFor([progress.item], told)[0] ?? { ok: true });
  } catch (error) {
    if (progress.stage === "waiting") throw explained(error);
    if (progress.stage === "acting") throw raceIn(error) ?? error;
    if (error instanceof AnswerLost) return unknown(error.cause);
    if (isGivenUp(error)) return { again: error };
    if (isRace(error) || error instanceof TypeError || error instanceof DroppedError) throw error;
    return refusal(error) ?? failed(explained(error));
  }
}

/** Libraries put the server's error into one of their own. */
function raceIn(error: unknown): unknown {
  for (let each = error; each instanceof Error; each = each.cause) if (isRace(each)) return each;
  return null;
}
