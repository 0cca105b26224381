/** Describes in words how an ended task went, for the timeline of the pages and of the command. */
import type { RanTask } from "../engine/kernel/ran-tasks.ts";
import { durationWords } from "./chart/words.ts";
import type { SecretFilter } from "./show-values.ts";

/** Describes an ended task, unless the task succeeded at once. */
export function wentWords({ tookMs, failures, crashes, error }: RanTask, redact: SecretFilter): string {
  const attempts = failures + crashes + 1;
  return [
    attempts === 1 ? "ended" : `ended at attempt ${attempts}`,
    tookMs === 0 ? null : `after ${durationWords(tookMs)}`,
    crashes === 0 ? null : `its process had died ${crashes}×`,
    error === null ? null : `it had failed with “${redact(error)}”`,
  ]
    .filter((part) => part !== null)
    .join(", ");
}
