/** Complete wallet sends over HTTP, verification included: how many a second, and what they compute and ask of the chain. */
// modules: private, webhooks
import { paymentStorage } from "../../src/payments/payment-storage.ts";
import { postgresStorage } from "../../storage/postgres.ts";
import { postgresPrograms, startPostgres } from "../kit/postgres-server.ts";
import { report } from "./figures.ts";
import { treeCpuMs } from "./server-cpu.ts";
import { serviceWorld, type Surroundings } from "./service-world.ts";

const SENDS = 200;
const SPEED = { slotMs: 100, pollMs: 500 };

/** Reports one run on a new service. `ofServer` tells what a server has computed. */
async function reportSends(name: string, where: Surroundings, ofServer?: () => number): Promise<void> {
  const { complete, calls, close } = await serviceWorld(where);
  try {
    // The first one loads what the others find loaded.
    await complete("send", 1);
    calls.take();
    const before = ofServer?.() ?? 0;
    const { perSecond, cpuMs } = await complete("send", SENDS);
    const server = ofServer === undefined ? {} : { "of the server": (ofServer() - before) / SENDS };
    const asked = { "calls each": calls.take().calls / SENDS, sends: SENDS };
    report({ name: `send, ${name}`, perSecond, "CPU ms each": cpuMs, ...server, ...asked });
  } finally {
    await close();
  }
}

/** Quote, POST, broadcast and finality of each; client, chain and signature are those of another process. */
export async function benchSend(): Promise<void> {
  await reportSends("SQLite, final at once", { ...SPEED, finalizedAfter: 0 });
  await reportSends("SQLite, 3.2 s to finality", SPEED);
  if (postgresPrograms() === null) return;
  const server = await startPostgres({ fsync: "on", full_page_writes: "on" });
  try {
    const storage = paymentStorage(await postgresStorage(server.url));
    await reportSends("PostgreSQL, final at once", { ...SPEED, finalizedAfter: 0, storage }, () =>
      treeCpuMs(server.process().pid),
    );
  } finally {
    await server.stop();
  }
}
