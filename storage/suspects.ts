/** Suspects: a vanished holder does not tell which of its tasks was to blame, so all wait in a line and are tried one by one. */
import type { StoredTask } from "./engine-tables.ts";
import type { ClaimRequest } from "./storage.ts";
import { admitted, paused } from "./limits.ts";
import { queueOfRow } from "./task-queues.ts";
import type { TaskRow } from "./task-rows.ts";

/**
 * How long a task is a suspect after its last crash, in milliseconds. An hour: a harmful task ends the next process as
 * soon as it is tried, and a healthy task behind a long line of slow suspects must still be done.
 */
export const SUSPECT_MS = 3_600_000;

/**
 * A due task before a claim hands out tasks; null when it needs no change. Look again until none does. What has crashed alone
 * stays a suspect until it is tried: were suspicion to end by time, in a long line the task could end one process after the other,
 * and its crashes would never add up.
 */
export function suspected<T extends StoredTask>(
  task: T,
  claim: Pick<ClaimRequest, "now" | "leaseMs" | "maxCrashes">,
): T | null {
  const { crashedAt } = task;
  const { now, leaseMs, maxCrashes } = claim;
  if (task.holder !== null) {
    // The holder gave its last sign of life one lease before the end.
    const isInRow = crashedAt !== null && task.visibleAt - leaseMs - crashedAt < SUSPECT_MS;
    const crashes = isInRow ? task.crashes + 1 : 1;
    const crashed = paused({ ...task, crashes, crashedAt: now, holder: null });
    return crashes >= maxCrashes ? { ...crashed, deadAt: now } : { ...crashed, ...inLine(now) };
  }
  if (crashedAt === null) return null;
  if (crashedAt + SUSPECT_MS > now) return { ...task, ...inLine(crashedAt) };
  return task.crashes > 1 ? { ...task, crashedAt: now, ...inLine(now) } : { ...task, crashedAt: null };
}

const inLine = (crashedAt: number): Pick<StoredTask, "visibleAt" | "delayMs"> => ({
  visibleAt: crashedAt + SUSPECT_MS,
  delayMs: SUSPECT_MS,
});

/**
 * A task after a heartbeat with its latest token; null when the lease is lost. One in the line of suspects was given to nobody
 * else: its holder has it again, and the crash is taken back. So is that of a suspect that was given back and put into the line
 * since, by a heartbeat that was overtaken: that lease ends by itself, and the crash is counted then.
 */
export function extended<T extends StoredTask>(
  task: T,
  { holder, now, leaseMs }: Pick<ClaimRequest, "holder" | "now" | "leaseMs">,
): T | null {
  const visibleAt = now + leaseMs;
  if (task.holder !== null) return { ...task, visibleAt, delayMs: leaseMs };
  if (!isInLine(task)) return null;
  const crashes = task.crashes - 1;
  const crashedAt = crashes === 0 ? null : task.crashedAt;
  return admitted({ ...task, holder, visibleAt, delayMs: leaseMs, crashes, crashedAt });
}

/** Of these the first with room is tried: least crashed, then timers and messages, then as armed. None while one is held. */
export function suspectsInTurn<T extends TaskRow>(tasks: readonly T[], request: ClaimRequest): T[] {
  const { workflows, now, maxCrashes } = request;
  if (tasks.some((task) => isHeldSuspect(task) && task.visibleAt > now)) return [];
  return tasks
    .filter((task) => isInLine(task) && task.crashes < maxCrashes && workflows.includes(task.workflow))
    .filter((task) => request[queueOfRow(task)] > 0)
    .toSorted((a, b) => a.crashes - b.crashes || Number(isWork(a)) - Number(isWork(b)) || a.seq - b.seq);
}

/** When the first of these can be claimed; null when none waits. A held suspect of any workflow or queue makes others wait. */
export function nextSuspectAt(tasks: readonly StoredTask[], all: readonly StoredTask[]): number | null {
  const waiting = tasks.filter(isInLine);
  if (waiting.length === 0) return null;
  const first = waiting.reduce((at, { crashedAt }) => Math.min(at, crashedAt ?? 0), Infinity);
  return all.filter(isHeldSuspect).reduce((at, { visibleAt }) => Math.max(at, visibleAt), first);
}

function isInLine({ holder, crashedAt, visibleAt, deadAt }: StoredTask): boolean {
  return deadAt === null && holder === null && crashedAt !== null && visibleAt === crashedAt + SUSPECT_MS;
}

function isHeldSuspect({ holder, crashedAt, deadAt }: StoredTask): boolean {
  return deadAt === null && holder !== null && crashedAt !== null;
}

/** Timers and messages are quick, and others wait for them. */
function isWork({ kind }: StoredTask): boolean {
  return kind === "effect" || kind === "invocation";
}
