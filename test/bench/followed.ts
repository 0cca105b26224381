/** How late the event loop is, and what it costs, while thousands of payments are followed to their end. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { systemClock } from "../../src/runtime.ts";
import { followTransfers, type FollowedTransfers } from "./followed-transfers.ts";
import { cpuTime } from "./ledger-calls.ts";
import { timed, type Report } from "./figures.ts";

const SIZES = [0, 1_000, 10_000];
/** Of a hundred: those that no node has seen, whose bytes are sent again at each look. The others are confirmed. */
const UNSEEN_OF_HUNDRED = 1;
const LATENCY_MS = 50;
const MEASURED_MS = 30_000;
/** What the monitor waits for between two samples, which it counts as delay. */
const RESOLUTION_MS = 1;

async function measure({ node, transfers, until }: FollowedTransfers, report: Report): Promise<void> {
  transfers.signatures.forEach((signature, index) => {
    if (index % 100 >= UNSEEN_OF_HUNDRED) node.chain.set(signature, "confirmed");
  });
  const seen = node.chain.size;
  node.latencyMs = LATENCY_MS;
  await until(() => transfers.told("confirmed") >= seen);
  node.asked.length = 0;
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  const cpu = cpuTime();
  delay.enable();
  const { seconds } = await timed(() => systemClock.sleep(MEASURED_MS));
  delay.disable();
  const late = (share: number): number => Math.max(0, delay.percentile(share) / 1e6 - RESOLUTION_MS);
  report({
    name: `${transfers.signatures.length.toLocaleString("en")} payments followed`,
    "event loop p50 ms": late(50),
    "p99 ms": late(99),
    "max ms": delay.max / 1e6,
    "% of a core": (100 * (cpuTime() - cpu)) / 1e6 / seconds,
    "calls a second": node.asked.length / seconds,
    "sends a second": node.asked.filter(({ method }) => method === "sendTransaction").length / seconds,
  });
}

/** Wallet sends which nearly all are confirmed, and wait to be final; beside a process that follows none. */
export async function benchFollowed(report: Report): Promise<void> {
  for (const payments of SIZES) await followTransfers(payments, (followed) => measure(followed, report));
}
