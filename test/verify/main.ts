/**
 * `npm run verify` before a push, `npm run verify:all` for everything. Prints what each part said as it ends, then what each
 * took, and as its last line `N passed, N failed`, where a check counts like a test. Ends with 3 where something failed and
 * that line says so; any other end than 0 had no time to say it.
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
    readonly status: string;
    readonly startTime: number;
    readonly endTime: number;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

const SAID = 3;

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

/** How many tests and checks failed. A file that does not load, or an unhandled error, fails a run without a failed test. */
function failedOf(ended: readonly Ended[], report: TestReport | null): number {
  const failedParts = ended.filter(({ part, isGood }) => !isGood && part.isToRead !== true);
  if (report === null) return failedParts.length;
  const failedChecks = failedParts.filter(({ part }) => part.name !== "test").length;
  const isTestPart = failedChecks < failedParts.length;
  const unloaded = report.testResults.filter(({ status, assertionResults }) => {
    return status === "failed" && !assertionResults.some((each) => each.status === "failed");
  }).length;
  const failedTests = report.numFailedTests + unloaded;
  return failedChecks + (isTestPart && failedTests === 0 ? 1 : failedTests);
}

function passedOf(ended: readonly Ended[], report: TestReport | null): number {
  const good = ended.filter(({ part, isGood }) => isGood && part.isToRead !== true);
  if (report === null) return good.length;
  return good.filter(({ part }) => part.name !== "test").length + report.numPassedTests;
}

rmSync(REPORT, { force: true });
const ended = await runParts(process.argv.includes("--all") ? EVERYTHING : BEFORE_A_PUSH, show);
const report = readReport();
showTimes(ended, report);
const failed = failedOf(ended, report);
write(`${passedOf(ended, report)} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : SAID;
