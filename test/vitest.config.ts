import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const root = fileURLToPath(new URL("..", import.meta.url));
const source = (path: string): string => `${root}${path}`;

/** Tests run against the sources; the packed build has a test of its own (`npm run test:package`). */
export default defineConfig({
  resolve: {
    alias: [
      { find: /^paystate$/, replacement: source("src/index.ts") },
      { find: "paystate/engine", replacement: source("src/engine/index.ts") },
      { find: "paystate/machines", replacement: source("machines/index.ts") },
      { find: "paystate/storage/memory", replacement: source("storage/memory.ts") },
      { find: "paystate/storage/sqlite", replacement: source("storage/sqlite.ts") },
      { find: "paystate/solana", replacement: source("src/solana/index.ts") },
      { find: "paystate/local", replacement: source("src/local/index.ts") },
      { find: "paystate/webhook", replacement: source("src/receiver/index.ts") },
      { find: "paystate/testing", replacement: source("test/kit/index.ts") },
    ],
  },
  test: {
    root,
    include: ["test/**/*.test.ts"],
    globalSetup: [source("test/programs/print-seed.ts"), source("test/programs/compile.ts")],
    setupFiles: source("test/programs/use-seed.ts"),
    // Files share what they have imported, which a third of the run went to; none changes a module for another.
    isolate: false,
    testTimeout: 20_000,
    hookTimeout: 30_000,
    // Many tests wait for processes of their own: a second file at a time halves the run, on two cores as well.
    maxWorkers: 2,
    // The stand-in for bigint-buffer below spl-token is TypeScript: what imports it has to pass through vite.
    server: { deps: { inline: [/@solana\/(spl-token|buffer-layout-utils)\//] } },
  },
});
