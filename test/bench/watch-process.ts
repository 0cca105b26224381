/** A service that follows deposit addresses and has nothing else to do, alone in its process: what that takes. */
import { setTimeout as wait } from "node:timers/promises";
import { sqliteStorage } from "../kit/storages.ts";
import { createPaymentService } from "../../src/service/create-payment-service.ts";
import { solanaLedger } from "../../src/solana/index.ts";
import { silentLogger } from "../../src/runtime.ts";
import { TEST_MASTER_SECRET } from "../kit/service-fixture.ts";
import type { ChainProcessReady } from "./chain-process.ts";
import { cpuTime, replacing } from "./ledger-calls.ts";
import { quietNode } from "./quiet-node.ts";
import { privateRoutingOn } from "./start-chain.ts";

/** What it is to follow, as JSON in the first argument. */
export interface WatchProcessSettings {
  readonly file: string;
  readonly chain: ChainProcessReady;
  /** So many addresses, each to be looked at so many times. */
  readonly addresses: number;
  readonly rounds: number;
}

/** What it says of itself in the end. */
export interface WatchProcessFigures {
  /** In the order they were made: from the list of what is watched to the chain's last answer. */
  readonly looks: readonly Look[];
  /** Bytes after a full collection. */
  readonly heap: number;
  readonly resident: number;
  /** Bytes when most was held at the end of a look, before a collection. */
  readonly heapAtMost: number;
  /** Polls that were given up. */
  readonly lost: number;
}
interface Look {
  readonly addresses: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly calls: number;
}

const SETTLE_MS = 2_000;
const LOOK_MS = 100;
/** What has not come by then does not come. */
const PATIENCE_MS = 240_000;

const { file, chain, addresses, rounds } = JSON.parse(process.argv[2] ?? "") as WatchProcessSettings;
const collect = (globalThis as { gc?: () => void }).gc;
if (collect === undefined) throw new Error("run with --expose-gc");
const node = quietNode(chain.url);
let calls = 0;
const nodes = solanaLedger({
  endpoints: [
    {
      url: chain.url,
      fetch: (input, init) => {
        calls += 1;
        return node(input, init);
      },
    },
  ],
});
const made: Look[] = [];
let looked = 0;
let heapAtMost = 0;
let lost = 0;
let began: { readonly at: number; readonly cpu: number; readonly calls: number } | null = null;
/** The look under way, as far as it has come. */
let look: Look | null = null;
const stored = await sqliteStorage(file);
const storage = replacing(stored, "watches", (request) => {
  if ("kind" in request && request.kind === "deposits") {
    if (look !== null) made.push(look);
    look = null;
    began = { at: performance.now(), cpu: cpuTime(), calls };
  }
  return stored.watches(request);
});
const ledger = replacing(nodes, "amountsIn", async (accounts, commitment) => {
  const found = await nodes.amountsIn(accounts, commitment);
  if (began !== null) {
    looked += accounts.length;
    look = {
      addresses: (look?.addresses ?? 0) + accounts.length,
      seconds: (performance.now() - began.at) / 1_000,
      cpuSeconds: (cpuTime() - began.cpu) / 1e6,
      calls: calls - began.calls,
    };
    heapAtMost = Math.max(heapAtMost, process.memoryUsage().heapUsed);
  }
  return found;
});
const service = createPaymentService({
  storage,
  ledger,
  masterSecrets: [TEST_MASTER_SECRET],
  stablecoins: chain.mints,
  privateRouting: privateRoutingOn(chain),
  logger: {
    ...silentLogger,
    warn: (fields) => {
      if ((fields as { kind?: string }).kind === "deposits") lost += 1;
    },
  },
});
await service.start();
const started = performance.now();
while (looked < addresses * rounds && performance.now() - started < PATIENCE_MS) await wait(LOOK_MS);
// What the last look has told, and what is cleared away behind it.
await wait(SETTLE_MS);
collect();
collect();
const { heapUsed: heap, rss: resident } = process.memoryUsage();
const figures: WatchProcessFigures = { looks: made, heap, resident, heapAtMost, lost };
process.send?.(figures, () => process.exit());
