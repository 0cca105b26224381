/** What a claim settles of tasks with limits before it looks for what is due: pauses that are over, and room that nobody uses. Pure. */
import type { StoredTask } from "./engine-tables.ts";
import { paused } from "./limits.ts";
import type { ClaimRequest } from "./storage.ts";
import { suspected } from "./suspects.ts";

/**
 * How long an admitted task may stay unclaimed, in milliseconds, before a process that does not know its workflow takes its
 * room: then no process knows the workflow, or all that do are busy.
 */
export const UNCLAIMED_MS = 30_000;

/** So many tasks of a workflow that ask for room, or lose it, are looked at in one claim. */
export const MAX_UNSETTLED = 64;

/** It asks for room again after as long as it has waited by then, and after this at the latest. */
const MAX_PAUSE_MS = 3_600_000;

/**
 * What a claim makes of a task with limits; null where it stays as it is. A paused one that is due is parked, a suspect goes to
 * its line. An admitted one that nobody has claimed, since no process knows its workflow, is paused for longer and longer.
 * Then admit what has room: see `nextAdmitted`.
 */
export function unsettled<T extends StoredTask>(task: T, request: ClaimRequest): T | null {
  const { now, workflows } = request;
  // Nothing passes a message that is admitted, and nothing admits one but the end of another.
  if (task.deadAt !== null || task.visibleAt > now || task.kind === "message") return null;
  if (task.admission === "paused") {
    const next = suspected(task, request) ?? task;
    return next.visibleAt <= now ? { ...next, admission: "parked" } : next;
  }
  const isLeft = task.admission === "admitted" && !workflows.includes(task.workflow);
  if (!isLeft || task.visibleAt > now - UNCLAIMED_MS) return null;
  const pauseMs = Math.min(Math.max(now - task.dueAt, UNCLAIMED_MS), MAX_PAUSE_MS);
  return suspected(task, request) ?? paused({ ...task, visibleAt: now + pauseMs, delayMs: pauseMs });
}
