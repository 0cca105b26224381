/** How the looks at deposit addresses share what the endpoints permit, over one process at a virtual clock. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { WatchKindLoop } from "../../../src/engine/watch-kind-loop.ts";
import type { PollContext, Watcher, WatchRecord } from "../../../src/engine/index.ts";
import { LookBudget } from "../../../src/payments/private/look-budget.ts";
import { silentLogger } from "../../../src/runtime.ts";
import { endpointsOption, type EndpointOptions, readLimitOf } from "../../../src/solana/endpoint-options.ts";
import { turns } from "../../kit/engine-world.ts";
import { repeatedRun, seedOfRun } from "../../kit/seed.ts";
import { memoryStorage } from "../../kit/storages.ts";
import { runsOf } from "../../kit/thorough.ts";
import { virtualClock, type VirtualClock } from "../../kit/virtual-clock.ts";

const INTERVAL_MS = 1_000;
const STEP_MS = 10;
/** Nobody has to be looked at more often. */
const IN_TIME_MS = 5_000;
/** A look that the process has begun a step too late. */
const SLACK_MS = 10 * STEP_MS;

interface Looking {
  readonly watched: number;
  readonly batchSize: number;
  readonly perSecond: number | null;
  readonly latencyMs: number;
  /** So many of the watches come before their turn. */
  readonly urgent: number;
}

interface Looked {
  /** After the first round: the longest time without a look of any watch, of the urgent ones, and of the others. */
  readonly oldestMs: number;
  readonly oldestUrgentMs: number;
  readonly reads: number;
  readonly seconds: number;
}

/** Lets a watcher look for some rounds. */
async function looked({ watched, batchSize, perSecond, latencyMs, urgent }: Looking): Promise<Looked> {
  const clock = virtualClock(0);
  const budget = new LookBudget({ readLimit: { perSecond, accounts: batchSize } });
  const watches = Array.from({ length: watched }, (_, index): WatchRecord => {
    const key = `a${index}`;
    return { kind: "deposits", key, instance: key, life: "", workflow: "w@1", shard: index % 16 };
  });
  const lastAt = new Map<string, number>();
  const gaps = { oldest: 0, urgent: 0 };
  let reads = 0;
  let isCounted = false;
  const isUrgent = ({ key }: WatchRecord): boolean => Number(key.slice(1)) < urgent;
  const note = (watch: WatchRecord): void => {
    const gap = clock.now() - (lastAt.get(watch.key) ?? clock.now());
    lastAt.set(watch.key, clock.now());
    if (!isCounted) return;
    gaps.oldest = Math.max(gaps.oldest, gap);
    if (isUrgent(watch)) gaps.urgent = Math.max(gaps.urgent, gap);
  };
  const watcher: Watcher = {
    intervalMs: INTERVAL_MS,
    batchSize,
    roundMs: (count) =>
      budget.roundMs({ kind: "deposits", watched: count, batchSize, intervalMs: INTERVAL_MS }),
    isUrgent,
    async poll(batch: readonly WatchRecord[], _look: PollContext) {
      reads += 1;
      await clock.sleep(latencyMs);
      batch.forEach(note);
      return [];
    },
  };
  const stopping = new AbortController();
  const running = begun(watcher, { clock, watches, signal: stopping.signal });
  const roundMs = (1_000 * Math.ceil(watched / batchSize)) / (perSecond ?? Infinity);
  await pass(clock, Math.max(IN_TIME_MS, 2 * roundMs));
  isCounted = true;
  const readsBefore = reads;
  const counted = Math.max(2 * IN_TIME_MS, 4 * roundMs);
  await pass(clock, counted);
  for (const watch of watches) note(watch);
  const result = { oldestMs: gaps.oldest, oldestUrgentMs: gaps.urgent, reads: reads - readsBefore };
  stopping.abort();
  await running;
  return { ...result, seconds: counted / 1_000 };
}

interface Watching {
  readonly clock: VirtualClock;
  /** May grow. */
  readonly watches: readonly WatchRecord[];
  readonly signal: AbortSignal;
}

/** Begins to look; resolves when it was stopped. */
function begun(watcher: Watcher, { clock, watches, signal }: Watching): Promise<void> {
  const memory = memoryStorage();
  const storage: typeof memory = {
    ...memory,
    watches: async (listing) =>
      "shards" in listing ? watches.filter(({ shard }) => listing.shards.includes(shard)) : [],
  };
  const around = { storage, clock, log: silentLogger, holder: "h", leaseMs: 15_000, signal };
  const send = async () => ({ kind: "absent" }) as const;
  const polling = new WatchKindLoop("deposits", watcher, { ...around, send });
  polling.follow(true);
  return polling.run();
}

async function pass(clock: VirtualClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += STEP_MS) {
    clock.advance(STEP_MS);
    await turns(2);
  }
}

const OPTIONS = { numRuns: runsOf(60), seed: seedOfRun(), ...repeatedRun() };

const looking = fc
  .record({
    looks: fc.integer({ min: 1, max: 40 }),
    batchSize: fc.integer({ min: 1, max: 5 }),
    perSecond: fc.integer({ min: 1, max: 60 }),
    latencyMs: fc.integer({ min: 0, max: 200 }),
    urgentShare: fc.integer({ min: 0, max: 12 }).map((twelfths) => twelfths / 12),
  })
  .map(({ looks, batchSize, urgentShare, ...rest }): Looking => {
    const watched = looks * batchSize;
    return { ...rest, batchSize, watched, urgent: Math.floor(watched * urgentShare) };
  });

