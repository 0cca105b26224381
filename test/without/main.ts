/**
 * `npm run without -- NAME … [PATH …]` takes modules of the engine and of the payment service away, with all that needs them, in a copy of the tree,
 * and holds what is left against its types, its lint, its layers and its tests: all of `rest`, or those below the paths.
 * Files outside of a module say in their heads that they go with it, lines of a list name it, a mark takes the part below it,
 * and a page marks its part. Imports that nothing names any more go by themselves.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copyWithout, MODULES, withDependants } from "./copy.ts";

/** Rules about types that could be written shorter: what remains of a list of one is no fault. */
const SHORTER = ["typescript/no-unnecessary-type-arguments", "typescript/no-unnecessary-type-assertion"];
const REPORT = "node_modules.report.json";

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const isModule = (given: string): boolean => MODULES.some(({ name }) => name === given);
const wanted = process.argv.slice(2).filter(isModule);
const paths = process.argv.slice(2).filter((given) => !isModule(given));

/** The checks of what is left, as arguments of npm; tests last. */
function checks(): readonly (readonly [name: string, args: readonly string[]])[] {
  const tests = ["vitest", "run", "--config", "test/vitest.config.ts", "--project", "rest", ...paths];
  return [
    ["types", ["exec", "--", "node", "test/foreign/node_modules/typescript7/bin/tsc", "--noEmit", "-p", "."]],
    ["lint", ["exec", "--", "oxlint", ...SHORTER.flatMap((rule) => ["-A", rule])]],
    ["layers", ["run", "--silent", "layers"]],
    ["tests", ["exec", "--", ...tests, "--reporter=default", "--reporter=json", `--outputFile=${REPORT}`]],
  ];
}

function ranIn(folder: string): string {
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(
    readFileSync(join(folder, REPORT), "utf8"),
  ) as { numPassedTests: number; numFailedTests: number; testResults: unknown[] };
  return `${numPassedTests + numFailedTests} tests of ${testResults.length} files ran, ${numFailedTests} failed`;
}

if (wanted.length === 0) {
  say(`npm run without -- NAME …: expected one of ${MODULES.map(({ name }) => name).join(", ")}`);
  process.exit(2);
}
const gone = withDependants(wanted);
const folder = mkdtempSync(join(tmpdir(), "paystate-without-"));
try {
  say(`without ${[...gone].join(", ")}: - a file that goes, ~ one that loses lines`);
  for (const { name, neededBy } of MODULES) {
    if (gone.has(name) && neededBy.length > 0) {
      say(`${name} is needed by ${neededBy.join(", ")}: what names it there is red`);
    }
  }
  copyWithout(gone, folder, say);
  const failed = checks().flatMap(([name, args]) => {
    const { status } = spawnSync("npm", args, { cwd: folder, stdio: "inherit" });
    say(`== ${name}: ${status === 0 ? "good" : "FAILED"}`);
    return status === 0 ? [] : [name];
  });
  say(`== without ${[...gone].join(", ")}: ${ranIn(folder)}; ${failed.join(", ") || "nothing"} red`);
  process.exitCode = failed.length === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
