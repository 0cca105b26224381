/** Waiting for what others do, for a limited time. */
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

const LOOK_MS = 200;
// Far more than anything here takes, also on a machine that is busy with something else.
const PATIENCE_MS = 60_000;

/** Looks again and again until there is something to see, and fails when that takes too long. */
export async function until<Found>(
  what: string,
  look: () => Promise<Found | undefined> | Found | undefined,
): Promise<Found> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    assert(performance.now() <= deadline, `waited ${PATIENCE_MS / 1_000} seconds in vain for ${what}`);
    await pause(LOOK_MS);
  }
}
