/** What the demo has to undo, however it ends: all through, by a failure, or by Ctrl-C. */
import { complain, endBar } from "./screen.ts";

const cleanUps: (() => Promise<void> | void)[] = [];
let isCleaning = false;

/** Adds something to undo. The last added is undone first. */
export function atTheEnd(cleanUp: () => Promise<void> | void): void {
  cleanUps.unshift(cleanUp);
}

/** Runs the demo, undoes what was added, and ends the process: 0, 1 after a failure, 130 after Ctrl-C. */
export async function runWithCleanUp(demo: () => Promise<void>): Promise<void> {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => void endWith(130));
  }
  try {
    await demo();
    await endWith(0);
  } catch (error) {
    // Once cleaning has begun, every failure comes from that.
    if (isCleaning) return;
    complain(`demo: ${error instanceof Error ? error.message : String(error)}`);
    await endWith(1);
  }
}

async function endWith(exitCode: number): Promise<void> {
  if (isCleaning) return;
  isCleaning = true;
  endBar();
  for (const cleanUp of cleanUps) await cleanUp();
  process.exit(exitCode);
}
