/** Tells whether the database accepts commits of this process, by the last commit. */
import { commitOne } from "../../storage/decided.ts";
import type { CommitAnswer } from "../../storage/storage.ts";
import { StorageUnusable, type StorageUnusableCode } from "../../storage/storage-unusable.ts";
import type { PaymentStorage } from "../payments/payment-storage.ts";
import { elapsed, type Clock, type Random } from "../core/runtime.ts";

/** `ok`, or what keeps the database from taking commits. */
type CommitStatus = "ok" | StorageUnusableCode;

/** A write of so many characters needs pages of its own: a disk that is full may have room for a short one. */
const PROBE_CHARACTERS = 32_768;

/** A replica that is about to be promoted is away for now, and not a wrong address. */
const PROMOTED_WITHIN_MS = 300_000;

export class CommitHealth {
  #standing: CommitStatus = "ok";
  /** Since when it is that, by `elapsed`. */
  #since = 0;
  /** Whether a lock kept a commit back: another session has locked a row, or the whole database. */
  #isDoubtful = false;
  readonly #random: Random;
  readonly #clock: Clock;
  /** The id of this process's row, once a row is needed. */
  #probe: string | null = null;

  constructor(random: Random, clock: Clock) {
    this.#random = random;
    this.#clock = clock;
  }

  get standing(): CommitStatus {
    const isNew = elapsed(this.#clock) - this.#since < PROMOTED_WITHIN_MS;
    return this.#standing === "replica" && isNew ? "unavailable" : this.#standing;
  }

  hearing(storage: PaymentStorage): PaymentStorage {
    return {
      ...storage,
      commit: async (items) => {
        try {
          const answers = await storage.commit(items);
          this.#heard(answers);
          return answers;
        } catch (error) {
          this.#failed(error);
          throw error;
        }
      },
    };
  }

  /** Finds out by a write that means nothing, and only after a commit that failed: an idle process writes nothing. */
  async look(storage: PaymentStorage): Promise<CommitStatus> {
    if (this.#standing === "ok" && !this.#isDoubtful) return "ok";
    this.#isDoubtful = false;
    const id = (this.#probe ??= `probe/${Buffer.from(this.#random.bytes(8)).toString("hex")}`);
    const insert = { id, value: "x".repeat(PROBE_CHARACTERS) };
    try {
      // Refused where an earlier one was not removed.
      await commitOne(storage, { writes: [{ table: "facts", remove: id }] });
      const made = await commitOne(storage, { writes: [{ table: "facts", insert }] });
      if (made.ok) await commitOne(storage, { writes: [{ table: "facts", remove: id }] });
    } catch (error) {
      // Nobody locks the row of this process alone: the whole database is locked.
      if (error instanceof StorageUnusable) this.#is(error.code);
    }
    return this.standing;
  }

  #heard(answers: readonly CommitAnswer[]): void {
    const failure = answers.find((answer) => !answer.ok && "error" in answer);
    if (failure !== undefined && "error" in failure) this.#failed(failure.error, failure.conflict);
    // A refusal writes nothing, and tells nothing of the disk.
    else if (answers.some(({ ok }) => ok)) {
      this.#is("ok");
      this.#isDoubtful = false;
    }
  }

  #failed(error: unknown, conflict: "failed" | "unknown" = "failed"): void {
    if (error instanceof StorageUnusable) {
      if (error.code === "busy") this.#isDoubtful = true;
      else this.#is(error.code);
    } else if (conflict === "unknown") this.#is("unavailable");
  }

  #is(standing: CommitStatus): void {
    if (standing !== this.#standing) this.#since = elapsed(this.#clock);
    this.#standing = standing;
  }
}
