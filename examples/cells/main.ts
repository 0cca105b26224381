/**
 * Two databases behind one handler: `npx tsx examples/cells/main.ts`.
 *
 * Each cell is a service of its own with its own database, here a file, and an account lives in one of them. Its key names
 * the cell, so the handler in front needs no table of who lives where. A cell that is down stops its own accounts only.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHttpHandler, createPaymentService } from "paystate";
import { systemClock } from "paystate/engine";
import { createLocalChain } from "paystate/local";
import { solanaLedger } from "paystate/solana";
import { sqliteStorage } from "paystate/storage/sqlite";
import { routeByKey } from "./route-by-key.ts";

const chain = await createLocalChain({ clock: systemClock, slotMs: 25 });
const folder = mkdtempSync(join(tmpdir(), "cells-"));

/** With the secrets, the purses and the limits of its own that a cell needs, it could stand on another continent. */
async function openCell(name: string) {
  const ledger = solanaLedger({ endpoints: [{ url: "http://local", fetch: chain.fetch }] });
  const storage = await sqliteStorage(join(folder, `${name}.db`));
  const masterSecrets = [{ version: 1, secret: randomBytes(32) }];
  const service = createPaymentService({ storage, ledger, masterSecrets, stablecoins: chain.mints });
  await service.start();
  return {
    fetch: createHttpHandler({ service }).fetch,
    /** An account, with the key that its owner is given. */
    async keyFor(owner: string): Promise<string> {
      const { accountId } = await service.createAccount({ name: owner, tier: "free" });
      const { key } = await service.issueKey({ accountId, environment: "test" });
      return `${name}.${key}`;
    },
    async close(): Promise<void> {
      await service.stop();
      await storage.close();
      await ledger.close();
    },
  };
}

const cells = { north: await openCell("north"), south: await openCell("south") };
const front = routeByKey(new Map(Object.entries(cells).map(([name, { fetch }]) => [name, fetch])));

async function ask(key: string, method: string, path: string, body?: object): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await front(new Request(`https://pay.example/v1${path}`, { method, headers, ...sent }));
  const { error, quoteId } = (await response.json()) as { error?: { code: string }; quoteId?: string };
  return [response.status, error?.code ?? quoteId?.slice(0, 3) ?? "ok"].join(" ");
}

const [ada, bea] = [await cells.north.keyFor("ada"), await cells.south.keyFor("bea")];
const { address } = chain.createWallet("payee", { lamports: 1_000_000_000n });
chain.advance(33);
const quote = { inputAsset: "USDC", outputAsset: "USDC", amount: "5" };
console.log("ada, in the north:", await ask(ada, "GET", `/balances/${address}`));
console.log("bea, in the south:", await ask(bea, "POST", "/quotes", quote));
console.log("ada's key, sent to the south:", await ask(ada.replace("north", "south"), "GET", "/tokens"));
console.log("a cell that is not there:", await ask(ada.replace("north", "west"), "GET", "/tokens"));
await cells.north.close();
console.log("bea, while the north is down:", await ask(bea, "GET", "/tokens"));

await cells.south.close();
await chain.close();
