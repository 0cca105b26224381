/**
 * `npm run verify` before a push, `npm run verify:all` for everything. Prints what each part said as it ends, then what each
 * took, and as its last line `N passed, N failed`, where a check counts like a test. Ends with 1 where something failed.
 */
import { readFileSync, rmSync } from "node:fs";
import { BEFORE_A_PUSH, EVERYTHING, REPORT } from "./parts.ts";
import { runParts, type Ended } from "./run-parts.ts";

/** A report of vitest's, as far as it is read here. */
interface TestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly startTime: number;
    readonly endTime: number;
  }[];
}

const write = (text: string): void => void process.stdout.write(`${text}\n`);

function show({ part, isGood, seconds, output }: Ended): void {
  write(`== ${part.name}: ${isGood ? "good" : "FAILED"} after ${seconds.toFixed(0)} s\n${output.trimEnd()}`);
}

/** Null where there is none: a run that was cut off, or another kind of run. */
function readReport(): TestReport | null {
  try {
    return JSON.parse(readFileSync(REPORT, "utf8")) as TestReport;
  } catch {
    return null;
  }
}

/** How much time the files of each project took, one after the other. */
function secondsByProject({ testResults }: TestReport): readonly (readonly [string, number])[] {
  const sums = new Map<string, number>();
  for (const { name, startTime, endTime } of testResults) {
    const named = /\.(\w+)\.test\.ts$/.exec(name)?.[1] ?? "rest";
    const project = name.includes("/test/foreign/") ? "foreign" : named;
    sums.set(project, (sums.get(project) ?? 0) + (endTime - startTime) / 1_000);
  }
  return [...sums].toSorted(([, one], [, other]) => other - one);
}

function showTimes(ended: readonly Ended[], report: TestReport | null): void {
  write("== what each part took, in seconds");
  for (const { part, seconds } of ended) write(`${seconds.toFixed(0).padStart(6)}  ${part.name}`);
  for (const [project, seconds] of report === null ? [] : secondsByProject(report)) {
    write(`${seconds.toFixed(0).padStart(6)}  test: files of ${project}, one after the other`);
  }
}

rmSync(REPORT, { force: true });
const ended = await runParts(process.argv.includes("--all") ? EVERYTHING : BEFORE_A_PUSH, show);
const report = readReport();
showTimes(ended, report);
const counted = ended.filter(
  ({ part }) => part.isToRead !== true && !(part.name === "test" && report !== null),
);
const tests = ended.find(({ part }) => part.name === "test");
const failedTests = report?.numFailedTests ?? 0;
// A file that does not load, or an unhandled error, fails the run without a failed test.
const failedOtherwise = tests?.isGood === false && report !== null && failedTests === 0 ? 1 : 0;
const passed = counted.filter(({ isGood }) => isGood).length + (report?.numPassedTests ?? 0);
const failed = counted.filter(({ isGood }) => !isGood).length + failedTests + failedOtherwise;
write(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
