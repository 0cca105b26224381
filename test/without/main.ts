/**
 * `npm run without -- NAME … [PATH …]` takes modules of the engine and of the payment service away, with all that needs them, in a copy of the tree,
 * and holds what is left against its types, its lint, its layers and its tests: all of `rest`, or those below the paths.
 * Files outside of a module say in their heads that they go with it, lines of a list name it, a mark takes the part below it,
 * and a page marks its part. Imports that nothing names any more go by themselves.
 */
import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { MODULES as ENGINE_MODULES } from "../../src/engine/modules.ts";
import { WAY_MODULES } from "../../src/payments/modules.ts";
import { goesWith, pageWithout, sourceWithout, type Left } from "./take-away.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const LINKED = ["node_modules", "examples/node_modules", "test/foreign/node_modules"];
/** Rules about types that could be written shorter: what remains of a list of one is no fault. */
const SHORTER = ["typescript/no-unnecessary-type-arguments", "typescript/no-unnecessary-type-assertion"];
const REPORT = "node_modules.report.json";

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** A module with its folder. */
interface Removable {
  readonly name: string;
  readonly folder: string;
  readonly needs: readonly string[];
  readonly neededBy: readonly string[];
}

const MODULES: readonly Removable[] = [
  ...ENGINE_MODULES.map(({ name, needs = [], neededBy = [] }) => ({
    name,
    folder: `src/engine/modules/${name}/`,
    needs,
    neededBy,
  })),
  ...WAY_MODULES.map(({ name, needs = [] }) => ({
    name,
    folder: `src/payments/${name}/`,
    needs,
    neededBy: [],
  })),
];

const isModule = (given: string): boolean => MODULES.some(({ name }) => name === given);
const wanted = process.argv.slice(2).filter(isModule);
const paths = process.argv.slice(2).filter((given) => !isModule(given));

/** These modules, and all that need one of them. */
function withDependants(names: readonly string[]): ReadonlySet<string> {
  const gone = new Set(names);
  for (let before = 0; before < gone.size;) {
    before = gone.size;
    for (const { name, needs } of MODULES) if (needs.some((need) => gone.has(need))) gone.add(name);
  }
  return gone;
}

/** The files of the tree, as they stand. */
const files = (): readonly string[] =>
  execFileSync("git", ["ls-files", "-co", "--exclude-standard", "--deduplicate"], {
    cwd: ROOT,
    encoding: "utf8",
  })
    .split("\n")
    .filter((path) => path !== "" && existsSync(join(ROOT, path)));

/** Copies what is left to a folder, and says what is not. */
function copyWithout(gone: ReadonlySet<string>, to: string): void {
  const all = files();
  const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
  const isSource = (path: string): boolean => /\.(ts|tsx|js|mjs)$/.test(path);
  const folders = MODULES.filter(({ name }) => gone.has(name)).map(({ folder }) => folder);
  const left = all.filter((path) => {
    const isGone =
      folders.some((folder) => path.startsWith(folder)) ||
      (isSource(path) && goesWith(read(path)).some((name) => gone.has(name)));
    if (isGone) say(`- ${path}`);
    return !isGone;
  });
  const kept = new Set(left);
  const goneFiles = new Set(all.filter((path) => !kept.has(path)));
  for (const path of left) {
    const target = join(to, path);
    mkdirSync(dirname(target), { recursive: true });
    const isGone = {
      file: (specifier: string) => specifier.startsWith(".") && goneFiles.has(join(dirname(path), specifier)),
      module: (name: string) => gone.has(name),
    };
    const changed: Left | null = isSource(path)
      ? sourceWithout(read(path), isGone)
      : path.endsWith(".md")
        ? pageWithout(read(path), (name) => gone.has(name))
        : null;
    if (changed === null || changed.gone.length === 0) {
      cpSync(join(ROOT, path), target);
      continue;
    }
    writeFileSync(target, changed.text);
    say(`~ ${path}`);
    if (isSource(path)) for (const line of changed.gone) say(`    ${line.trim().replaceAll(/\s+/g, " ")}`);
  }
  for (const path of LINKED.filter((each) => existsSync(join(ROOT, each)))) {
    symlinkSync(join(ROOT, path), join(to, path));
  }
}

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
  copyWithout(gone, folder);
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
