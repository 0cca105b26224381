/** A service behind HTTP, with chain and client in a process of their own, and each call of a node counted. */
// modules: private, webhooks
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SOL_MINT } from "../../src/core/address.ts";
import { createHttpHandler } from "../../src/http/create-http-handler.ts";
import { keypairSigner } from "../../src/ledger/sign-transaction.ts";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import { fixedPrices } from "../../src/payments/frame/prices/prices.ts";
import { createPaymentService } from "../../src/service/create-payment-service.ts";
import type { PaymentService } from "../../src/service/payment-service.ts";
import type { PrivateRoutingOptions } from "../../src/payments/private/private-routing-options.ts";
import { solanaLedger } from "../../src/solana/index.ts";
import { TEST_MASTER_SECRET } from "../kit/service-fixture.ts";
import { sqliteStorage } from "../kit/storages.ts";
import { programOf, startChild } from "./child.ts";
import { costOf, type Cost } from "./figures.ts";
import { NodeCalls } from "./node-calls.ts";
import type { ChainSettings, Demand, Outside } from "./outside-process.ts";

/** What a service is measured on. */
export interface Surroundings extends ChainSettings {
  readonly pollMs: number;
  readonly hasPrivateMode?: boolean;
  /** Closed with the world; default a new file of SQLite. */
  readonly storage?: PaymentStorage;
}

/** What benches of payments work with. */
export interface ServiceWorld {
  readonly calls: NodeCalls;
  /** Takes so many private orders. */
  order(count: number): Promise<void>;
  /** So many wallet sends, or deposits of orders that were taken, until all are completed: what that costs this process. */
  complete(act: "send" | "deposit", count: number): Promise<Cost>;
  close(): Promise<void>;
}

const NO_LIMIT = { free: 1_000_000, pro: 1_000_000, enterprise: 1_000_000 };

export async function serviceWorld(surroundings: Surroundings): Promise<ServiceWorld> {
  const { pollMs, storage: given, hasPrivateMode = false, ...settings } = surroundings;
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  const outside = await startChild<Outside>(programOf("outside-process"), settings satisfies ChainSettings);
  const calls = new NodeCalls();
  const storage = given ?? (await sqliteStorage(join(folder, "service.db")));
  const ledger = solanaLedger({ endpoints: [{ url: outside.ready.url, fetch: calls.counting(fetch) }] });
  const service = createPaymentService({
    storage,
    ledger,
    masterSecrets: [TEST_MASTER_SECRET],
    stablecoins: outside.ready.mints,
    ledgerPollMs: pollMs,
    ...(hasPrivateMode ? { privateRouting: privateRoutingOn(outside.ready) } : {}),
  });
  await service.start();
  const { close, ...door } = await openDoor(service);
  const ask = async (act: Demand["act"], count: number): Promise<void> => {
    await outside.ask({ act, count, door } satisfies Demand);
  };
  return {
    calls,
    order: (count) => ask("order", count),
    complete: (act, count) =>
      costOf(count, async () => {
        await Promise.all([completed(service, count), ask(act, count)]);
      }),
    async close() {
      close();
      await service.stop();
      await ledger.close();
      await storage.close();
      await outside.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The service behind HTTP, and a key for it. */
async function openDoor(service: PaymentService): Promise<Demand["door"] & { close(): void }> {
  const limits = { reads: NO_LIMIT, quotes: NO_LIMIT, creates: NO_LIMIT };
  const handler = createHttpHandler({ service, limits });
  const server = createServer((request, response) => void handler.node(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { accountId } = await service.createAccount({ name: "bench", tier: "enterprise" });
  const { key } = await service.issueKey({ accountId, environment: "test" });
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { base, key, close };
}

/** Resolves when so many more orders are completed; rejects when one has failed. */
function completed(service: PaymentService, count: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let left = count;
    const stop = service.subscribe({ events: ["transaction.completed", "transaction.failed"] }, (notice) => {
      // On a machine that is too busy, blockhashes end before what is signed over them is sent.
      if (notice.event === "transaction.failed") reject(new Error(`failed: ${JSON.stringify(notice)}`));
      else left -= 1;
      if (left > 0) return;
      stop();
      resolve();
    });
  });
}

/** Private mode at the cost of the chain's own sponsor, with one SOL at 150 dollars. */
function privateRoutingOn({ mints, sponsorKey, treasury }: Outside): PrivateRoutingOptions {
  return {
    sponsor: keypairSigner(Buffer.from(sponsorKey, "base64")),
    treasury,
    prices: fixedPrices({
      [SOL_MINT]: 1_000_000_000n,
      [mints.USDC]: 150_000_000n,
      [mints.USDT]: 150_000_000n,
    }),
  };
}
