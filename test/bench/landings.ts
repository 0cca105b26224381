/** Seconds until every one of many payments that landed at once is told, from a node that takes its time. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteStorage } from "../kit/storages.ts";
import { solanaLedger } from "../../src/solana/index.ts";
import { systemClock } from "../../src/runtime.ts";
import { landingNode } from "../kit/landing-node.ts";
import { transfersInFlight } from "../kit/transfers-in-flight.ts";
import { timed, type Report } from "./figures.ts";

const PAYMENTS = 3_000;
const LATENCIES_MS = [50, 200];
const LOOK_MS = 50;

const wait = (ms: number): Promise<void> => systemClock.sleep(ms);

async function landings(latencyMs: number, report: Report): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  const node = landingNode(systemClock, null);
  const ledger = solanaLedger({ endpoints: [{ url: "http://node", fetch: node.fetch }] });
  const storage = await sqliteStorage(join(folder, "landings.db"));
  const transfers = await transfersInFlight({ storage, ledger, clock: systemClock }, PAYMENTS);
  transfers.engine.run();
  try {
    const isFollowed = (): boolean => transfers.engine.watching()["landing"]?.watched === PAYMENTS;
    while (!isFollowed()) await wait(LOOK_MS);
    for (const signature of transfers.signatures) node.chain.set(signature, "finalized");
    node.asked.length = 0;
    node.mostAtOnce = 0;
    node.latencyMs = latencyMs;
    const { seconds } = await timed(async () => {
      while (transfers.told("completed") < PAYMENTS) await wait(LOOK_MS);
    });
    report({
      name: `${PAYMENTS.toLocaleString("en")} landings, ${latencyMs} ms a call`,
      "seconds until all are told": seconds,
      "calls each": node.asked.length / PAYMENTS,
      "calls at once": node.mostAtOnce,
    });
  } finally {
    await transfers.engine.stop();
    await ledger.close();
    await storage.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The node comes back from an outage during which all of them have become final. */
export async function benchLandings(report: Report): Promise<void> {
  for (const latencyMs of LATENCIES_MS) await landings(latencyMs, report);
}
