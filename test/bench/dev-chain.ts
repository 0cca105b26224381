/** What a local chain keeps in memory for each transaction, and how long it takes to start again. */
import { mkdtempSync, rmSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalChain, type LocalChain, type LocalChainOptions } from "../../src/local/index.ts";
import { systemClock } from "../../src/runtime.ts";
import type { Report } from "./figures.ts";

const WALLETS = 50;
/** The first ones warm up: litesvm, the compiler and the undo log take their memory once. */
const WARM_UP = 2_000;
const COUNTED = 8_000;
const PER_SLOT = 10;

/** Payments of stablecoins to accounts that exist, ten a slot. */
export async function benchDevChain(report: Report): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-chain-"));
  const options = { clock: systemClock, slotMs: 0, journal: join(folder, "chain.jsonl") };
  try {
    const chain = await createLocalChain(options);
    await pay(chain, 0, WARM_UP);
    const before = process.memoryUsage().rss;
    const delays = monitorEventLoopDelay({ resolution: 1 });
    delays.enable();
    await pay(chain, WARM_UP, WARM_UP + COUNTED);
    delays.disable();
    const grown = process.memoryUsage().rss - before;
    await chain.close();
    report({ name: "dev-chain: memory", "kB a transaction": grown / 1_000 / COUNTED });
    report({ name: "dev-chain: event loop", "ms at most": delays.max / 1e6 });
    const replayed = await startOf(options);
    report({ name: "dev-chain: replay", "ms a transaction": replayed / (WARM_UP + COUNTED) });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Milliseconds until the chain of the journal is there. */
async function startOf(options: LocalChainOptions): Promise<number> {
  const began = performance.now();
  const chain = await createLocalChain(options);
  const milliseconds = performance.now() - began;
  await chain.close();
  return milliseconds;
}

async function pay(chain: LocalChain, from: number, to: number): Promise<void> {
  const wallets = Array.from({ length: WALLETS }, (_, n) =>
    chain.createWallet(`wallet ${n}`, { lamports: 1_000_000_000n, usdc: 1n }),
  );
  for (let n = from; n < to; n++) {
    chain.fund(wallets[n % WALLETS]?.address ?? "", { usdc: 1n + BigInt(n) });
    if (n % PER_SLOT === 0) chain.advance(1);
    await nextTurn();
  }
}
