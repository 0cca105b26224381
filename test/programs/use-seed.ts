/** Gives every fast-check property the seed of this run, and prints it beside each test that fails. */
import fc from "fast-check";
import { beforeEach } from "vitest";
import { repeatWith, seedOfRun } from "../kit/seed.ts";

const seed = seedOfRun();
fc.configureGlobal({ seed });

beforeEach(({ onTestFailed }) => {
  onTestFailed(({ task }) => {
    process.stderr.write(`"${task.name}" failed: ${repeatWith(seed)}\n`);
  });
});
