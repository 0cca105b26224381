/**
 * The rule for the tasks of a vanished holder. Its first death costs nothing: they begin again at once, side by side. The
 * tasks of a second death within an hour are suspects. The death is counted against a suspect that was the only one in that
 * hand; of several none is counted, and all are alone from then on: while one of them is in hand, no other suspect begins,
 * for an hour at most. Other tasks never wait for a suspect. `test/engine/deaths` is the rule on paper. Pure.
 */
import type { StoredTask, TaskRow } from "./engine-tables.ts";
import type { ClaimRequest } from "./storage.ts";
import { admitted, paused } from "./limits.ts";

/** Deaths that are further apart have nothing to do with each other, in milliseconds. For so long at most an uncounted suspect waits. */
export const SUSPECT_MS = 3_600_000;

/** A task that no death tells of. */
export const UNSUSPECTED = {
  crashes: 0,
  crashedAt: null,
  counted: 0,
  aloneSince: null,
  missed: null,
} as const;

export const isSuspect = ({ crashes, crashedAt, deadAt }: StoredTask): boolean =>
  crashes > 1 && crashedAt !== null && deadAt === null;

/** Until then a suspect waits for its turn, or is one in hand. */
const suspectUntil = ({ crashedAt }: StoredTask): number => (crashedAt ?? 0) + SUSPECT_MS;

/** Whether its holder's last sign of life, one lease before the end, was within an hour of the death before. */
const isAgain = ({ visibleAt, delayMs, crashedAt }: StoredTask): boolean =>
  crashedAt !== null && visibleAt - (delayMs ?? 0) - crashedAt < SUSPECT_MS;

/** A task that vanished with its holder, and was not judged for it yet. */
export const isUnjudged = (task: StoredTask, now: number): boolean =>
  task.holder !== null && task.missed === null && task.visibleAt <= now && isAgain(task);

/**
 * The suspects among what one holder has in hand, judged together by its death: also those whose leases have not ended. They stay
 * where they are; none while no lease of a suspect has ended.
 * @param hand those that crashed before
 */
export function judged<T extends StoredTask>(hand: readonly T[], now: number): readonly T[] {
  const suspects = hand.filter((task) => task.missed === null && isAgain(task));
  if (!suspects.some(({ visibleAt }) => visibleAt <= now)) return [];
  if (suspects.length === 1) {
    return suspects.map((task) => withCrash({ ...task, counted: task.counted + 1 }, now, 1));
  }
  return suspects.map((task) => withCrash({ ...task, aloneSince: task.aloneSince ?? now }, now, 0));
}

const withCrash = <T extends StoredTask>(task: T, now: number, missed: number): T => ({
  ...task,
  crashes: task.crashes + 1,
  crashedAt: now,
  missed,
});

/**
 * A due task before a claim hands out tasks, all vanished holders judged; null when it needs no change. Look again until none
 * does. A suspect goes to the line; after its first death a task is due as before, and asks for room.
 */
export function suspected<T extends StoredTask>(
  task: T,
  { now, maxCrashes }: Pick<ClaimRequest, "now" | "maxCrashes">,
): T | null {
  if (task.holder === null) return isSuspect(task) ? waiting(task, now) : null;
  if (task.missed === null) {
    return unroomed(withCrash({ ...task, ...UNSUSPECTED, holder: null }, now, 0));
  }
  if (task.counted < Math.max(1, maxCrashes)) return waiting({ ...task, holder: null }, now);
  return paused({ ...task, holder: null, missed: null, deadAt: now });
}

/** A suspect that waits for its turn: counted it stays one until it is tried, or the rest of a long line would go free with it. */
function waiting<T extends StoredTask>(task: T, now: number): T {
  const hasWaited = suspectUntil(task) <= now;
  if (hasWaited && task.counted === 0) return { ...task, ...UNSUSPECTED };
  const still = hasWaited ? { ...task, crashedAt: now } : task;
  return paused({ ...still, visibleAt: suspectUntil(still), delayMs: SUSPECT_MS });
}

/** A message keeps its room: nothing passes it. */
const unroomed = <T extends StoredTask>(task: T): T =>
  task.firstKey === null || task.kind === "message" ? task : { ...task, admission: "parked" };

/**
 * A task after a heartbeat with its latest token; null when the lease is lost. One that was judged, and that nobody else has in
 * hand since, its holder has again, and the crash is taken back.
 */
export function extended<T extends StoredTask>(
  task: T,
  { holder, now, leaseMs }: Pick<ClaimRequest, "holder" | "now" | "leaseMs">,
): T | null {
  const visibleAt = now + leaseMs;
  if (task.missed === null) return task.holder === null ? null : { ...task, visibleAt, delayMs: leaseMs };
  const crashes = task.crashes - 1;
  return admitted({
    ...task,
    holder: task.holder ?? holder,
    visibleAt,
    delayMs: leaseMs,
    crashes,
    crashedAt: crashes === 0 ? null : task.crashedAt,
    counted: task.counted - task.missed,
    aloneSince: crashes > 1 ? task.aloneSince : null,
    missed: null,
  });
}

/**
 * Suspects that may begin now, in their order: those that need not be alone, the least often crashed, timers and messages, as
 * armed.
 * @param tasks held suspects, and suspects with places
 */
export function suspectsInTurn<T extends TaskRow>(tasks: readonly T[], now: number): T[] {
  const held = tasks.filter((task) => isHeldSuspect(task) && heldAsSuspectUntil(task) > now);
  return tasks
    .filter((task) => isInLine(task) && !held.some((other) => isApart(task, other)))
    .toSorted(
      (a, b) =>
        Number(a.aloneSince !== null) - Number(b.aloneSince !== null) ||
        a.crashes - b.crashes ||
        Number(isWork(a)) - Number(isWork(b)) ||
        a.seq - b.seq,
    );
}

/**
 * When the first that waits can be claimed; null when none waits.
 * @param tasks held tasks of any workflow and queue, and tasks of the request
 */
export function nextSuspectAt(tasks: readonly StoredTask[]): number | null {
  const held = tasks.filter(isHeldSuspect);
  const times = tasks.filter(isInLine).map((task) => {
    const before = held.filter((other) => isApart(task, other)).map(heldAsSuspectUntil);
    return Math.max(task.crashedAt ?? 0, ...before);
  });
  return times.length === 0 ? null : Math.min(...times);
}

/** Two suspects of which one is alone are in hand one after the other. */
const isApart = (a: StoredTask, b: StoredTask): boolean => a.aloneSince !== null || b.aloneSince !== null;

const isHeldSuspect = (task: StoredTask): boolean => isSuspect(task) && task.holder !== null;

/** After an hour of life it is no suspect to others any more: its next death is a first one. */
const heldAsSuspectUntil = (task: StoredTask): number => Math.min(task.visibleAt, suspectUntil(task));

const isInLine = (task: StoredTask): boolean =>
  isSuspect(task) && task.holder === null && task.visibleAt === suspectUntil(task);

/** Timers and messages are quick, and others wait for them. */
function isWork({ kind }: StoredTask): boolean {
  return kind === "effect" || kind === "invocation";
}
