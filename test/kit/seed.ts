/** The seed of every random test of one run, so that a failed run can be repeated. */
import { createHash, randomInt } from "node:crypto";

/** The environment variable that gives a seed, and by which the workers of one run share it. */
const SEED_VARIABLE = "PAYSTATE_SEED";
/** fast-check's seeds are signed integers of 32 bits. */
const MAX_SEED = 0x7fff_ffff;

/** The seed in the environment. Throws where it is not a whole number from 0 to 2147483647, or where there is none. */
export function seedOfRun(): number {
  const given = process.env[SEED_VARIABLE] ?? "";
  const seed = Number(given);
  if (/^\d+$/.test(given) && seed <= MAX_SEED) return seed;
  throw new Error(`${SEED_VARIABLE} must be a whole number from 0 to ${MAX_SEED}, not "${given}"`);
}

/** Draws a seed where the environment gives none. Call it once, before the workers start: they inherit the variable. */
export function chooseSeed(): number {
  process.env[SEED_VARIABLE] ??= String(randomInt(MAX_SEED));
  return seedOfRun();
}

/** The same items in the order that the seed of the run draws: whoever stops early has not only seen the first. */
export function shuffled<Item>(items: readonly Item[]): readonly Item[] {
  const lots = items.map((item, index) => [lotOf(`${seedOfRun()} ${index}`), item] as const);
  return lots.toSorted(([one], [other]) => one - other).map(([, item]) => item);
}

const lotOf = (text: string): number => createHash("sha256").update(text).digest().readUIntBE(0, 6);

/** How to run the same tests with the same seed. */
export const repeatWith = (seed: number): string => `repeat with ${SEED_VARIABLE}=${seed}`;

/**
 * fast-check's options that repeat one run of one property alone: the path that its failure printed, given in
 * PAYSTATE_PATH beside the seed. Empty without it.
 */
export function repeatedRun(): { readonly path?: string } {
  const path = process.env["PAYSTATE_PATH"];
  return path === undefined ? {} : { path };
}
