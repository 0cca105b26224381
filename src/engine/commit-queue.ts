/** Group commit: commits asked for in one turn of the event loop share one physical transaction. */
import { decided } from "../../storage/decided.ts";
import { isTurnOver, nextTurn } from "../runtime.ts";
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

  /** Durable or refused when it resolves. Throws `CommitUnknown`, or why nothing has happened. It is never carried out twice. */
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
      // What a commit makes due may ask for the next one before any timer has its turn.
      if (isTurnOver()) await nextTurn();
      const batch = this.#waiting.slice(0, MAX_BATCH);
      this.#waiting = this.#waiting.slice(MAX_BATCH);
      await this.#commitTogether(batch).catch((error: unknown) => {
        for (const { reject } of batch) reject(error);
      });
    }
    this.#isFlushing = false;
  }

  async #commitTogether(batch: readonly Waiting<W>[]): Promise<void> {
    const answers = await this.#storage.commit(batch.map(({ item }) => item));
    batch.forEach(({ resolve, reject }, index) => {
      try {
        resolve(decided(answers[index]));
      } catch (error) {
        reject(error);
      }
    });
  }
}
