/** Serves shop and payments: `npm start`. Kill it at any moment and start it again: chain, keys and payments go on. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createClient } from "paystate/client";
import { systemClock } from "paystate/engine";
import { createLocalChain } from "paystate/local";
import { sqliteStorage } from "paystate/storage/sqlite";
import { createApp } from "./app.ts";

/** The text of a file in data/, made by the first start. */
async function kept(name: string, make: () => string | Promise<string>): Promise<string> {
  const path = `data/${name}`;
  if (!existsSync(path)) writeFileSync(path, await make(), { mode: 0o600 });
  return readFileSync(path, "utf8");
}

mkdirSync("data", { recursive: true, mode: 0o700 });
const secret = Buffer.from(await kept("master-secret", () => randomBytes(32).toString("hex")), "hex");
const chain = await createLocalChain({ clock: systemClock, journal: "data/chain.jsonl" });
// One file for one machine. For several machines: `npm install pg`, and postgresStorage of "paystate/storage/postgres".
const storage = await sqliteStorage("data/payments.db");
const webhookSecret = await kept("webhook-secret", () => `whsec_${randomBytes(24).toString("base64")}`);
const address = await kept(
  "shop-address",
  () => chain.createWallet("shop", { lamports: 1_000_000_000n }).address,
);
const shop = { address, secret: webhookSecret, folder: "data/shipped" };
const { app, service, close } = await createApp({ chain, clock: systemClock, storage, secret, shop });

// The first customer, once. Others: npx paystate account create NAME --tier free --database data/payments.db
const apiKey = await kept("key", async () => {
  const { accountId } = await service.createAccount({ name: "first customer", tier: "free" });
  return (await service.issueKey({ accountId, environment: "test" })).key;
});
const alice = chain.createWallet("alice", { lamports: 100_000_000_000n });
await kept("alice.json", () => JSON.stringify([...alice.secretKey]));

const port = Number(process.env["PORT"] ?? 3000);
const baseUrl = `http://127.0.0.1:${port}`;
const server = app.listen(port, "127.0.0.1");
await once(server, "listening"); // rejects if the port is taken
await registerHook();
console.log(`listening on ${baseUrl}/v1, the key is in data/key; pay with: npm run pay`);

/** Registers the shop's receiver, once for each address of the app. */
async function registerHook(): Promise<void> {
  const client = createClient({ baseUrl, apiKey });
  const url = `${baseUrl}/hook`;
  const { webhooks } = await client.listWebhooks();
  if (webhooks.some((webhook) => webhook.url === url)) return;
  await client.registerWebhook({ url, secret: webhookSecret, events: ["transaction.completed"] });
}

async function stop(): Promise<void> {
  server.close();
  server.closeAllConnections();
  await close();
  await storage.close();
  await chain.close();
}
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void stop());
