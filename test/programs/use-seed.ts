/**
 * Gives every fast-check property the seed of this run and the usual number of runs, gives each test its share of the time,
 * and prints the seed beside each test that fails.
 */
import fc from "fast-check";
import { beforeEach } from "vitest";
import { beginFile, beginTest } from "../kit/exploration-budget.ts";
import { repeatWith, seedOfRun } from "../kit/seed.ts";
import { runsOf } from "../kit/thorough.ts";

/** fast-check's own. */
const USUAL_RUNS = 100;

const seed = seedOfRun();
fc.configureGlobal({ seed, numRuns: runsOf(USUAL_RUNS) });

beginFile();

beforeEach(({ task, onTestFailed }) => {
  beginTest(task);
  onTestFailed(() => {
    process.stderr.write(`"${task.name}" failed: ${repeatWith(seed)}\n`);
  });
});
