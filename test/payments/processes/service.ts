/** A process of its own for the payment service, on a database that other processes left as it is. */
// modules: webhooks
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createHttpHandler, createPaymentService } from "paystate";
import { solanaLedger } from "paystate/solana";
import { sqliteStorage } from "../../kit/storages.ts";
import type { ServiceReady, ServiceSettings } from "./settings.ts";
import { silentLogger } from "../../../src/core/runtime.ts";

const { database, rpcUrl, mints, receiverAuthority } = JSON.parse(process.argv[2] ?? "") as ServiceSettings;

const service = createPaymentService({
  storage: await sqliteStorage(database),
  ledger: solanaLedger({ endpoints: [rpcUrl] }),
  masterSecrets: [{ version: 1, secret: new Uint8Array(32).fill(7) }],
  stablecoins: mints,
  ledgerPollMs: 100,
  // What a killed process held is taken over by the next one as soon as may be.
  leaseMs: 1_000,
  logger: silentLogger,
  webhooks: { ca: receiverAuthority, allowAddress: (ip) => ip === "127.0.0.1" },
});
await service.start();
const { node } = createHttpHandler({ service });
const server = createServer((request, response) => void node(request, response));
server.listen(0, "127.0.0.1", () => void sayReady());

async function sayReady(): Promise<void> {
  const { accountId } = await service.createAccount({ name: "killed", tier: "enterprise" });
  const { key: apiKey } = await service.issueKey({ accountId, environment: "test" });
  const { port } = server.address() as AddressInfo;
  const ready: ServiceReady = { baseUrl: `http://127.0.0.1:${port}`, apiKey };
  process.stdout.write(`${JSON.stringify(ready)}\n`);
}
