/** A copy of the project in a temporary folder: what is broken there harms nothing, however a run ends. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** The folders that breaks are made in. */
const SOURCES = ["machines", "storage", "src"];
const COPIED = [...SOURCES, "examples", "test", "package.json", "tsconfig.json"];
const PAGES = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "SECURITY.md"];
/** Linked to. */
const INSTALLED = ["node_modules", "test/foreign/node_modules"];
const filter = (path: string): boolean => !path.endsWith("/node_modules");
/** Between the request to end and the end of whatever has not listened: a worker in an endless loop cannot. */
const MERCY_MS = 3_000;

/** What a run of tests has found. */
export interface Failure {
  /** The name of the first test that failed, or what was said in place of one. */
  readonly test: string;
  /** From the project's root; null where the run did not tell. */
  readonly file: string | null;
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
  /** Of the processes that run at present. */
  #group: number | undefined;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async make(): Promise<ProjectCopy> {
    const folder = await mkdtemp(join(tmpdir(), "paystate-mutate-"));
    const copied = [...COPIED, ...PAGES].map((name) =>
      cp(join(ROOT, name), join(folder, "project", name), { recursive: true, filter }),
    );
    await Promise.all(copied);
    for (const name of INSTALLED) await symlink(join(ROOT, name), join(folder, "project", name), "dir");
    return new ProjectCopy(folder);
  }

  /** From the project's root. */
  sources(): readonly string[] {
    return SOURCES.flatMap((folder) => this.#scripts(folder));
  }

  /** The texts of all test files but those that need other people's packages, by their paths from the project's root. */
  tests(): ReadonlyMap<string, string> {
    const files = this.#scripts("test").filter((file) => /^(?!test\/foreign\/).*\.test\.ts$/.test(file));
    return new Map(files.map((file) => [file, this.read(file)]));
  }

  /** Of all sources and what tests them. */
  hash(): string {
    const hash = createHash("sha256");
    const testing = this.#scripts("test").filter((file) => !file.startsWith("test/mutate/"));
    for (const file of [...this.sources(), ...testing]) hash.update(`${file}\n${this.read(file)}`);
    return hash.digest("hex").slice(0, 12);
  }

  /** `file` from the project's root. */
  read(file: string): string {
    return readFileSync(join(this.#folder, "project", file), "utf8");
  }

  write(file: string, source: string): Promise<void> {
    return writeFile(join(this.#folder, "project", file), source);
  }

  /** Runs these test files. What first fails, null when all pass. */
  async firstFailure(files: readonly string[], timeoutMs: number): Promise<Failure | null> {
    const report = join(this.#folder, "report.json");
    await rm(report, { force: true });
    const reporting = ["--reporter=json", `--outputFile=${report}`, "--bail=1", "--maxWorkers=1"];
    // A quick run draws one adapter of each test, and a break of another one would seem to survive.
    const args = ["run", "--config", "test/vitest.config.ts", "--mode", "ci", "--project", "!foreign"];
    const end = await this.#vitest([...args, ...reporting, ...files], timeoutMs);
    if (end === "passed") return null;
    const written = await readFile(report, "utf8").catch(() => null);
    if (end === "hung" || written === null) return { test: `a run that ${end}`, file: null };
    return this.#failureIn(JSON.parse(written) as TestReport);
  }

  /** At once, so that a call which is ended judges nothing more. */
  remove(): void {
    this.#kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #vitest(args: readonly string[], timeoutMs: number): Promise<"passed" | "failed" | "hung"> {
    const command = join(ROOT, "node_modules", "vitest", "vitest.mjs");
    const cwd = join(this.#folder, "project");
    // With all that it starts in a group of processes, which can be ended together.
    const child = spawn(process.execPath, [command, ...args], { cwd, stdio: "ignore", detached: true });
    this.#group = child.pid;
    const asking = setTimeout(() => child.kill(), timeoutMs);
    const killing = setTimeout(() => this.#kill(), timeoutMs + MERCY_MS);
    const began = performance.now();
    const [code] = (await once(child, "exit")) as [number | null];
    clearTimeout(asking);
    clearTimeout(killing);
    this.#kill();
    if (performance.now() - began >= timeoutMs) return "hung";
    return code === 0 ? "passed" : "failed";
  }

  /** What is left of a run. */
  #kill(): void {
    try {
      if (this.#group !== undefined) process.kill(-this.#group, "SIGKILL");
    } catch {
      // Nothing is.
    }
    this.#group = undefined;
  }

  #failureIn({ testResults }: TestReport): Failure {
    for (const { name, message, assertionResults } of testResults) {
      const failed = assertionResults.find(({ status }) => status === "failed");
      const file = relative(join(this.#folder, "project"), name);
      if (failed !== undefined) return { test: failed.fullName, file };
      if (message !== "") return { test: `${file}: ${message.split("\n")[0] ?? ""}`, file };
    }
    return { test: "the run failed, and no test did", file: null };
  }

  /** In a fixed order. */
  #scripts(folder: string): readonly string[] {
    const at = join(this.#folder, "project");
    return readdirSync(join(at, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => join(folder, name))
      .toSorted();
  }
}
