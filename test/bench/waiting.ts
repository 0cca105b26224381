/** What fifty thousand orders that wait for their deposit take, how old the oldest look is, and when a deposit is told. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Report } from "./figures.ts";
import { startChain } from "./start-chain.ts";
import { fillAddresses } from "./watch.ts";
import type { PaidDemand, WaitingNodeSettings } from "./waiting-node-process.ts";
import type { WaitingFigures, WaitingSettings } from "./waiting-process.ts";

const ADDRESSES = 50_000;
const LATENCY_MS = 50;
/** Null: the endpoint names no limit. At 60 a second, 500 reads take 8.3 s. */
const RATES = [null, 60];

/** The node, at a URL of its own. */
async function startNode(settings: WaitingNodeSettings): Promise<{ url: string; child: ChildProcess }> {
  const child = fork("test/bench/waiting-node-process.ts", [JSON.stringify(settings)], {
    execArgv: ["--import", "tsx"],
  });
  const [{ url }] = (await once(child, "message")) as [{ url: string }];
  return { url, child };
}

async function measure(settings: WaitingSettings, node: ChildProcess): Promise<WaitingFigures> {
  const child = fork("test/bench/waiting-process.ts", [JSON.stringify(settings)], {
    execArgv: ["--import", "tsx"],
  });
  const exited = once(child, "exit").then((): never => {
    throw new Error("the process that waits ended without a word");
  });
  const [demand] = (await Promise.race([once(child, "message"), exited])) as [PaidDemand];
  const paid = once(node, "message");
  node.send(demand);
  await paid;
  child.send({});
  const [figures] = (await Promise.race([once(child, "message"), exited])) as [WaitingFigures];
  return figures;
}

export async function benchWaiting(report: Report): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  const chain = await startChain({ slotMs: 400 });
  try {
    for (const requestsPerSecond of RATES) {
      const node = await startNode({ chain: chain.url, latencyMs: LATENCY_MS });
      const file = join(folder, `${requestsPerSecond}.db`);
      const filled = await fillAddresses(file, chain, ADDRESSES);
      const paid = filled[Math.floor(ADDRESSES / 2)] ?? "";
      const settings = { file, chain, node: node.url, requestsPerSecond, addresses: ADDRESSES, paid };
      const { first, steady, seenSeconds } = await measure(settings, node.child);
      node.child.kill();
      const named = { first, steady };
      for (const [phase, told] of Object.entries(named)) {
        report({
          name: `${ADDRESSES.toLocaleString("en")} deposits waited for, ${requestsPerSecond ?? "any number of"} reads a second, ${phase}`,
          seconds: told.seconds,
          "% of a core": told.cpuShare,
          "event loop p99 ms": told.loopP99Ms,
          "max ms": told.loopMaxMs,
          "oldest look s": told.oldestMs / 1_000,
          "reads a second": told.readsPerSecond,
          ...(phase === "steady" ? { "paid one seen after s": seenSeconds } : {}),
        });
      }
    }
  } finally {
    await chain.end();
    rmSync(folder, { recursive: true, force: true });
  }
}
