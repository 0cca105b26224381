/** Group commit: commits asked for in one turn of the event loop share one physical transaction. */
import type { Commit, CommitResult, EngineStorage } from "../../storage/storage.ts";

// More would make the first of a batch wait for the last; fewer would pay for more physical transactions.
const MAX_BATCH = 256;

interface Waiting<W> {
  readonly item: Commit<W>;
  readonly resolve: (result: CommitResult) => void;
  readonly reject: (error: unknown) => void;
}

/** A queue in front of one storage. A commit that is alone does not wait: it leaves at the end of the current turn. */
export class CommitQueue<W> {
  readonly #storage: Pick<EngineStorage, "commit">;
  #waiting: Waiting<W>[] = [];
  #isFlushing = false;

  constructor(storage: Pick<EngineStorage, "commit">) {
    this.#storage = storage;
  }

  /**
   * Resolves when this commit is durable or refused. Rejects only when storage itself failed; then it is unknown whether
   * the commit happened.
   */
  commit(item: Commit<W>): Promise<CommitResult> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#isFlushing) return;
      this.#isFlushing = true;
      setImmediate(() => void this.#flush());
    });
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, MAX_BATCH);
      this.#waiting = this.#waiting.slice(MAX_BATCH);
      await this.#commitTogether(batch).catch((error: unknown) => this.#afterFailure(batch, error));
    }
    this.#isFlushing = false;
  }

  async #commitTogether(batch: readonly Waiting<W>[]): Promise<void> {
    const results = await this.#storage.commit(batch.map(({ item }) => item));
    batch.forEach(({ resolve, reject }, index) => {
      const result = results[index];
      if (result === undefined) reject(new Error("storage answered fewer results than it was given commits"));
      else resolve(result);
    });
  }

  /**
   * One commit that storage cannot take fails its whole batch; tried alone, it fails alone. If a part of the batch did
   * happen, storage refuses it the second time, like a commit that comes too late.
   */
  async #afterFailure(batch: readonly Waiting<W>[], failure: unknown): Promise<void> {
    if (batch.length === 1) {
      rejectAll(batch, failure);
      return;
    }
    for (const [index, alone] of batch.entries()) {
      try {
        await this.#commitTogether([alone]);
      } catch (error) {
        alone.reject(error);
        // An outage may take seconds to be noticed, and is not waited out once for each commit of the batch.
        if (await this.#takesCommits()) continue;
        rejectAll(batch.slice(index + 1), error);
        return;
      }
    }
  }

  /** Whether storage makes a commit in which there is nothing that it could object to. */
  async #takesCommits(): Promise<boolean> {
    return this.#storage.commit([{}]).then(
      () => true,
      () => false,
    );
  }
}

function rejectAll(batch: readonly { readonly reject: (error: unknown) => void }[], error: unknown): void {
  for (const { reject } of batch) reject(error);
}
