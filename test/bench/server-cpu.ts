/** How long processes have computed, in milliseconds: what a server of PostgreSQL costs beside what its clients cost. */
import { readdirSync, readFileSync } from "node:fs";

/** The kernel counts in hundredths of a second. */
const TICK_MS = 10;

/** Parent, and what the process and its ended children have computed; null where there is no such process, or no /proc. */
function timesOf(
  pid: number | string,
): { readonly parent: number; readonly own: number; readonly ended: number } | null {
  try {
    // The name, in brackets, may hold anything.
    const fields = (readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1) ?? "")
      .split(" ")
      .map(Number);
    const [, parent = 0, , , , , , , , , , user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields;
    return { parent, own: (user + system) * TICK_MS, ended: (endedUser + endedSystem) * TICK_MS };
  } catch {
    return null;
  }
}

/** Of a process and all that it has started; NaN where nobody counts. */
export function treeCpuMs(pid: number | undefined): number {
  const root = timesOf(pid ?? 0);
  if (root === null) return NaN;
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(timesOf)
    .filter((times) => times?.parent === pid);
  return children.reduce((sum, times) => sum + (times?.own ?? 0), root.own + root.ended);
}
