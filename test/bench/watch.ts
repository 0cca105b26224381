/** What orders that wait for their deposit take, how old the oldest look is, and when a deposit is seen. */
import { fork, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { depositAddress } from "../../machines/deposit-address.ts";
import { addressOf, knownAddress, SOL_MINT } from "../../src/address.ts";
import { createEngine, startOf, type Workflow } from "../../src/engine/index.ts";
import { assetsWith } from "../../src/payments/assets/assets.ts";
import { depositAccounts } from "../../src/payments/private/look-at-account.ts";
import type { PaymentTables } from "../../src/payments/tables.ts";
import type { DepositRecord } from "../../src/payments/tables/deposits.ts";
import { createPaymentService } from "../../src/service/create-payment-service.ts";
import { solanaLedger } from "../../src/solana/index.ts";
import { TEST_MASTER_SECRET } from "../kit/service-fixture.ts";
import { sqliteStorage } from "../kit/storages.ts";
import type { ChainProcessReady } from "./chain-process.ts";
import { inParallel, type Report } from "./figures.ts";
import { privateRoutingOn, startChain } from "./start-chain.ts";
import type { PaidDemand, WatchedNodeSettings } from "./watched-node-process.ts";
import type { WatchFigures, WatchSettings } from "./watch-process.ts";

/** How many addresses, and the reads a second that the endpoint permits: null for any number. */
const SIZES = [
  { addresses: 10_000, perSecond: null },
  { addresses: 50_000, perSecond: null },
  // 500 reads take 8.3 s.
  { addresses: 50_000, perSecond: 60 },
];
const LATENCY_MS = 50;
const AT_ONCE = 256;
const ADDRESS_BYTES = 32;
const DAY_MS = 86_400_000;

/** Orders that wait for their deposit, as far as their addresses go: instances as the service itself starts them. */
async function fill(file: string, chain: ChainProcessReady, count: number): Promise<readonly string[]> {
  const storage = await sqliteStorage(file);
  const ledger = solanaLedger({ endpoints: [chain.url] });
  const { workflows } = createPaymentService({
    storage,
    ledger,
    masterSecrets: [TEST_MASTER_SECRET],
    stablecoins: chain.mints,
    privateRouting: privateRoutingOn(chain),
  });
  // It commits and never runs.
  const watched = workflows.flatMap(({ watches }) => Object.keys(watches));
  const watchers = Object.fromEntries(
    watched.map((kind) => [kind, { intervalMs: 1_000, poll: async () => [] }]),
  );
  const engine = createEngine<PaymentTables>({ storage, workflows, watchers });
  const addresses = workflows.find(({ name }) => name === depositAddress.id);
  if (addresses === undefined) throw new Error("private mode has no chart of deposit addresses");
  const now = Date.now();
  const assets = assetsWith({
    USDC: knownAddress(chain.mints.USDC),
    USDT: knownAddress(chain.mints.USDT),
  });
  const filled: string[] = [];
  await inParallel(count, AT_ONCE, async (index) => {
    const address = addressOf(randomBytes(ADDRESS_BYTES));
    filled.push(address);
    const deposit: DepositRecord = {
      id: address,
      transactionId: `tx_${index}`,
      accountId: "bench",
      masterVersion: 1,
      mint: chain.mints.USDC,
      amount: 1_000_000n,
      expiresAt: now + DAY_MS,
      waitEndedAt: null,
      heldReason: null,
      checkedTo: null,
      otherMintsAt: null,
      accounts: depositAccounts(ledger, assets, address),
      referenceKey: null,
      version: 1,
      createdAt: now,
    };
    const start = startOf(addresses as Workflow<typeof depositAddress, PaymentTables>, address, {
      address,
      order: deposit.transactionId,
      mint: deposit.mint,
      required: String(deposit.amount),
      smallest: { [SOL_MINT]: "1000000", [chain.mints.USDC]: "1000", [chain.mints.USDT]: "1000" },
      rentMint: SOL_MINT,
      expiresAt: deposit.expiresAt,
      lingerMs: 15 * 60_000,
      agingMs: 60 * 60_000,
      quietMs: DAY_MS,
      slowMs: DAY_MS,
      refundPauseMs: 600_000,
      sponsorCap: "10000000",
      isScreened: false,
    });
    await engine.commit({ starts: [start], writes: [{ table: "deposits", insert: deposit }] });
  });
  await ledger.close();
  await storage.close();
  return filled;
}

/** The node, at a URL of its own. */
async function startNode(settings: WatchedNodeSettings): Promise<{ url: string; child: ChildProcess }> {
  const child = fork("test/bench/watched-node-process.ts", [JSON.stringify(settings)], {
    execArgv: ["--import", "tsx"],
  });
  const [{ url }] = (await once(child, "message")) as [{ url: string }];
  return { url, child };
}

async function measure(settings: WatchSettings, node: ChildProcess): Promise<WatchFigures> {
  const child = fork("test/bench/watch-process.ts", [JSON.stringify(settings)], {
    execArgv: ["--expose-gc", "--import", "tsx"],
  });
  const exited = once(child, "exit").then((): never => {
    throw new Error("the process that watches ended without a word");
  });
  const [demand] = (await Promise.race([once(child, "message"), exited])) as [PaidDemand];
  const paid = once(node, "message");
  node.send(demand);
  await paid;
  child.send({});
  const [figures] = (await Promise.race([once(child, "message"), exited])) as [WatchFigures];
  return figures;
}

export async function benchWatch(report: Report): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  const chain = await startChain({ slotMs: 400 });
  try {
    for (const { addresses, perSecond } of SIZES) {
      const node = await startNode({ chain: chain.url, latencyMs: LATENCY_MS });
      const file = join(folder, `${addresses} ${perSecond}.db`);
      const filled = await fill(file, chain, addresses);
      const paid = filled[Math.floor(addresses / 2)] ?? "";
      const settings = { file, chain, node: node.url, requestsPerSecond: perSecond, addresses, paid };
      const { first, steady, seenSeconds, heap } = await measure(settings, node.child);
      node.child.kill();
      for (const [phase, told] of [
        ["first round", first],
        ["later", steady],
      ] as const) {
        report({
          name: `${addresses.toLocaleString("en")} deposits watched, ${perSecond ?? "any number of"} reads a second, ${phase}`,
          seconds: told.seconds,
          "% of a core": told.cpuShare,
          "event loop p99 ms": told.loopP99Ms,
          "max ms": told.loopMaxMs,
          "oldest look s": told.oldestMs / 1_000,
          "reads a second": told.readsPerSecond,
          ...(told === steady ? { "a paid one seen after s": seenSeconds, "heap MB": heap / 2 ** 20 } : {}),
        });
      }
    }
  } finally {
    await chain.end();
    rmSync(folder, { recursive: true, force: true });
  }
}
