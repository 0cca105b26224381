/** Group commit: all commits that wait go to the storage as one batch, and may share a physical transaction. */
import { decided } from "../../../storage/decided.ts";
import { isTurnOver, nextTurn, within } from "../../core/runtime.ts";
import { StorageUnusable } from "../../../storage/storage-unusable.ts";
import type { Commit, CommitParts, CommitResult, EngineStorage } from "../../../storage/storage.ts";

// More would make the first of a batch wait for the last; fewer would pay for more physical transactions.
const MAX_BATCH = 256;

/** A batch without an answer for so long holds up the next ones no longer: each has its own deadline at the storage. */
const SLOW_MS = 1_000;

/** While storage is away no more than these wait for it, and no more characters of snapshots and payloads. */
const MAX_WAITING = 10_000;
const MAX_CHARACTERS = 64 * 1_048_576;

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
  /** The number of waiting and sent commits, and the length of their texts. */
  #pending = 0;
  #characters = 0;

  constructor(storage: Pick<EngineStorage, "commit">) {
    this.#storage = storage;
  }

  /** Durable or refused when it resolves. Throws `CommitUnknown`, or why nothing has happened. It is never carried out twice. */
  async commit(item: Commit<W>): Promise<CommitResult> {
    const characters = charactersOf(item);
    // An empty queue takes a commit of any length: after a refusal the task of the commit would run again for ever.
    const isTooMuch = this.#pending > 0 && this.#characters + characters > MAX_CHARACTERS;
    // A task has as many commits as it has places. If one were refused, its work would be done again.
    const isOfTask = item.consumes !== undefined || item.amends !== undefined;
    if (!isOfTask && (isTooMuch || this.#pending >= MAX_WAITING)) throw tooMany();
    this.#pending += 1;
    this.#characters += characters;
    try {
      return await new Promise((resolve, reject) => {
        this.#waiting.push({ item, resolve, reject });
        if (this.#isFlushing) return;
        this.#isFlushing = true;
        setImmediate(() => void this.#flush());
      });
    } finally {
      this.#pending -= 1;
      this.#characters -= characters;
    }
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      // A task made due by a commit may ask for the next commit before any timer has its turn.
      if (isTurnOver()) await nextTurn();
      const batch = this.#waiting.slice(0, MAX_BATCH);
      this.#waiting = this.#waiting.slice(MAX_BATCH);
      const answered = this.#commitTogether(batch).catch((error: unknown) => {
        for (const { reject } of batch) reject(error);
      });
      await within(SLOW_MS, answered);
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

/** The length of those texts of a commit that may be long. */
function charactersOf({ step, starts = [], arms = [] }: CommitParts): number {
  let sum = step?.snapshot.length ?? 0;
  for (const { snapshot } of starts) sum += snapshot.length;
  for (const { task } of arms) sum += task.payload.length;
  return sum;
}

const tooMany = (): StorageUnusable =>
  new StorageUnusable(
    "busy",
    "too many commits wait for the database: see why it does not answer, or ask less of it",
  );
