/** Wallet transfers that are followed on a node of the same process, for as long as they are measured. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { solanaLedger } from "../../src/solana/index.ts";
import { systemClock } from "../../src/runtime.ts";
import { landingNode, type LandingNode } from "../kit/landing-node.ts";
import { sqliteStorage } from "../kit/storages.ts";
import { transfersInFlight, type TransfersInFlight } from "../kit/transfers-in-flight.ts";

const LOOK_MS = 50;

/** What is measured, and where the chain can be changed. */
export interface FollowedTransfers {
  readonly node: LandingNode;
  readonly transfers: TransfersInFlight;
  /** Resolves once this holds, to within 50 ms. */
  until(holds: () => boolean): Promise<void>;
}

/** Has an engine follow so many transfers, and calls `measure` once it watches all of them. */
export async function followTransfers(
  count: number,
  measure: (followed: FollowedTransfers) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  const node = landingNode(systemClock, null);
  const ledger = solanaLedger({ endpoints: [{ url: "http://node", fetch: node.fetch }] });
  const storage = await sqliteStorage(join(folder, "transfers.db"));
  const transfers = await transfersInFlight({ storage, ledger, clock: systemClock }, count);
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await systemClock.sleep(LOOK_MS);
  };
  transfers.engine.run();
  try {
    await until(() => count === 0 || transfers.engine.watching()["landing"]?.watched === count);
    await measure({ node, transfers, until });
  } finally {
    await transfers.engine.stop();
    await ledger.close();
    await storage.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
