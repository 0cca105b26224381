/** The payment service as a host application embeds it: storage, ledger, service, handler, server. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import bs58 from "bs58";
import {
  createHttpHandler,
  createPaymentService,
  deskProvider,
  fixedPrices,
  keypairSigner,
  type Signer,
} from "paystate";
import { solanaLedger } from "paystate/solana";
import { openDatabase } from "./database.ts";
import type { DemoWallet, ServiceReady, ServiceSettings } from "./settings.ts";

// modules: private
// What SOL is called in the token list.
const SOL_MINT = "So11111111111111111111111111111111111111112";

const settings = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as ServiceSettings;
const { mints, operator } = settings;
const signer = ({ secretKey }: DemoWallet): Signer => keypairSigner(bs58.decode(secretKey));

const service = createPaymentService({
  storage: await openDatabase(settings.database),
  ledger: solanaLedger({ endpoints: [settings.rpcUrl] }),
  masterSecrets: [{ version: 1, secret: Buffer.from(settings.masterSecret, "hex") }],
  stablecoins: mints,
  ledgerPollMs: 100,
  // At four times the speed of mainnet, a signed transaction lives 15 seconds and must not wait that long after a kill.
  leaseMs: 2_000,
  // modules: private
  privateRouting: {
    sponsor: signer(operator.sponsor),
    treasury: operator.treasury.address,
    // One SOL is worth 150 dollars here, always.
    prices: fixedPrices({
      [SOL_MINT]: 1_000_000_000n,
      [mints.USDC]: 150_000_000n,
      [mints.USDT]: 150_000_000n,
    }),
  },
  // The desk's own inventory makes the price, as only a local chain allows.
  swap: { provider: deskProvider({ desk: signer(operator.desk) }) },
  // The demo's receiver runs on this machine, with a certificate of its own.
  // modules: webhooks
  webhooks: { ca: settings.receiverAuthority, allowAddress: (ip) => ip === "127.0.0.1" || ip === "::1" },
});
await service.start();

const { node } = createHttpHandler({ service });
const server = createServer((request, response) => void node(request, response));
server.listen(0, "127.0.0.1", () => void sayReady());

async function sayReady(): Promise<void> {
  // A free key may read 120 times a minute; a client that watches as closely as this demo needs more.
  const { accountId } = await service.createAccount({ name: "demo", tier: "pro" });
  const { key: apiKey } = await service.issueKey({ accountId, environment: "test" });
  const { port } = server.address() as AddressInfo;
  const ready: ServiceReady = { baseUrl: `http://127.0.0.1:${port}`, apiKey };
  process.stdout.write(`${JSON.stringify(ready)}\n`);
}
