/** A service that watches the deposits of many orders, alone in its process: what that takes, and when one is seen. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { sqliteStorage } from "../kit/storages.ts";
import { createPaymentService } from "../../src/service/create-payment-service.ts";
import { solanaLedger } from "../../src/solana/index.ts";
import { silentLogger } from "../../src/runtime.ts";
import { TEST_MASTER_SECRET } from "../kit/service-fixture.ts";
import type { Address } from "../../src/address.ts";
import type { ChainProcessReady } from "./chain-process.ts";
import { cpuTime } from "./ledger-calls.ts";
import { privateRoutingOn } from "./start-chain.ts";
import type { PaidDemand } from "./watched-node-process.ts";

/** What it is to follow, as JSON in the first argument. */
export interface WatchSettings {
  readonly file: string;
  readonly chain: ChainProcessReady;
  readonly node: string;
  readonly requestsPerSecond: number | null;
  readonly addresses: number;
  /** Its deposit comes last. */
  readonly paid: string;
}

/** What it says of itself. */
export interface WatchFigures {
  /** From the start until every address was looked at, with what it took meanwhile. */
  readonly first: WatchPhase;
  /** Afterwards. */
  readonly steady: WatchPhase;
  /** From the payment until it was read in full. */
  readonly seenSeconds: number;
  /** Bytes after a full collection. */
  readonly heap: number;
}
export interface WatchPhase {
  readonly seconds: number;
  readonly cpuShare: number;
  readonly loopP99Ms: number;
  readonly loopMaxMs: number;
  readonly oldestMs: number;
  readonly readsPerSecond: number;
}

const RESOLUTION_MS = 1;
const LOOK_MS = 250;
const STEADY_MS = 30_000;
const PATIENCE_MS = 180_000;

const settings = JSON.parse(process.argv[2] ?? "") as WatchSettings;
const { file, chain, node, requestsPerSecond, addresses, paid } = settings;
let reads = 0;
const looked = new Set<string>();
const nodes = solanaLedger({
  endpoints: [
    {
      url: node,
      ...(requestsPerSecond === null ? {} : { requestsPerSecond }),
      fetch: (input, init) => {
        if (typeof init?.body === "string" && init.body.includes("getMultipleAccounts")) reads += 1;
        return fetch(input, init);
      },
    },
  ],
});
const amountsIn: typeof nodes.amountsIn = async (accounts, commitment) => {
  const found = await nodes.amountsIn(accounts, commitment);
  if (looked.size < addresses) for (const { address } of accounts) looked.add(address);
  return found;
};
let seenAt = 0;
/** What is paid is read in full, and then handed to its order. */
const funds: typeof nodes.funds = async (...asked) => {
  const reading = await nodes.funds(...asked);
  if (
    asked[0].includes(paid as Address) &&
    reading.funds.some(({ tokens }) => tokens.some((units) => units > 0n))
  ) {
    seenAt ||= performance.now();
  }
  return reading;
};
const storage = await sqliteStorage(file);
const service = createPaymentService({
  storage,
  ledger: { ...nodes, amountsIn, funds },
  masterSecrets: [TEST_MASTER_SECRET],
  stablecoins: chain.mints,
  privateRouting: privateRoutingOn(chain),
  logger: silentLogger,
});

async function phase(isOver: (passedMs: number) => boolean): Promise<WatchPhase> {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  const [began, cpu, readsBefore] = [performance.now(), cpuTime(), reads];
  let oldestMs = 0;
  let lookAt = 0;
  delay.enable();
  while (!isOver(performance.now() - began)) {
    await wait(LOOK_MS);
    if (performance.now() < lookAt) continue;
    lookAt = performance.now() + 2_000;
    const { watches } = await service.health();
    oldestMs = Math.max(oldestMs, watches["deposits"]?.oldestMs ?? 0);
  }
  delay.disable();
  const seconds = (performance.now() - began) / 1_000;
  return {
    seconds,
    cpuShare: (100 * (cpuTime() - cpu)) / 1e6 / seconds,
    loopP99Ms: Math.max(0, delay.percentile(99) / 1e6 - RESOLUTION_MS),
    loopMaxMs: delay.max / 1e6,
    oldestMs,
    readsPerSecond: (reads - readsBefore) / seconds,
  };
}

await service.start();
const first = await phase((ms) => looked.size >= addresses || ms > PATIENCE_MS);
const steady = await phase((ms) => ms > STEADY_MS);
const account = nodes.tokenAccountOf(paid as Address, chain.mints.USDC as Address);
const demand: PaidDemand = { account, owner: paid, mint: chain.mints.USDC, units: "1000000" };
process.send?.(demand);
await new Promise((resolve) => process.once("message", resolve));
const paidAt = performance.now();
while (seenAt === 0 && performance.now() - paidAt < PATIENCE_MS) await wait(LOOK_MS / 5);
const collect = (globalThis as { gc?: () => void }).gc;
if (collect === undefined) throw new Error("run with --expose-gc");
collect();
const { heapUsed: heap } = process.memoryUsage();
const figures: WatchFigures = { first, steady, seenSeconds: (seenAt - paidAt) / 1_000, heap };
process.send?.(figures, () => process.exit());
