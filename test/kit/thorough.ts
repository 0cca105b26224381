/** How much a run explores: `npm test` a quick sample, CI (`--mode ci`) a larger one, `npm run test:long` all of it. */

import { createHash } from "node:crypto";
import { seedOfRun } from "./seed.ts";

/** The depth of a run, by its vitest mode. `test` is vitest's own default. */
export type Depth = "quick" | "ci" | "long";

const MODES: Readonly<Record<string, Depth>> = { ci: "ci", long: "long" };
const DEPTH = MODES[process.env["MODE"] ?? ""] ?? "quick";

/** Whether everything is explored. */
export const THOROUGH = DEPTH === "long";

/** Whether there is no time for what takes longest: CI runs it. */
export const QUICK = DEPTH === "quick";

/** What this run takes of each depth's own. */
export function byDepth<Value>(choices: Readonly<Record<Depth, Value>>): Value {
  return choices[DEPTH];
}

/** How often a property is tried that deserves so many runs: a quick run has time for a third of them. */
export function runsOf(whole: number): number {
  return QUICK ? Math.ceil(whole / 3) : whole;
}

/**
 * All of the kinds that a test is made for; in a quick run only the one that the seed draws, so that each has its turn.
 * @param about what tells this choice from others: its name is enough.
 */
export function sampled<Kind>(kinds: readonly Kind[], about: string): readonly Kind[] {
  return QUICK ? drawnFrom(kinds, about) : kinds;
}

/**
 * As `sampled`, of what takes long: CI, too, tries only the one that the seed draws. `npm run test:long` tries all.
 */
export function drawn<Kind>(kinds: readonly Kind[], about: string): readonly Kind[] {
  return THOROUGH ? kinds : drawnFrom(kinds, about);
}

function drawnFrom<Kind>(kinds: readonly Kind[], about: string): readonly Kind[] {
  const digest = createHash("sha256").update(`${about} ${seedOfRun()}`).digest();
  const place = digest.readUInt32BE(0) % kinds.length;
  return kinds.slice(place, place + 1);
}

/** After so long a test that explores many lives is thought to hang, in milliseconds. */
export const EXPLORING_MS = THOROUGH ? 4 * 3_600_000 : 600_000;
