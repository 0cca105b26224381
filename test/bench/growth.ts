/** What a step and a claim cost beside a thousand, and beside a million, stored instances and waiting tasks. */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { postgresPrograms, startPostgres } from "../kit/postgres-server.ts";
import { sqliteStorage } from "../kit/storages.ts";
import { postgresStorage } from "../../storage/postgres.ts";
import type { Commit, TaskRecord } from "../../storage/storage.ts";
import { newId } from "../../src/payments/ids.ts";
import { type PaymentStorage, paymentStorage } from "../../src/payments/payment-storage.ts";
import type { PaymentTables } from "../../src/payments/tables.ts";
import { timed, type Report } from "./figures.ts";

const SIZES = [1_000, 100_000, 1_000_000];
const ROWS_PER_COMMIT = 500;
const BATCHES = 30;
const PER_BATCH = 64;
/** A real system steps what began lately; of what is old, a timer fires now and then. */
const OLD_PER_BATCH = 6;
const ROUNDS = 3;
/** Instances that begin while steps are measured are numbered from here. */
const FIRST_FRESH = 1_000_000_000;
/** And those that a claim finds from here on. */
const FIRST_DUE = 2_000_000_000;
const CLAIMS = 500;
/** Of one tenant. */
const PARKED = 1_000_000;
const WORKFLOW = "bench@1";
const NOW = Date.UTC(2026, 0, 1);
const SNAPSHOT = JSON.stringify({ value: "waiting", context: { n: 0 }, status: "active" });

/** As the service makes them, one a millisecond, and the same in every run. */
const idOf = (index: number): string =>
  newId("tx", NOW + index, { bytes: (length) => tailOf(index).subarray(0, length) });
const tailOf = (index: number): Buffer => createHash("sha256").update(String(index)).digest();

/** Instances that begin and make a step, and old ones that only make a step. */
interface Batch {
  readonly fresh: readonly string[];
  readonly old: readonly string[];
}

const instance = (id: string) => ({
  id,
  stamp: "1",
  parent: null,
  workflow: WORKFLOW,
  hash: "h",
  status: "active" as const,
  snapshot: SNAPSHOT,
  createdAt: NOW,
});
const task = (id: string, version: number, dueAt: number) => ({
  id: `${id}:${version}:0`,
  instance: id,
  workflow: WORKFLOW,
  kind: "timer" as const,
  name: "later",
  payload: "{}",
  dueAt,
  limits: [],
});

const row = (id: string, version: number) => ({
  instance: id,
  version,
  stamp: "s",
  at: NOW,
  event: "{}",
  value: '"waiting"',
  cause: null,
});
const tomorrow = (index: number): number => NOW + 86_400_000 + index;

const began = (ids: readonly string[]): Commit<PaymentTables> => ({
  starts: ids.map(instance),
  arms: ids.map((id, index) => ({ task: task(id, 1, tomorrow(index)) })),
  history: ids.map((id) => row(id, 1)),
});

const claimRequest = {
  holder: "bench",
  now: NOW,
  leaseMs: 15_000,
  workflows: [WORKFLOW],
  steps: 64,
  free: 64,
  limited: 64,
  maxCrashes: 5,
};

/** Instances that wait for a timer tomorrow. */
async function fill(storage: PaymentStorage, from: number, to: number): Promise<void> {
  for (let start = from; start < to; start += ROWS_PER_COMMIT) {
    const count = Math.min(ROWS_PER_COMMIT, to - start);
    await storage.commit([began(Array.from({ length: count }, (_, index) => idOf(start + index)))]);
  }
}

/** A step: the instance's row, its history, one timer gone and one more. */
const stepped = (id: string, version: number): Commit<PaymentTables> => ({
  step: {
    id,
    after: String(version),
    stamp: String(version + 1),
    workflow: WORKFLOW,
    hash: "h",
    status: "active",
    snapshot: SNAPSHOT,
    at: NOW,
  },
  disarms: [{ instance: id, timer: "later" }],
  arms: [{ task: task(id, version + 1, tomorrow(version)) }],
  history: [row(id, version + 1)],
});

/** Starts and steps instances of a storage, and tells the microseconds for each commit. */
function stepper(storage: PaymentStorage) {
  const versions = new Map<string, number>();
  return async (batches: readonly Batch[]): Promise<number> => {
    let commits = 0;
    const commit = async (items: readonly Commit<PaymentTables>[]): Promise<void> => {
      const results = await storage.commit(items);
      if (results.some(({ ok }) => !ok)) throw new Error("a step was refused");
      commits += items.length;
    };
    const { seconds } = await timed(async () => {
      for (const { fresh, old } of batches) {
        await commit(fresh.map((id) => began([id])));
        await commit(
          [...fresh, ...old].map((id) => {
            const version = versions.get(id) ?? 1;
            versions.set(id, version + 1);
            return stepped(id, version);
          }),
        );
      }
    });
    return (seconds * 1e6) / commits;
  };
}

