/** Bytes that a finished workflow and a send leave, before and after retention, and what a claim waits beside a pass. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine } from "../../src/engine/index.ts";
import { newId } from "../../src/payments/ids.ts";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import { silentLogger, systemRandom } from "../../src/runtime.ts";
import { job } from "../engine/job.ts";
import { serviceFixture } from "../kit/service-fixture.ts";
import { sqliteStorage } from "../kit/storages.ts";
import { virtualClock, type VirtualClock } from "../kit/virtual-clock.ts";
import { timed, type Report } from "./figures.ts";

const WORKFLOWS = 10_000;
const SENDS = 300;
const DAY_MS = 86_400_000;
const PASS_MS = 600_000;

const jobs = job(async () => ({ event: { type: "DONE", by: "bench" } }));

/** Both figures, on SQLite files. */
export async function benchRetention(report: Report): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  try {
    await benchWorkflows(join(folder, "workflows.db"), report);
    await benchSends(join(folder, "sends.db"), report);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const bytesOf = async (storage: PaymentStorage): Promise<number> => (await storage.size()) ?? 0;

/** Turns the clock until a pass has ended; `meanwhile` is done between two batches. */
async function passed(
  clock: VirtualClock,
  lastPassAt: () => Promise<number | null | undefined>,
  meanwhile: () => Promise<void>,
): Promise<void> {
  const before = await lastPassAt();
  clock.advance(PASS_MS);
  while ((await lastPassAt()) === before) {
    await meanwhile();
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(20);
  }
}

async function benchWorkflows(path: string, report: Report): Promise<void> {
  const storage = await sqliteStorage(path);
  const other = await sqliteStorage(path);
  const clock = virtualClock();
  const engine = createEngine({
    storage,
    workflows: [jobs],
    clock,
    logger: silentLogger,
    keep: { finished: "90d" },
  });
  const empty = await bytesOf(storage);
  engine.run();
  for (let start = 0; start < WORKFLOWS; start += 200) {
    const ids = Array.from({ length: 200 }, () => newId("tx", clock.now(), systemRandom));
    await Promise.all(ids.map((id) => engine.start(jobs, { id, input: { id } })));
    await engine.settled();
    clock.advance(1);
  }
  const full = await bytesOf(storage);
  clock.advance(90 * DAY_MS);
  const waits: number[] = [];
  const claim = async (): Promise<void> => {
    const { seconds } = await timed(() =>
      other.claim({
        holder: "bench",
        now: clock.now(),
        leaseMs: 15_000,
        workflows: ["none@1"],
        maxCrashes: 5,
        steps: 64,
        free: 64,
        limited: 64,
      }),
    );
    waits.push(seconds * 1_000);
  };
  const { seconds } = await timed(() =>
    passed(clock, async () => (await engine.retention()).lastPassAt, claim),
  );
  const { removed } = await engine.retention();
  if (removed !== WORKFLOWS) throw new Error(`${removed} of ${WORKFLOWS} were removed`);
  report({
    name: `retention, ${WORKFLOWS.toLocaleString("en")} workflows`,
    "bytes each": (full - empty) / WORKFLOWS,
    "after retention": ((await bytesOf(storage)) - empty) / WORKFLOWS,
    "removed per second": removed / seconds,
    "claim p99 ms meanwhile": waits.toSorted((one, two) => one - two)[Math.floor(waits.length * 0.99)],
  });
  await engine.stop();
  await other.close();
  await storage.close();
}

async function benchSends(path: string, report: Report): Promise<void> {
  const storage = await sqliteStorage(path);
  const fixture = await serviceFixture({
    storage,
    keep: { transactions: "30d", notices: "30d", quotes: "1d" },
  });
  const { service, clock } = fixture;
  const caller = await fixture.caller("enterprise");
  const alice = fixture.wallet("alice", { lamports: 1_000_000_000n, usdc: 5_000_000_000n });
  const { address: to } = fixture.wallet("bob", { usdc: 1n });
  const empty = await bytesOf(storage);
  for (let start = 0; start < SENDS; start += 20) {
    for (let index = 0; index < 20; index++) {
      const amount = `1.${String(start + index).padStart(6, "0")}`;
      await fixture.send(caller, { from: alice, to, amount });
    }
    await fixture.finalize();
    clock.advance(1_000);
  }
  await service.settled();
  const full = await bytesOf(storage);
  clock.advance(31 * DAY_MS);
  const nothing = async (): Promise<void> => {};
  const lastPassAt = async () => (await service.health()).retention?.lastPassAt;
  await passed(clock, lastPassAt, nothing);
  await passed(clock, lastPassAt, nothing);
  const left = await service.listTransactions(caller, {});
  if (left.data.length > 0) throw new Error("some sends are left");
  report({
    name: `retention, ${SENDS} sends`,
    "bytes each": (full - empty) / SENDS,
    "after retention": ((await bytesOf(storage)) - empty) / SENDS,
  });
  await fixture.close();
  await storage.close();
}
