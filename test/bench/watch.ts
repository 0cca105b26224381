/** What following deposit addresses takes: memory for each, calls and processor time for each look at all of them. */
import { fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { depositAddress } from "../../machines/index.ts";
import { sqliteStorage } from "../kit/storages.ts";
import { assetsWith } from "../../src/payments/assets/assets.ts";
import { depositAccounts } from "../../src/payments/private/look-at-account.ts";
import type { PaymentTables } from "../../src/payments/tables.ts";
import type { DepositRecord } from "../../src/payments/tables/deposits.ts";
import { addressOf, knownAddress, SOL_MINT } from "../../src/address.ts";
import { createPaymentService } from "../../src/service/create-payment-service.ts";
import { createEngine, startOf, type Workflow } from "../../src/engine/index.ts";
import { solanaLedger } from "../../src/solana/index.ts";
import { TEST_MASTER_SECRET } from "../kit/service-fixture.ts";
import type { ChainProcessReady } from "./chain-process.ts";
import { inParallel, median, type Report } from "./figures.ts";
import { privateRoutingOn, startChain } from "./start-chain.ts";
import type { WatchProcessFigures, WatchProcessSettings } from "./watch-process.ts";

/**
 * How many addresses, and how often each is looked at: once round all of its accounts, which are derived then, and as
 * often again with all that is remembered of them.
 */
const SIZES = [
  { size: 1_000, rounds: 12 },
  { size: 10_000, rounds: 12 },
  { size: 100_000, rounds: 1.1 },
];
/** In so many looks each of an address's accounts was looked at. */
const LOOKS_ROUND_ALL = 6;
const AT_ONCE = 256;
const ADDRESS_BYTES = 32;
const DAY_MS = 86_400_000;

/** Orders that wait for their deposit, as far as their addresses go: instances as the service itself starts them. */
export async function fillAddresses(
  file: string,
  chain: ChainProcessReady,
  count: number,
): Promise<readonly string[]> {
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
      accounts: depositAccounts(ledger, assets, address),
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

/** What a process says of itself that follows everything in the file. */
async function measure(settings: WatchProcessSettings): Promise<WatchProcessFigures> {
  const options = { execArgv: ["--expose-gc", "--import", "tsx"] };
  const child = fork("test/bench/watch-process.ts", [JSON.stringify(settings)], options);
  const exited = once(child, "exit").then((): never => {
    throw new Error("the process that watches ended without a word");
  });
  const [figures] = (await Promise.race([once(child, "message"), exited])) as [WatchProcessFigures];
  return figures;
}

/** Beside a service that follows nobody. */
export async function benchWatch(report: Report): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  const chain = await startChain({ slotMs: 400 });
  try {
    await fillAddresses(join(folder, "none.db"), chain, 0);
    const none = await measure({ chain, file: join(folder, "none.db"), addresses: 0, rounds: 0 });
    for (const { size, rounds } of SIZES) {
      const file = join(folder, `${size}.db`);
      await fillAddresses(file, chain, size);
      const { looks, heap, resident, heapAtMost, lost } = await measure({
        chain,
        file,
        addresses: size,
        rounds,
      });
      const [first] = looks;
      const calls = looks.map((look) => look.calls);
      const settled = looks.slice(LOOKS_ROUND_ALL);
      report({
        name: `${size.toLocaleString("en")} deposit addresses watched`,
        "addresses/look": first?.addresses,
        "calls/look": median(calls),
        "calls at most": Math.max(...calls),
        "CPU s/look": median(looks.map(({ cpuSeconds }) => cpuSeconds)),
        ...(settled.length > 0
          ? { "CPU s/look, nothing to derive": median(settled.map(({ cpuSeconds }) => cpuSeconds)) }
          : {}),
        "s/look": median(looks.map(({ seconds }) => seconds)),
        "CPU s of the first": first?.cpuSeconds,
        "looks given up": lost,
        "heap bytes/address": (heap - none.heap) / size,
        "heap MB": heap / 2 ** 20,
        "heap MB at the end of a look": heapAtMost / 2 ** 20,
        "RSS MB": resident / 2 ** 20,
      });
    }
  } finally {
    await chain.end();
    rmSync(folder, { recursive: true, force: true });
  }
}
