import { fileURLToPath } from "node:url";
import { defineConfig, type UserWorkspaceConfig } from "vitest/config";
import { LongestFirst } from "./programs/longest-first.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const source = (path: string): string => `${root}${path}`;

/** Tests that start processes of their own, and mostly wait for them: CI runs them, `npm test` alone has no time for them. */
const WITH_PROCESSES = [
  "test/cli/**/*.test.ts",
  "test/readme/{examples,snippets,tour}.test.ts",
  "test/deploy/{devnet,running}.test.ts",
  "test/lint/plugin.test.ts",
  "test/engine/*{-example,-examples,-processes}.test.ts",
  "test/{engine,payments}/processes.test.ts",
  "test/chaos/*.test.ts",
  "test/http/{cells,shop}-example.test.ts",
  "test/payments/swap/other-providers.test.ts",
  // Some of them wait for locks, poolers and servers that are taken away.
  "test/storage/sqlite-{full-disk,processes,read-only}.test.ts",
  "test/storage/postgres-{failures,outages,refusals}.test.ts",
  // By the clock of the machine.
  "test/local/killed-process.test.ts",
  "test/solana/lazy-loading.test.ts",
  "test/{http,inspector}/browser*.test.ts",
];

/** Random lives, deaths at every line, nodes that lie, and crowds: CI runs them, `npm test` alone has no time for them. */
const EXPLORATIONS = [
  "test/simulation/*.test.ts",
  "test/protocol/{model,on-chain}.test.ts",
  "test/engine/{chart-oracle,crowded-migrations,event-loop,many-children,migrating-lives}.test.ts",
  "test/engine/{random-charts,schedule-moments,schedule-years}.test.ts",
  "test/http/mutated-requests.test.ts",
  "test/local/garbage.test.ts",
  "test/payments/moving.test.ts",
  "test/payments/operator/resolve-crashes.test.ts",
  "test/payments/races/{cancelling,quotes}.test.ts",
  "test/payments/private/{bound-shares,covered-fees,fee-market,lies,lives,screening,two-live-copies}.test.ts",
  "test/payments/private/{other-mints-crashes,purses-explained,restored-*}.test.ts",
  "test/payments/swap/swap-under-lies.test.ts",
  "test/payments/webhooks/{catching-up,fair-deliveries,hostile-tenants,tarpit}.test.ts",
  "test/released/*.test.ts",
  "test/service/chain-down-kills.test.ts",
  "test/solana/{chaos,verify-random}.test.ts",
  "test/storage/{changed-indexes,equivalence,moving,postgres-many-keys}.test.ts",
];

/** What needs packages of other people's that a clone does not install by itself: `npm ci --prefix test/foreign`. */
const FOREIGN = ["test/foreign/*/*.test.ts"];

/** Tests run against the sources; the packed build has a test of its own (`npm run test:package`). */
const sources = [
  { find: /^paystate$/, replacement: source("src/index.ts") },
  { find: "paystate/engine", replacement: source("src/engine/index.ts") },
  { find: "paystate/machines", replacement: source("machines/index.ts") },
  { find: /^paystate\/storage$/, replacement: source("storage/index.ts") },
  { find: "paystate/storage/memory", replacement: source("storage/memory.ts") },
  { find: "paystate/storage/sqlite", replacement: source("storage/sqlite.ts") },
  { find: "paystate/storage/postgres", replacement: source("storage/postgres.ts") },
  { find: "paystate/solana", replacement: source("src/solana/index.ts") },
  { find: "paystate/local", replacement: source("src/local/index.ts") },
  { find: "paystate/webhook", replacement: source("src/receiver/index.ts") },
  { find: "paystate/client", replacement: source("src/client/index.ts") },
  { find: "paystate/opentelemetry", replacement: source("src/telemetry/opentelemetry.ts") },
  { find: "paystate/prometheus", replacement: source("src/telemetry/prometheus.ts") },
  { find: "paystate/testing", replacement: source("test/kit/index.ts") },
];

/** Where the projects differ. */
interface ProjectParts {
  readonly name: string;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly timeoutMs: number;
  /** What has to be done once before its first test. */
  readonly setUp: readonly string[];
  /** That of the command, such as `--mode long`: a project does not inherit it. */
  readonly mode: string;
}

/** What all projects have in common. */
function project({ name, include, exclude, timeoutMs, setUp, mode }: ProjectParts): UserWorkspaceConfig {
  return {
    mode,
    resolve: { alias: sources },
    test: {
      name,
      root,
      include: [...include],
      exclude: [...exclude],
      globalSetup: [...setUp],
      setupFiles: source("test/programs/use-seed.ts"),
      // Files share what they have imported, which a third of the run went to; none changes a module for another.
      isolate: false,
      // What a file became is kept for the next run, under a hash of its text and of these settings.
      experimental: { fsModuleCache: true },
      // Ends what hangs, and measures nothing: files beside one another share the cores.
      testTimeout: timeoutMs,
      hookTimeout: 30_000,
      // The stand-in for bigint-buffer below spl-token is TypeScript: what imports it has to pass through vite, and so
      // has what imports a module that a test replaces.
      server: { deps: { inline: [/@solana\/(spl-token|buffer-layout-utils|pay)\//, /@solana-program\//] } },
    },
  };
}

export default defineConfig(({ mode }) => ({
  test: {
    root,
    globalSetup: [
      source("test/programs/print-seed.ts"),
      source("test/programs/use-memory-disk.ts"),
      source("test/programs/postgres.ts"),
    ],
    // Many tests wait for processes of their own: a second file at a time halves the run, on two cores as well.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      project({
        name: "processes",
        include: WITH_PROCESSES,
        exclude: [],
        timeoutMs: 90_000,
        setUp: [source("test/programs/compile.ts")],
        mode,
      }),
      project({
        name: "explorations",
        include: EXPLORATIONS,
        exclude: [],
        timeoutMs: 20_000,
        setUp: [],
        mode,
      }),
      project({
        name: "foreign",
        include: FOREIGN,
        exclude: [],
        timeoutMs: 90_000,
        setUp: [source("test/programs/compile.ts")],
        mode,
      }),
      project({
        name: "rest",
        include: ["test/**/*.test.ts"],
        exclude: [...WITH_PROCESSES, ...EXPLORATIONS, "test/foreign/**"],
        timeoutMs: 20_000,
        setUp: [],
        mode,
      }),
    ],
  },
}));
