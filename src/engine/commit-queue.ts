/** Group commit: commits asked for in one turn of the event loop share one physical transaction. */
import type { Commit, CommitResult, EngineStorage } from "../../storage/storage.ts";

/** Takes commits one by one; each promise resolves when its own commit is durable or refused. */
export interface CommitQueue<W> {
  /** Rejects only when storage itself failed; then whether the commit happened is unknown. */
  commit(item: Commit<W>): Promise<CommitResult>;
}

// More would make the first of a batch wait for the last; fewer would pay for more physical transactions.
const LARGEST_BATCH = 256;

interface Waiting<W> {
  readonly item: Commit<W>;
  readonly resolve: (result: CommitResult) => void;
  readonly reject: (error: unknown) => void;
}

// A batch fails because of one commit in it, or because storage is out of order: after this many failures of commits
// that went alone it is the latter, and the rest need not wait for it one by one.
const MOST_FAILURES_ALONE = 2;

/** A queue in front of one storage. Alone, a commit waits for nobody: it leaves at the end of the current turn. */
export function createCommitQueue<W>(storage: Pick<EngineStorage, "commit">): CommitQueue<W> {
  let waiting: Waiting<W>[] = [];
  let flushing = false;

  const commitTogether = async (batch: readonly Waiting<W>[]): Promise<void> => {
    const results = await storage.commit(batch.map(({ item }) => item));
    batch.forEach(({ resolve, reject }, index) => {
      const result = results[index];
      if (result === undefined) reject(new Error("storage answered fewer results than it was given commits"));
      else resolve(result);
    });
  };

  /**
   * One commit that storage cannot take fails its whole batch; alone, each has only itself to blame. Whatever of the
   * batch did happen is refused the second time, like anything that comes too late.
   */
  const commitOneByOne = async (batch: readonly Waiting<W>[], failure: unknown): Promise<void> => {
    let failures = batch.length === 1 ? MOST_FAILURES_ALONE : 0;
    let latest = failure;
    for (const alone of batch) {
      if (failures >= MOST_FAILURES_ALONE) alone.reject(latest);
      else {
        await commitTogether([alone]).catch((error: unknown) => {
          failures += 1;
          latest = error;
          alone.reject(error);
        });
      }
    }
  };

  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, LARGEST_BATCH);
      waiting = waiting.slice(LARGEST_BATCH);
      await commitTogether(batch).catch((error: unknown) => commitOneByOne(batch, error));
    }
    flushing = false;
  };

  return {
    commit(item) {
      return new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        if (flushing) return;
        flushing = true;
        setImmediate(() => void flush());
      });
    },
  };
}
