/** Says aloud that tasks were set aside: nobody will do them any more, and whatever waits for them waits for ever. */
import type { EngineStorage } from "../../storage/storage.ts";
import type { Logger } from "../runtime.ts";

// Whoever has more than these has one cause to look for, not a hundred and one.
const MOST_REPORTED = 100;

/**
 * Each call looks at the dead letters and logs those that the call before did not see. The first call says again what
 * earlier processes left behind, because it is still true.
 */
export function createDeadLetterReport(storage: EngineStorage, log: Logger): () => Promise<void> {
  let reported: ReadonlySet<string> = new Set();
  return async () => {
    const dead = await storage.deadLetters(MOST_REPORTED);
    for (const { id, instance, workflow, name } of dead) {
      if (reported.has(id)) continue;
      log.error(
        { task: id, instance, workflow, name },
        "a task was set aside: its holders vanished one by one",
      );
    }
    reported = new Set(dead.map(({ id }) => id));
  };
}
