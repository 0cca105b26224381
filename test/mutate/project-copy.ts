/** A copy of the project in a temporary folder: what is broken there harms nothing, however a run ends. */
import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const COPIED = [
  "machines",
  "storage",
  "src",
  "examples",
  "test",
  "package.json",
  "tsconfig.json",
  "README.md",
  "ARCHITECTURE.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "LICENSE",
  "SECURITY.md",
];
/** Linked to. */
const INSTALLED = ["node_modules", "test/foreign/node_modules"];
const filter = (path: string): boolean => !path.endsWith("/node_modules");
/** A break may make a test hang; then it was noticed, too. */
const MAX_RUN_MS = 30 * 60_000;

/** What a run is bound to: the tests of one project of vitest's, and a time. */
interface RunBounds {
  readonly project?: string;
  readonly timeoutMs?: number;
}

interface TestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** The caller of `make` must call `remove`. */
export class ProjectCopy {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async make(): Promise<ProjectCopy> {
    const folder = await mkdtemp(join(tmpdir(), "paystate-mutate-"));
    await Promise.all(
      COPIED.map((name) => cp(join(ROOT, name), join(folder, "project", name), { recursive: true, filter })),
    );
    for (const name of INSTALLED) await symlink(join(ROOT, name), join(folder, "project", name), "dir");
    return new ProjectCopy(folder);
  }

  /** `file` from the project's root. */
  read(file: string): Promise<string> {
    return readFile(join(this.#folder, "project", file), "utf8");
  }

  write(file: string, source: string): Promise<void> {
    return writeFile(join(this.#folder, "project", file), source);
  }

  /** Runs test files, from `test/`, or all of them where none is named. The first test that fails, null when all pass. */
  async firstFailure(
    files: readonly string[],
    { project, timeoutMs }: RunBounds = {},
  ): Promise<string | null> {
    const report = join(this.#folder, "report.json");
    await rm(report, { force: true });
    const reporting = ["--reporter=json", `--outputFile=${report}`, "--bail=1", "--maxWorkers=1"];
    const paths = files.map((file) => join("test", file));
    // A quick run draws one adapter of each test, and a break of another one would seem to survive.
    const args = ["run", "--config", "test/vitest.config.ts", "--mode", "ci", ...reporting, ...paths];
    if (project !== undefined) args.push("--project", project, "--passWithNoTests");
    const hasPassed = await this.#vitest(args, timeoutMs ?? MAX_RUN_MS);
    if (hasPassed) return null;
    const written = await readFile(report, "utf8").catch(() => null);
    return written === null ? "the run ended without a report" : failureIn(JSON.parse(written) as TestReport);
  }

  remove(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true });
  }

  #vitest(args: readonly string[], timeout: number): Promise<boolean> {
    const command = join(ROOT, "node_modules", "vitest", "vitest.mjs");
    const options = { cwd: join(this.#folder, "project"), timeout, maxBuffer: 2 ** 28 };
    return new Promise((resolve) => {
      execFile(process.execPath, [command, ...args], options, (error) => resolve(error === null));
    });
  }
}

function failureIn({ testResults }: TestReport): string {
  for (const { name, message, assertionResults } of testResults) {
    const failed = assertionResults.find(({ status }) => status === "failed");
    if (failed !== undefined) return failed.fullName;
    if (message !== "") return `${name}: ${message.split("\n")[0] ?? ""}`;
  }
  return "the run failed, and no test did";
}