/** The 99th percentile of a claim that finds one due task among all that wait, in milliseconds. */
async function claimP99(
  storage: PaymentStorage,
  due: (id: string) => TaskRecord = (id) => task(id, 1, NOW),
): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < CLAIMS; index++) {
    const id = idOf(FIRST_DUE + index);
    await storage.commit([{ arms: [{ task: due(id) }] }]);
    const { seconds, result } = await timed(() => storage.claim(claimRequest));
    if (result.length !== 1) throw new Error(`a claim found ${result.length} tasks instead of one`);
    times.push(seconds * 1e3);
    await storage.commit([{ consumes: { task: `${id}:1:0`, token: 1 } }]);
  }
  return times.toSorted((one, other) => one - other)[Math.floor(CLAIMS * 0.99)] ?? 0;
}

/** Beside each size, how much more than at the first one. The best of a few rounds: what else the machine does only adds. */
async function grow(storage: PaymentStorage, name: string, report: Report): Promise<void> {
  const step = stepper(storage);
  let stored = 0;
  let started = FIRST_FRESH;
  const first = { lately: 0, old: 0 };
  for (const [index, size] of SIZES.entries()) {
    await fill(storage, stored, size);
    stored = size;
    let visited = 0;
    // The stride is prime to every size: old instances from all over, none twice within a batch.
    const old = (count: number): string[] =>
      Array.from({ length: count }, () => idOf((visited++ * 7_919) % size));
    const fresh = (count: number): string[] => Array.from({ length: count }, () => idOf(started++));
    const batches = (make: () => Batch): Batch[] => Array.from({ length: BATCHES }, make);
    const best = { lately: Infinity, old: Infinity };
    for (let round = 0; round < ROUNDS; round++) {
      const lately = batches(() => ({ fresh: fresh(PER_BATCH), old: old(OLD_PER_BATCH) }));
      best.lately = Math.min(best.lately, await step(lately));
      best.old = Math.min(best.old, await step(batches(() => ({ fresh: [], old: old(PER_BATCH) }))));
    }
    if (index === 0) Object.assign(first, best);
    report({
      name: `growth, ${name}, ${size.toLocaleString("en")} stored`,
      "µs/step": best.lately,
      "times the first": best.lately / first.lately,
      "µs/step of old ones only": best.old,
      "claim p99 ms": await claimP99(storage),
    });
  }
}

const effectOf = (tenant: string, id: string): TaskRecord => ({
  ...task(id, 1, NOW),
  kind: "effect",
  limits: [{ key: tenant, atMost: 1 }],
});

/** What an honest tenant pays beside one that has a million effects parked. */
async function besideParked(storage: PaymentStorage, name: string, report: Report): Promise<void> {
  let armed = 0;
  const arm = async (tenantOf: (index: number) => string, count: number): Promise<void> => {
    const tasks = Array.from({ length: count }, () => {
      const id = idOf(armed++);
      return { task: effectOf(tenantOf(armed), id) };
    });
    await storage.commit([{ arms: tasks }]);
  };
  while (armed < PARKED) await arm(() => "busy", ROWS_PER_COMMIT);
  const { seconds } = await timed(async () => {
    for (let batch = 0; batch < BATCHES; batch++) await arm((index) => `honest-${index}`, PER_BATCH);
  });
  // The one of the busy tenant that has room, and those that were armed just now.
  while ((await storage.claim(claimRequest)).length > 0);
  report({
    name: `growth, ${name}, beside ${PARKED.toLocaleString("en")} parked`,
    "µs/arm": (seconds * 1e6) / BATCHES / PER_BATCH,
    "claim p99 ms": await claimP99(storage, (id) => effectOf(id, id)),
  });
}

/** On SQLite, and on PostgreSQL with `fsync`, where there is one. */
export async function benchGrowth(report: Report): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  const storage = await sqliteStorage(join(folder, "growth.db"));
  try {
    await grow(storage, "SQLite", report);
    await besideParked(storage, "SQLite", report);
  } finally {
    await storage.close();
    rmSync(folder, { recursive: true, force: true });
  }
  if (postgresPrograms() === null) return;
  // Beside checkpoints of the default size, what is measured would be checkpoints.
  const server = await startPostgres({ fsync: "on", full_page_writes: "on", max_wal_size: "4GB" });
  try {
    const onServer = paymentStorage(await postgresStorage(server.url, { clock: "caller" }));
    await grow(onServer, "PostgreSQL", report);
    await besideParked(onServer, "PostgreSQL", report);
    await onServer.close();
  } finally {
    await server.stop();
  }
}
