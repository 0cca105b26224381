/** The queues that tasks wait in: each has places of its own in the hands of a holder. */
import type { QueueName, TaskRecord } from "./storage.ts";

export const QUEUES: readonly QueueName[] = ["steps", "free", "limited"];

/** Where a task waits. */
export function queueOf({ kind, limits }: Pick<TaskRecord, "kind" | "limits">): QueueName {
  if (kind === "timer" || kind === "message") return "steps";
  return limits.length > 0 ? "limited" : "free";
}
