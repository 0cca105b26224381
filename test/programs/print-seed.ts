/** Chooses and prints the seed of this run, before any worker starts. */
import { chooseSeed, repeatWith } from "../kit/seed.ts";

// oxlint-disable import/no-default-export -- vitest calls the default export

/** Called by vitest before the first test. */
export default function printSeed(): void {
  const seed = chooseSeed();
  process.stdout.write(`Random tests have seed ${seed}: ${repeatWith(seed)}\n`);
}