test("L5: with R reads a second the oldest look is at most 1.5 times what all reads take, 5 s where R permits, and R is kept", () =>
  fc.assert(
    fc.asyncProperty(looking, async (given) => {
      const { oldestMs, reads, seconds } = await looked(given);
      const { watched, batchSize, perSecond } = given;
      const rate = perSecond ?? Infinity;
      const neededMs = (1_000 * Math.ceil(watched / batchSize)) / rate;
      expect(oldestMs).toBeLessThanOrEqual(Math.max(1.5 * neededMs, IN_TIME_MS) + given.latencyMs + SLACK_MS);
      expect(reads).toBeLessThanOrEqual(rate * (seconds + 1));
      expect(oldestMs).toBeGreaterThanOrEqual(Math.min(neededMs, INTERVAL_MS) - SLACK_MS);
      expect(reads).toBeGreaterThan(0);
    }),
    OPTIONS,
  ));

test("L5: without a limit 20,000 addresses are looked at within five seconds, by no more reads than that takes", async () => {
  const given = { watched: 20_000, batchSize: 20, perSecond: null, latencyMs: 100, urgent: 0 };
  const { oldestMs, reads, seconds } = await looked(given);
  expect(oldestMs).toBeLessThanOrEqual(IN_TIME_MS);
  expect(reads / seconds).toBeLessThanOrEqual(1_000 / 4.2);
});

test("L5: windows about to end come first, after two thirds of a round, and half of the reads stay with the longest unseen", async () => {
  const given = { watched: 400, batchSize: 10, perSecond: 4, latencyMs: 50, urgent: 40 };
  const calm = await looked({ ...given, urgent: 0 });
  const { oldestMs, oldestUrgentMs } = await looked(given);
  expect(oldestUrgentMs).toBeLessThan(0.75 * oldestMs);
  expect(oldestMs).toBeLessThanOrEqual(1.3 * calm.oldestMs);
  for (const urgent of [100, 133, 200, 390]) {
    const crowded = await looked({ ...given, urgent });
    expect(crowded.oldestMs).toBeLessThanOrEqual(1_500 * (40 / 4) + given.latencyMs + SLACK_MS);
  }
});

test("L5: addresses that wait for no deposit any more take a quarter of the reads at most while others wait", () => {
  const budget = new LookBudget({ readLimit: { perSecond: 100, accounts: 100 } });
  const late = { kind: "lateDeposits", watched: 3_000_000, batchSize: 100, intervalMs: 300_000 };
  const waiting = { kind: "deposits", watched: 50_000, batchSize: 100, intervalMs: 1_000 };
  budget.roundMs(late);
  const roundMs = budget.roundMs(waiting);
  expect(500 / (roundMs / 1_000)).toBeCloseTo(90 * 0.75);
  expect(30_000 / (budget.roundMs(late) / 1_000)).toBeCloseTo(90 * 0.25);
  expect(budget.roundMs({ ...waiting, watched: 0 })).toBe(1_000);
  expect(30_000 / (budget.roundMs(late) / 1_000)).toBeCloseTo(90);
});

test("L5: the figure that the endpoints permit counts all of them, by the smallest call; none where one has no limit", () => {
  const url = "https://node.example";
  const limited = { url, requestsPerSecond: 50 };
  const permitted = (endpoints: readonly EndpointOptions[]): number | null =>
    new LookBudget({ readLimit: readLimitOf(endpointsOption.parse(endpoints)) }).permitted();
  expect(permitted([limited])).toBe(22_500);
  expect(permitted([limited, { url: `${url}/2`, requestsPerSecond: 10, accountsPerCall: 10 }])).toBe(2_700);
  expect(permitted([limited, `${url}/3`])).toBeNull();
  expect(
    permitted([limited, { url: `${url}/4`, roles: ["witness"] }, { url: `${url}/5`, roles: ["send"] }]),
  ).toBe(22_500);
  const untold = new LookBudget({});
  expect(untold.permitted()).toBeNull();
  expect(untold.roundMs({ kind: "deposits", watched: 50_000, batchSize: 100, intervalMs: 1_000 })).toBe(
    4_300,
  );
});

test("L5: a kind whose addresses came one by one is looked at in its time when a crowd comes behind them", async () => {
  const clock = virtualClock(0);
  const budget = new LookBudget({ readLimit: { perSecond: 100, accounts: 10 } });
  const [kind, batchSize, intervalMs] = ["lateDeposits", 10, 30_000];
  const watches: WatchRecord[] = [];
  const lastAt = new Map<string, number>();
  let oldestMs = 0;
  const arrive = (count: number): void => {
    const until = watches.length + count;
    while (watches.length < until) {
      const key = `a${watches.length}`;
      const shard = watches.length % 16;
      watches.push({ kind, key, instance: key, life: "", workflow: "w@1", shard });
      lastAt.set(key, clock.now());
    }
  };
  const note = ({ key }: WatchRecord): void => {
    oldestMs = Math.max(oldestMs, clock.now() - (lastAt.get(key) ?? 0));
    lastAt.set(key, clock.now());
  };
  const watcher: Watcher = {
    intervalMs,
    batchSize,
    roundMs: (watched) => budget.roundMs({ kind, watched, batchSize, intervalMs }),
    async poll(batch: readonly WatchRecord[], _look: PollContext) {
      batch.forEach(note);
      return [];
    },
  };
  const stopping = new AbortController();
  const running = begun(watcher, { clock, watches, signal: stopping.signal });
  for (let seconds = 0; seconds < 35; seconds += 1) {
    arrive(1);
    await pass(clock, 1_000);
  }
  // All others are gone for a while, and no number of looks is the right one.
  const gone = watches.splice(0);
  await pass(clock, 2_000);
  for (const { key } of gone) lastAt.delete(key);
  arrive(95);
  await pass(clock, 3 * intervalMs);
  watches.forEach(note);
  expect(oldestMs).toBeLessThanOrEqual(2 * intervalMs);
  stopping.abort();
  await running;
});
