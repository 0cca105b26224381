/** How late the event loop is, and what it costs, while thousands of payments are followed to their end. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { sqliteStorage } from "../kit/storages.ts";
import { solanaLedger } from "../../src/solana/index.ts";
import { systemClock } from "../../src/runtime.ts";
import { landingNode } from "../kit/landing-node.ts";
import { transfersInFlight } from "../kit/transfers-in-flight.ts";
import { cpuTime } from "./ledger-calls.ts";
import { timed, type Report } from "./figures.ts";

const SIZES = [0, 1_000, 10_000];
/** Of a hundred: those that no node has seen, whose bytes are sent again at each look. The others are confirmed. */
const UNSEEN_OF_HUNDRED = 1;
const LATENCY_MS = 50;
const LOOK_MS = 50;
const MEASURED_MS = 30_000;
/** What the monitor waits for between two samples, which it counts as delay. */
const RESOLUTION_MS = 1;

const wait = (ms: number): Promise<void> => systemClock.sleep(ms);

async function followed(payments: number, report: Report): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  const node = landingNode(systemClock, LATENCY_MS);
  const ledger = solanaLedger({ endpoints: [{ url: "http://node", fetch: node.fetch }] });
  const storage = await sqliteStorage(join(folder, "followed.db"));
  const transfers = await transfersInFlight({ storage, ledger, clock: systemClock }, payments);
  transfers.signatures.forEach((signature, index) => {
    if (index % 100 >= UNSEEN_OF_HUNDRED) node.chain.set(signature, "confirmed");
  });
  const seen = node.chain.size;
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  transfers.engine.run();
  try {
    const isFollowed = (): boolean => transfers.engine.watching()["landing"]?.watched === payments;
    while (payments > 0 && (!isFollowed() || transfers.told("confirmed") < seen)) await wait(LOOK_MS);
    node.asked.length = 0;
    const cpu = cpuTime();
    delay.enable();
    const { seconds } = await timed(() => wait(MEASURED_MS));
    delay.disable();
    const late = (share: number): number => Math.max(0, delay.percentile(share) / 1e6 - RESOLUTION_MS);
    report({
      name: `${payments.toLocaleString("en")} payments followed`,
      "event loop p50 ms": late(50),
      "p99 ms": late(99),
      "max ms": delay.max / 1e6,
      "% of a core": (100 * (cpuTime() - cpu)) / 1e6 / seconds,
      "calls a second": node.asked.length / seconds,
      "sends a second": node.asked.filter(({ method }) => method === "sendTransaction").length / seconds,
    });
  } finally {
    await transfers.engine.stop();
    await ledger.close();
    await storage.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Wallet sends which nearly all are confirmed, and wait to be final; beside a process that follows none. */
export async function benchFollowed(report: Report): Promise<void> {
  for (const payments of SIZES) await followed(payments, report);
}
