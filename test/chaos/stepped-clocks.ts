/** Clocks that are put while processes die: of all machines, and of one, back and on by an hour and right again. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Victim } from "./victim.ts";

const HOUR_MS = 3_600_000;
const STEPS_MS = [-HOUR_MS, 0, HOUR_MS, 0];
/** Long enough for each process to notice, and for work to be armed by each clock. */
const STEP_EVERY_MS = 4_000;

/** Until the signal aborts; then all are right. Processes on one file have one machine. */
export async function stepClocks(
  victims: readonly Victim[],
  isOneMachine: boolean,
  signal: AbortSignal,
): Promise<void> {
  for (let step = 0; !signal.aborted; step += 1) {
    const isOfOne = !isOneMachine && Math.floor(step / STEPS_MS.length) % 2 === 1;
    for (const victim of isOfOne ? victims.slice(0, 1) : victims) {
      victim.put(STEPS_MS[step % STEPS_MS.length] ?? 0);
    }
    await sleep(STEP_EVERY_MS, undefined, { signal }).catch(() => {});
  }
  for (const victim of victims) victim.put(0);
}
