import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig, type UserWorkspaceConfig } from "vitest/config";
import { LongestFirst } from "./programs/longest-first.ts";
import { FILE_SHARE_VARIABLE, PROJECT_VARIABLE } from "./programs/project-of-run.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const source = (path: string): string => `${root}${path}`;

/** Many tests wait for processes of their own: a second file at a time halves the run, on two cores as well. */
const WORKERS = 2;
const PATIENCE_MS = 120_000;
/** Shorter than what ends a test, so that a failure shows what was expected. */
const POLL_MS = 100_000;
const COMPILE = source("test/programs/compile.ts");

/**
 * Which tests are of a project is said by their file's name: `NAME.PROJECT.test.ts`. Those without a project in their name
 * are of `rest`, which is all that `npm test` runs.
 */
const namedFor = (name: string): string => `test/**/*.${name}.test.ts`;

/** Files of `rest` that say the same of every database: `postgres` has them once more, with PostgreSQL alone. */
const OF_EVERY_DATABASE = [
  "test/engine/{each,ended-instances,folded-history,queries,schedules,search,stamps,within-host}.test.ts",
  "test/http/nul.test.ts",
  "test/payments/webhooks/notice-feed.test.ts",
  "test/storage/{contract,queries}.test.ts",
];

/** What needs packages of other people's that a clone does not install by itself: `npm ci --prefix test/foreign`. */
const FOREIGN = "test/foreign/*/*.test.ts";

/** Tests run against the sources; the packed build has a test of its own (`npm run test:package`). */
const sources = [
  { find: /^paystate$/, replacement: source("src/index.ts") },
  { find: "paystate/engine", replacement: source("src/engine/index.ts") },
  { find: "paystate/machines", replacement: source("machines/index.ts") },
  { find: /^paystate\/storage$/, replacement: source("storage/index.ts") },
  { find: "paystate/storage/sqlite", replacement: source("storage/sqlite.ts") },
  { find: "paystate/storage/postgres", replacement: source("storage/postgres.ts") },
  { find: "paystate/solana", replacement: source("src/solana/index.ts") },
  { find: "paystate/ledger", replacement: source("src/ledger.ts") },
  { find: "paystate/operator", replacement: source("src/operator.ts") },
  { find: "paystate/inspector", replacement: source("src/inspector.ts") },
  { find: "paystate/local", replacement: source("src/local/index.ts") },
  { find: "paystate/webhook", replacement: source("src/client/webhook/index.ts") },
  { find: "paystate/client", replacement: source("src/client/index.ts") },
  { find: "paystate/opentelemetry", replacement: source("src/telemetry/opentelemetry.ts") },
  { find: "paystate/prometheus", replacement: source("src/telemetry/prometheus.ts") },
  { find: "paystate/testing", replacement: source("test/kit/index.ts") },
];

/** Where the projects differ. */
interface ProjectParts {
  readonly name: string;
  readonly include: readonly string[];
  readonly exclude?: readonly string[];
  /** What has to be done once before its first test. */
  readonly setUp?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** How many files run beside one another: as many as in every project, where it says nothing. */
  readonly workers?: number;
}

/** What all projects have in common, in the mode of the command: a project does not inherit it. */
function project(
  { name, include, exclude = [], setUp = [], env = {}, workers = WORKERS }: ProjectParts,
  mode: string,
): UserWorkspaceConfig {
  return {
    mode,
    resolve: { alias: sources },
    test: {
      name,
      root,
      include: [...include],
      exclude: ["**/node_modules/**", ...exclude],
      globalSetup: [...setUp],
      setupFiles: source("test/programs/use-seed.ts"),
      env: { [PROJECT_VARIABLE]: name, ...env },
      // Files share what they have imported, which a third of the run went to; none changes a module for another.
      isolate: false,
      maxWorkers: workers,
      // One group after the other: what has a worker to itself has the machine to itself.
      sequence: { groupOrder: workers === WORKERS ? 0 : 1 },
      // What a file became is kept for the next run, under a hash of its text and of these settings.
      experimental: { fsModuleCache: true },
      // Ends what hangs, and measures nothing: a busy machine makes no test red.
      testTimeout: PATIENCE_MS,
      hookTimeout: PATIENCE_MS,
      expect: { poll: { timeout: POLL_MS } },
      // The stand-in for bigint-buffer below spl-token is TypeScript: what imports it has to pass through vite, and so
      // has what imports a module that a test replaces.
      server: { deps: { inline: [/@solana\/(spl-token|buffer-layout-utils|pay)\//, /@solana-program\//] } },
    },
  };
}

/** What each file of explorations has of the budget that the command gives; nothing where it gives none. */
function shareOfBudget(): Readonly<Record<string, string>> {
  const seconds = process.env["PAYSTATE_EXPLORE_SECONDS"];
  if (seconds === undefined) return {};
  const names = readdirSync(source("test"), { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => name.endsWith(".explorations.test.ts")).length;
  return { [FILE_SHARE_VARIABLE]: String((Number(seconds) * 1_000) / files) };
}

const PROJECTS: readonly ProjectParts[] = [
  // They start processes of their own, and mostly wait for them.
  { name: "processes", include: [namedFor("processes")], setUp: [COMPILE] },
  { name: "foreign", include: [FOREIGN], setUp: [COMPILE] },
  // Only generators draw here: random lives, deaths at random calls. One budget of time bounds all of it.
  { name: "explorations", include: [namedFor("explorations")], env: shareOfBudget() },
  { name: "postgres", include: [namedFor("postgres"), ...OF_EVERY_DATABASE] },
  // Whatever takes longest, each time whole.
  { name: "slow", include: [namedFor("slow")] },
  // They read the machine's own clock, and would measure their neighbours.
  { name: "clock", include: [namedFor("clock")], workers: 1 },
  { name: "rest", include: ["test/**/*.test.ts"], exclude: ["test/**/*.*.test.ts", "test/foreign/**"] },
];

export default defineConfig(({ mode }) => ({
  test: {
    root,
    globalSetup: [
      source("test/programs/print-seed.ts"),
      source("test/programs/use-memory-disk.ts"),
      source("test/programs/postgres.ts"),
    ],
    maxWorkers: WORKERS,
    sequence: { sequencer: LongestFirst },
    projects: PROJECTS.map((parts) => project(parts, mode)),
  },
}));
