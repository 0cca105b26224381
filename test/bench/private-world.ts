/** A service with private mode on, behind HTTP on a file, its chain in another process, and every call of it in the books. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteStorage } from "../kit/storages.ts";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import { createPaymentService } from "../../src/service/create-payment-service.ts";
import { createHttpHandler } from "../../src/http/create-http-handler.ts";
import { solanaLedger } from "../../src/solana/index.ts";
import { TEST_MASTER_SECRET } from "../kit/service-fixture.ts";
import { ledgerCalls, type NodeCall } from "./ledger-calls.ts";
import { privateRoutingOn, startChain } from "./start-chain.ts";

/** An order that was taken. */
export interface TakenOrder {
  readonly transactionId: string;
  readonly ephemeralAddress: string;
  /** Whole units. */
  readonly depositAmount: string;
}

/** What a bench of private mode works with. */
export interface PrivateWorld {
  readonly recipients: readonly string[];
  readonly calls: NodeCall[];
  readonly storage: PaymentStorage;
  /** Quotes and posts an order over HTTP. */
  order(to: readonly { readonly address: string; readonly amount: string }[]): Promise<TakenOrder>;
  /** Brings each address what its order asks for; the slot by which all of it has landed. */
  deposit(orders: readonly TakenOrder[]): Promise<number>;
  /** Resolves when so many more orders are completed. */
  completed(count: number): Promise<void>;
  close(): Promise<void>;
}

const NO_LIMIT = { free: 1_000_000, pro: 1_000_000, enterprise: 1_000_000 };
const USDC_DECIMALS = 6;

export async function privateWorld({
  slotMs,
  pollMs,
  callsPerBatch = 1,
}: {
  readonly slotMs: number;
  readonly pollMs: number;
  readonly callsPerBatch?: number;
}): Promise<PrivateWorld> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  const chain = await startChain({ slotMs });

  const { calls, fetch: counted, watching, asking } = ledgerCalls(fetch);
  const file = await sqliteStorage(join(folder, "private.db"));
  const storage = watching(file);
  const nodes = solanaLedger({ endpoints: [{ url: chain.url, fetch: counted, callsPerBatch }] });
  const service = createPaymentService({
    storage,
    ledger: asking(nodes),
    masterSecrets: [TEST_MASTER_SECRET],
    stablecoins: chain.mints,
    ledgerPollMs: pollMs,
    privateRouting: privateRoutingOn(chain),
  });
  await service.start();
  const handler = createHttpHandler({
    service,
    limits: { reads: NO_LIMIT, quotes: NO_LIMIT, creates: NO_LIMIT },
  });
  const server = createServer((request, response) => void handler.node(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { accountId } = await service.createAccount({ name: "bench", tier: "enterprise" });
  const { key } = await service.issueKey({ accountId, environment: "test" });
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const post = async <T>(path: string, body: unknown): Promise<T> => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const response = await fetch(base + path, { method: "POST", headers, body: JSON.stringify(body) });
    const answer: unknown = await response.json();
    if (!response.ok) throw new Error(JSON.stringify(answer));
    return answer as T;
  };
  const completing = waiting();
  service.subscribe({ events: ["transaction.completed"] }, completing.happened);
  service.subscribe({ events: ["transaction.failed"] }, (notice) => {
    throw new Error(`an order has failed: ${JSON.stringify(notice)}`);
  });

  return {
    recipients: chain.recipients,
    calls,
    storage,
    completed: completing.times,
    async order(to) {
      const sum = to.reduce((total, { amount }) => total + unitsOf(amount), 0n);
      const amount = `${sum / 10n ** 6n}.${String(sum % 10n ** 6n).padStart(USDC_DECIMALS, "0")}`;
      const assets = { inputAsset: "USDC", outputAsset: "USDC", amount };
      const quote = await post<{ quoteId: string }>("/v1/quotes", {
        ...assets,
        mode: "private",
        recipients: to,
      });
      return post<TakenOrder>("/v1/transactions", {
        type: to.length === 1 ? "send" : "payroll",
        mode: "private",
        quoteId: quote.quoteId,
        sender: chain.wallets.sender.address,
        recipients: to,
      });
    },
    deposit: (orders) =>
      chain.deposit(
        orders.map(({ ephemeralAddress, depositAmount }) => [
          ephemeralAddress,
          String(unitsOf(depositAmount)),
        ]),
      ),
    async close() {
      server.close();
      server.closeAllConnections();
      await service.stop();
      await nodes.close();
      await file.close();
      await chain.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Something that happens again and again, and those who wait for the n-th time from now. */
function waiting(): { happened(): void; times(count: number): Promise<void> } {
  let soFar = 0;
  const waiters = new Set<() => void>();
  return {
    happened() {
      soFar += 1;
      for (const look of waiters) look();
    },
    times: (count) =>
      new Promise((resolve) => {
        const due = soFar + count;
        const look = (): void => {
          if (soFar < due) return;
          waiters.delete(look);
          resolve();
        };
        waiters.add(look);
      }),
  };
}

/** Millionths of a decimal string. */
function unitsOf(amount: string): bigint {
  const [whole = "0", part = ""] = amount.split(".");
  return BigInt(whole + part.padEnd(USDC_DECIMALS, "0"));
}
