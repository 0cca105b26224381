/** The same durable workflows on PostgreSQL and on SQLite, both waiting for the disk at every commit. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { postgresStorage } from "../../storage/postgres.ts";
import { paymentStorage } from "../../src/payments/payment-storage.ts";
import { startPostgres, type PostgresServer } from "../kit/postgres-server.ts";
import { serviceFixture } from "../kit/service-fixture.ts";
import { sqliteStorage } from "../kit/storages.ts";
import { workflowsPerSecond } from "./engine.ts";
import { inParallel, type Report } from "./figures.ts";
import { serverCpuMs } from "./server-cpu.ts";

const PAYMENTS = 96;
const AT_ONCE = 16;
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
    await benchPaymentCost(report, server);
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

/** Reports how long server and service compute for one wallet send: quote, POST, three statuses, three notices. */
async function benchPaymentCost(report: Report, server: PostgresServer): Promise<void> {
  const storage = paymentStorage(await postgresStorage(server.url, { schema: "payments", clock: "caller" }));
  const world = await serviceFixture({ storage });
  const alice = world.wallet("alice", { lamports: 1_000_000_000n, usdc: 100_000_000_000n });
  const bob = world.wallet("bob", { lamports: 1_000_000_000n });
  const caller = await world.caller("enterprise");
  const pay = async (count: number): Promise<void> => {
    await inParallel(count, AT_ONCE, async (index) => {
      await world.send(caller, { from: alice, to: bob.address, amount: `${index + 1}.${count}` });
    });
    await world.finalize();
  };
  await pay(10);
  const before = serverCpuMs(server.process().pid ?? 0);
  const own = process.cpuUsage();
  await pay(PAYMENTS);
  const { user, system } = process.cpuUsage(own);
  const after = serverCpuMs(server.process().pid ?? 0);
  await world.close();
  await storage.close();
  if (before === null || after === null) return;
  report({
    name: `PostgreSQL, one wallet send of ${AT_ONCE} at once`,
    "ms of the server": (after - before) / PAYMENTS,
    "ms of service and local chain": (user + system) / 1_000 / PAYMENTS,
  });
}
