/** What a service costs that has nothing to do: its share of a core, and what it asks of its storage in a minute. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { sqliteStorage } from "../kit/storages.ts";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import { createPaymentService } from "../../src/service/create-payment-service.ts";
import { solanaLedger } from "../../src/solana/index.ts";
import { SCOPES } from "../../src/payments/accounts/caller.ts";
import { signPayment } from "../kit/chain-fixture.ts";
import { TEST_MASTER_SECRET } from "../kit/service-fixture.ts";
import type { Report } from "./figures.ts";

const IDLE_MS = 60_000;
/** What is left of the work before it, a connection that is kept for a while above all, is none of idling. */
const REST_MS = 10_000;
const SLOT_MS = 100;

interface Chain {
  readonly rpcUrl: string;
  readonly mints: { readonly USDC: string; readonly USDT: string };
  readonly alice: { readonly address: string; readonly secretKey: string };
}

const wait = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** The chain in a process of its own, so that only the service is measured in this one. */
async function startChain(folder: string): Promise<{ readonly chain: Chain; end(): Promise<void> }> {
  const settings = { journal: join(folder, "chain.jsonl"), port: 0, slotMs: SLOT_MS };
  const args = ["--import", "tsx", "test/payments/processes/chain.ts", JSON.stringify(settings)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return {
    chain: JSON.parse(line) as Chain,
    async end() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** Methods that write even when nothing is due would show as changes of the file; these only ask. */
function counted(storage: PaymentStorage, calls: Map<string, number>): PaymentStorage {
  return new Proxy(storage, {
    get(target, property, receiver) {
      const value: unknown = Reflect.get(target, property, receiver);
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => {
        calls.set(String(property), (calls.get(String(property)) ?? 0) + 1);
        return Reflect.apply(value, target, args);
      };
    },
  });
}

/** A minute of rest after a completed send, on a file; the bench takes a little longer than that. */
export async function benchIdle(report: Report): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  const { chain, end } = await startChain(folder);
  const calls = new Map<string, number>();
  const { default: Database } = await import("better-sqlite3");
  const database = new Database(join(folder, "idle.db"));
  const storage = await sqliteStorage(database);
  const ledger = solanaLedger({ endpoints: [chain.rpcUrl] });
  const service = createPaymentService({
    storage: counted(storage, calls),
    ledger,
    masterSecrets: [TEST_MASTER_SECRET],
    stablecoins: chain.mints,
  });
  try {
    await service.start();
    await sendOnce(service, chain);
    await wait(REST_MS);
    calls.clear();
    const changesBefore = database.prepare("select total_changes() as total").get() as { total: number };
    const began = performance.now();
    const used = process.cpuUsage();
    await wait(IDLE_MS);
    const { user, system } = process.cpuUsage(used);
    const seconds = (performance.now() - began) / 1_000;
    const changes = database.prepare("select total_changes() as total").get() as { total: number };
    const reads = [...calls.values()].reduce((sum, count) => sum + count, 0);
    report({
      name: "idle for a minute",
      "% of a core": (user + system) / 1e4 / seconds,
      "storage calls/s": reads / seconds,
      "rows written": changes.total - changesBefore.total,
    });
  } finally {
    await service.stop();
    await ledger.close();
    await storage.close();
    database.close();
    await end();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One send from quote to finality. */
async function sendOnce(service: ReturnType<typeof createPaymentService>, { alice }: Chain): Promise<void> {
  const { accountId } = await service.createAccount({ name: "bench", tier: "enterprise" });
  const caller = { accountId, tier: "enterprise", scopes: SCOPES } as const;
  const completed = new Promise<void>((resolve) => {
    service.subscribe({ events: ["transaction.completed"] }, () => resolve());
  });
  const recipients = [{ address: alice.address, amount: "0.01" }];
  const assets = { inputAsset: "USDC", outputAsset: "USDC", amount: "0.01" };
  const { body: quote } = await service.createQuote(caller, { ...assets, sender: alice.address, recipients });
  const unsigned = Buffer.from(quote.transaction ?? "", "base64");
  await service.createTransaction(caller, {
    type: "send",
    quoteId: quote.quoteId,
    sender: alice.address,
    recipients,
    signedTransaction: signPayment(unsigned, Buffer.from(alice.secretKey, "base64")),
  });
  await completed;
}
