/** Settles tasks with limits before a claim looks for due tasks: finished pauses, and room that nobody uses. Pure. */
import type { StoredTask } from "./engine-tables.ts";
import { paused } from "./limits.ts";
import type { ClaimRequest } from "./storage.ts";
import { suspected } from "./suspects.ts";

/** After so long an unclaimed task loses its room: either no process knows its workflow, or all of those processes are busy. */
export const UNCLAIMED_MS = 30_000;

/** The number of tasks of a workflow, asking for room or losing it, that one claim examines. */
export const MAX_UNSETTLED = 64;

/** The longest pause: a task asks for room again after as long as it has waited by then. */
const MAX_PAUSE_MS = 3_600_000;

/** A task with limits before a claim; null without a change. Due after its pause it asks for room; left unclaimed, it loses it. */
export function unsettled<T extends StoredTask>(task: T, request: ClaimRequest): T | null {
  const { now, workflows } = request;
  // Nothing passes a message that is admitted, and nothing admits one but the end of another.
  if (task.deadAt !== null || task.visibleAt > now || task.kind === "message") return null;
  if (task.admission === "paused") {
    const next = suspected(task, request) ?? task;
    return next.visibleAt <= now ? { ...next, admission: "parked", rateKey: null } : next;
  }
  const isLeft = task.admission === "admitted" && !workflows.includes(task.workflow);
  if (!isLeft || task.visibleAt > now - UNCLAIMED_MS) return null;
  const pauseMs = Math.min(Math.max(now - task.dueAt, UNCLAIMED_MS), MAX_PAUSE_MS);
  return suspected(task, request) ?? paused({ ...task, visibleAt: now + pauseMs, delayMs: pauseMs });
}
