/** Whether a step and a claim cost the same beside a thousand and beside a million stored instances and waiting tasks. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteStorage } from "../../storage/sqlite.ts";
import type { PaymentStorage } from "../../storage/storage.ts";
import { timed } from "./figures.ts";
import type { Report } from "./figures.ts";

const SIZES = [1_000, 100_000, 1_000_000];
const ROWS_PER_COMMIT = 500;
const STEPS = 3_000;
const STEPS_PER_BATCH = 64;
const CLAIMS = 500;
const WORKFLOW = "bench@1";
const NOW = Date.UTC(2026, 0, 1);
const SNAPSHOT = JSON.stringify({ value: "waiting", context: { n: 0 }, status: "active" });

const instance = (id: string) => ({
  id,
  workflow: WORKFLOW,
  hash: "h",
  status: "active" as const,
  snapshot: SNAPSHOT,
  createdAt: NOW,
});
const task = (id: string, dueAt: number) => ({
  id: `${id}:1:0`,
  instance: id,
  workflow: WORKFLOW,
  kind: "timer" as const,
  name: "later",
  payload: "{}",
  dueAt,
  lane: null,
});

/** Instances that wait for a timer tomorrow. */
async function fill(storage: PaymentStorage, from: number, to: number): Promise<void> {
  for (let start = from; start < to; start += ROWS_PER_COMMIT) {
    const ids = Array.from(
      { length: Math.min(ROWS_PER_COMMIT, to - start) },
      (_, index) => `i${start + index}`,
    );
    const arms = ids.map((id, index) => ({ task: task(id, NOW + 86_400_000 + start + index) }));
    await storage.commit([{ starts: ids.map(instance), arms }]);
  }
}

/** Microseconds for a step of an old instance: the row, its history, one task gone and one more. */
async function stepCost(storage: PaymentStorage, size: number): Promise<number> {
  // Spread over all of them, so that no page of the file is favoured.
  const spread = Array.from({ length: STEPS }, (_, index) => `i${Math.floor((index * size) / STEPS)}`);
  const distinct = [...new Set(spread)];
  const versions = new Map<string, number>();
  for (const id of distinct) versions.set(id, (await storage.load(id))?.version ?? 0);
  const versionOf = (id: string): number => versions.get(id) ?? 0;
  const { seconds } = await timed(async () => {
    for (let start = 0; start < distinct.length; start += STEPS_PER_BATCH) {
      const batch = distinct.slice(start, start + STEPS_PER_BATCH);
      await storage.commit(
        batch.map((id) => ({
          step: {
            id,
            expectedVersion: versionOf(id),
            workflow: WORKFLOW,
            hash: "h",
            status: "active" as const,
            snapshot: SNAPSHOT,
            at: NOW,
          },
          disarms: [{ instance: id, timer: "later" }],
          arms: [{ task: { ...task(id, NOW + 86_400_000), id: `${id}:${versionOf(id) + 1}:0` } }],
          history: [{ instance: id, version: versionOf(id) + 1, at: NOW, event: "{}", value: '"waiting"' }],
        })),
      );
    }
  });
  return (seconds * 1e6) / distinct.length;
}

/** The 99th percentile of a claim that finds one due task among all that wait, in milliseconds. */
async function claimP99(storage: PaymentStorage): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < CLAIMS; index++) {
    const id = `due-${index}`;
    await storage.commit([{ arms: [{ task: task(id, NOW) }] }]);
    const { seconds, result } = await timed(() =>
      storage.claim({
        holder: "bench",
        now: NOW,
        leaseMs: 15_000,
        workflows: [WORKFLOW],
        free: 64,
        laned: 64,
        maxCrashes: 5,
      }),
    );
    if (result.length !== 1) throw new Error(`a claim found ${result.length} tasks instead of one`);
    times.push(seconds * 1e3);
    await storage.commit([{ consumes: { task: `${id}:1:0`, token: 1 } }]);
  }
  return times.toSorted((one, other) => one - other)[Math.floor(CLAIMS * 0.99)] ?? 0;
}

/** Beside each size, how much more than at the first one. */
export async function benchGrowth(report: Report): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  const storage = await sqliteStorage(join(folder, "growth.db"));
  try {
    let stored = 0;
    let first = 0;
    for (const [index, size] of SIZES.entries()) {
      await fill(storage, stored, size);
      stored = size;
      const cost = await stepCost(storage, size);
      if (index === 0) first = cost;
      report({
        name: `growth, ${size.toLocaleString("en")} stored`,
        "µs/step": cost,
        "times the first": cost / first,
        "claim p99 ms": await claimP99(storage),
      });
    }
  } finally {
    await storage.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
