/** The whole programs of the pages, for the tests that run them: by the sources, and by the package. */

/** Each program by the name of its fence, and the page that it stands on. */
export const PAGE_OF = {
  change: "src/engine/README.md",
  client: "src/client/README.md",
  cors: "src/http/README.md",
  embed: "src/service/README.md",
  engine: "src/engine/README.md",
  inspect: "src/engine/README.md",
  keep: "src/engine/README.md", // modules: retention
  later: "storage/README.md",
  prometheus: "src/payments/operator/README.md",
  queries: "src/engine/README.md", // modules: host-sql
  receive: "src/client/README.md",
  search: "src/engine/README.md", // modules: search
  schedule: "src/engine/README.md", // modules: schedules
  signer: "src/payments/private/README.md",
  table: "storage/README.md",
  throughput: "src/guide/limits.md",
  transact: "src/engine/README.md", // modules: host-sql
  verify: "src/client/README.md",
  within: "src/engine/README.md", // modules: host-sql
} as const;

/** Files of a Next app, by the paths in their fences. */
export const NEXT_FILES = [
  "next.config.ts",
  "lib/payments.ts",
  "instrumentation.ts",
  "app/v1/[...path]/route.ts",
] as const;
