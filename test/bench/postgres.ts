/** The same durable workflows on PostgreSQL and on SQLite, both waiting for the disk at every commit. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { postgresStorage } from "../../storage/postgres.ts";
import { paymentStorage } from "../../src/payments/reads.ts";
import { startPostgres } from "../kit/postgres-server.ts";
import { sqliteStorage } from "../kit/storages.ts";
import { workflowsPerSecond } from "./engine.ts";
import type { Report } from "./figures.ts";

const WORKFLOWS = 2_000;
const ALONE = 100;

/** Reports workflows per second, one process, alone and many at once. */
export async function benchPostgres(report: Report): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  const server = await startPostgres({ fsync: "on", full_page_writes: "on" });
  try {
    for (const [total, atOnce] of [
      [ALONE, 1],
      [WORKFLOWS, 256],
    ] as const) {
      const storage = await postgresStorage(server.url, { schema: `at_once_${atOnce}` });
      const onServer = await workflowsPerSecond(paymentStorage(storage), total, { atOnce });
      const inFile = await workflowsPerSecond(await sqliteStorage(join(folder, `${atOnce}.db`)), total, {
        atOnce,
      });
      const shown = `${atOnce} at once`;
      report({ name: `SQLite workflows, ${shown}`, perSecond: inFile });
      report({ name: `PostgreSQL workflows, ${shown}`, perSecond: onServer, "of SQLite": onServer / inFile });
    }
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}
