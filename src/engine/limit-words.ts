/** Words for the limit that a task waits for. */
import type { LimitWait } from "../../storage/storage.ts";

/** The count of tasks before it stops here. */
const MOST_COUNTED = 1_000;

/** `waits for a place of stripe, 12 before it`, or `waits for the rate of stripe until`, behind which stands the time. */
export function limitWords(wait: LimitWait): string {
  if ("until" in wait) return `waits for the rate of ${wait.key} until`;
  const { key, before } = wait;
  const count = before < MOST_COUNTED ? String(before) : `${MOST_COUNTED.toLocaleString("en")} or more`;
  return `waits for a place of ${key}, ${before === 0 ? "none" : count} before it`;
}
