/** Logs dead letters: tasks that no process will try again until a person retries or drops them. */
import type { EngineStorage } from "../../storage/storage.ts";
import type { Logger } from "../runtime.ts";

// More than these have one common cause; a longer log would not make it clearer.
const MAX_REPORTED = 100;

/** Logs each dead letter once. After a restart it is logged again, because it is still there. */
export class DeadLetterReport {
  readonly #storage: Pick<EngineStorage, "deadLetters">;
  readonly #log: Logger;
  #reported: ReadonlySet<string> = new Set();

  constructor(storage: Pick<EngineStorage, "deadLetters">, log: Logger) {
    this.#storage = storage;
    this.#log = log;
  }

  /** Reads the dead letters and logs those that the call before did not see. Rejects when storage cannot be read. */
  async update(): Promise<void> {
    const dead = await this.#storage.deadLetters(MAX_REPORTED);
    for (const { id, instance, workflow, name } of dead) {
      if (this.#reported.has(id)) continue;
      this.#log.error(
        { task: id, instance, workflow, name },
        "a task was set aside: its holders vanished one by one",
      );
    }
    this.#reported = new Set(dead.map(({ id }) => id));
  }
}
