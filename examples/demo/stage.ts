/** Where the acts are played: a chain, a service and a webhook receiver, started once for all of them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { atTheEnd } from "./clean-up.ts";
import { makeDatabase, type WantedDatabase } from "./database.ts";
import { createClient, type Client } from "./client.ts";
import { endProcesses, startProcess, type StartedProcess } from "./processes.ts";
import { startReceiver, type Receiver } from "./receiver.ts";
import { note, step, title } from "./screen.ts";
import type { ChainReady, ServiceReady, ServiceSettings } from "./settings.ts";

/** What an act works with. */
export interface Stage {
  readonly chain: ChainReady;
  readonly client: Client;
  readonly receiver: Receiver;
  /** Ends the service with SIGKILL, so that it can finish nothing, and starts another process on the same database. */
  readonly killAndRestartService: () => Promise<void>;
}

const script = (name: string): string => fileURLToPath(new URL(`./${name}.ts`, import.meta.url));

/** Starts everything; what it starts is ended with the demo. */
export async function setStage(wanted: WantedDatabase): Promise<Stage> {
  title("Starting a Solana chain, a payment service and a webhook receiver");
  const folder = mkdtempSync(join(tmpdir(), "paystate-demo-"));
  atTheEnd(() => rmSync(folder, { recursive: true, force: true }));
  const database = await makeDatabase(wanted, folder);
  atTheEnd(endProcesses);
  const secret = `whsec_${randomBytes(24).toString("base64")}`;
  const [{ ready: chain }, receiver] = await Promise.all([
    startProcess<ChainReady>(script("chain"), []),
    startReceiver(secret),
  ]);
  atTheEnd(receiver.close);
  note(`chain     ${chain.rpcUrl} (a real Solana runtime, slots of 100 ms)`);
  note(`receiver  ${receiver.url}`);

  const settings: ServiceSettings = {
    database,
    rpcUrl: chain.rpcUrl,
    mints: chain.mints,
    operator: chain.operator,
    masterSecret: randomBytes(32).toString("hex"),
    receiverAuthority: receiver.certificateAuthority,
  };
  const settingsFile = join(folder, "settings.json");
  writeFileSync(settingsFile, JSON.stringify(settings), { mode: 0o600 });
  const startService = (): Promise<StartedProcess<ServiceReady>> =>
    startProcess<ServiceReady>(script("service"), [settingsFile]);

  let service = await startService();
  // The first key stays in use: it is in the database, and so outlives the process that issued it.
  const client = createClient(() => service.ready.baseUrl, service.ready.apiKey);
  note(`service   ${service.ready.baseUrl}/v1`);
  await client.registerWebhook({
    url: receiver.url,
    events: ["transaction.pending", "transaction.confirmed", "transaction.completed", "transaction.failed"],
    secret,
  });
  return {
    chain,
    client,
    receiver,
    async killAndRestartService() {
      await service.kill();
      step("kill", "the service is gone; the chain goes on without it");
      service = await startService();
      step("restart", "a new process on the same database goes on where the old one was killed");
    },
  };
}
