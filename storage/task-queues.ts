/** The queues that tasks wait in: each has places of its own in the hands of a holder. */
import type { QueueName, TaskRecord } from "./storage.ts";

export const QUEUES: readonly QueueName[] = ["steps", "free", "laned"];

/**
 * Where a task waits.
 *
 * @example
 * ```ts
 * import { queueOf } from "paystate/storage";
 *
 * console.log(queueOf({ kind: "timer", lane: null })); // steps
 * ```
 */
export function queueOf({ kind, lane }: Pick<TaskRecord, "kind" | "lane">): QueueName {
  if (lane !== null) return "laned";
  return kind === "timer" || kind === "message" ? "steps" : "free";
}
