/** The queues that tasks wait in: each has places of its own in the hands of a holder. */
import type { StoredTask } from "./engine-tables.ts";
import type { QueueName, TaskRecord } from "./storage.ts";

export const QUEUES: readonly QueueName[] = ["steps", "free", "limited"];

export const queueOf = ({ kind, limits }: Pick<TaskRecord, "kind" | "limits">): QueueName =>
  queueOfRow({ kind, firstKey: limits[0]?.key ?? null });

export function queueOfRow({ kind, firstKey }: Pick<StoredTask, "kind" | "firstKey">): QueueName {
  if (kind === "timer" || kind === "message") return "steps";
  return firstKey === null ? "free" : "limited";
}
