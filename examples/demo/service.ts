/** The payment service as a host application embeds it: storage, ledger, service, handler, server. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createHttpHandler, createPaymentService } from "paystate";
import { solanaLedger } from "paystate/solana";
import { sqliteStorage } from "paystate/storage/sqlite";
import type { ServiceReady, ServiceSettings } from "./settings.ts";

const settings = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as ServiceSettings;

const service = createPaymentService({
  storage: await sqliteStorage(settings.database),
  ledger: solanaLedger({ endpoints: [settings.rpcUrl] }),
  masterSecrets: [{ version: 1, secret: Buffer.from(settings.masterSecret, "hex") }],
  stablecoins: settings.mints,
  ledgerPollMs: 100,
  // At four times the speed of mainnet, a signed transaction lives 15 seconds and must not wait that long after a kill.
  leaseMs: 2_000,
  // The demo's receiver runs on this machine, with a certificate of its own.
  webhooks: { ca: settings.receiverAuthority, allowAddress: (ip) => ip === "127.0.0.1" || ip === "::1" },
});
await service.start();

const { node } = createHttpHandler({ service });
const server = createServer((request, response) => void node(request, response));
server.listen(0, "127.0.0.1", () => void sayReady());

async function sayReady(): Promise<void> {
  const { accountId } = await service.createAccount({ name: "demo", tier: "free" });
  const { key: apiKey } = await service.issueKey({ accountId, environment: "test" });
  const { port } = server.address() as AddressInfo;
  const ready: ServiceReady = { baseUrl: `http://127.0.0.1:${port}`, apiKey };
  process.stdout.write(`${JSON.stringify(ready)}\n`);
}
