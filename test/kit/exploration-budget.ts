/**
 * The time for what generators draw. `PAYSTATE_EXPLORE_SECONDS` gives one budget to all explorations of a run, as if one
 * followed the other: each file has an equal share, and each of its tests an equal share of what is left. Nothing is cut
 * off: what has begun ends, and no more begins. Without a budget each exploration draws as much as it asks for.
 */
import type fc from "fast-check";
import type { TestContext } from "vitest";
import { FILE_SHARE_VARIABLE } from "../programs/project-of-run.ts";

const fileShareMs = Number(process.env[FILE_SHARE_VARIABLE] ?? Infinity);

let fileEndsAt = Infinity;
let testEndsAt = Infinity;

/** Whether the test that runs has drawn for as long as it may. What draws asks before each life but the first. */
export const isTimeUp = (): boolean => performance.now() >= testEndsAt;

/** Called at the start of each file. */
export function beginFile(): void {
  fileEndsAt = performance.now() + fileShareMs;
  testEndsAt = fileEndsAt;
}

/** Called at the start of each test. */
export function beginTest({ file }: TestContext["task"]): void {
  const left = testsIn(file).filter(({ mode, result }) => mode === "run" && result?.duration === undefined);
  const now = performance.now();
  testEndsAt = now + Math.max(0, fileEndsAt - now) / Math.max(1, left.length);
}

type Task = TestContext["task"]["file"]["tasks"][number];

function testsIn({ tasks }: { readonly tasks: readonly Task[] }): readonly Task[] {
  return tasks.flatMap((task) => ("tasks" in task ? testsIn(task) : [task]));
}

/**
 * Ends the runs of a property when the time of its test is up: those that are left hold without being tried.
 * @param least so many are tried however little time there is: its examples, and one that is drawn
 */
export function withinBudget({ least = 1 }: { readonly least?: number } = {}): fc.Plugin<unknown> {
  return () => {
    let runs = 0;
    return {
      decorateRun: (run) => (value) => {
        if (runs >= least && isTimeUp()) return null;
        runs += 1;
        return run(value);
      },
    };
  };
}
