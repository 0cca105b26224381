/** A pass over what is old: it tells how far it is, and leaves the database to others for as long as it takes itself. */
import { expect, test } from "vitest";
import type { Lease } from "paystate/storage";
import { RetentionLoop, type RetentionRule } from "../../src/engine/retention/retention-loop.ts";
import { turns } from "../kit/engine-world.ts";
import { memoryStorage } from "../kit/storages.ts";
import { virtualClock } from "../kit/virtual-clock.ts";

const PASS_MS = 600_000;

/** A loop over a rule whose batches take so long, and what it logs. */
async function passing(batchMs: number, batches: number) {
  const clock = virtualClock();
  const began: number[] = [];
  const told: unknown[] = [];
  const rule: RetentionRule = {
    name: "old",
    async *batches() {
      for (let batch = 0; batch < batches; batch++) {
        began.push(clock.now());
        clock.advance(batchMs);
        yield 32;
      }
    },
  };
  const log = {
    debug: () => {},
    info: (fields: unknown) => void told.push(fields),
    warn: () => {},
    error: () => {},
  };
  const storage = await memoryStorage();
  const loop = new RetentionLoop([rule], { storage, clock, log, holder: "me", name: "test" });
  loop.run();
  clock.advance(PASS_MS);
  const start = clock.now();
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 5) {
      await turns(3);
      clock.advance(5);
    }
    await turns(3);
  };
  return { loop, storage, clock, began, told, pass, start };
}

test("L8: between two batches others have the database for as long as the batch took, and a second at most", async () => {
  const short = await passing(5, 4);
  await short.pass(200);
  expect(short.began.map((at) => at - short.start)).toEqual([0, 25, 50, 75]);
  const long = await passing(200, 3);
  await long.pass(2_000);
  expect(long.began.map((at, index) => at - (long.began[index - 1] ?? at))).toEqual([0, 400, 400]);
  const endless = await passing(5_000, 2);
  await endless.pass(8_000);
  expect((endless.began[1] ?? 0) - (endless.began[0] ?? 0)).toBe(6_000);
});

test("L8: how far a sweep is can be asked at any time, and is logged once a minute", async () => {
  const { loop, told, pass, start } = await passing(1_000, 200);
  expect(loop.standing().sweep).toBeNull();
  await pass(61_000);
  const { sweep, lastPassAt } = loop.standing();
  expect([sweep?.name, sweep?.since, lastPassAt]).toEqual(["old", start, null]);
  expect(sweep?.removed).toBeGreaterThan(32 * 25);
  expect(told.length).toBeGreaterThanOrEqual(1);
  expect(told[0]).toMatchObject({ name: "old", removed: expect.any(Number) as number });
  await pass(400_000);
  expect(loop.standing()).toMatchObject({ sweep: null, removed: 6_400 });
  expect(told.length).toBeLessThan(10);
});

test("a sweep ends once another process has its lease", async () => {
  const { storage, clock, began, pass } = await passing(1_000, 200);
  await pass(5_000);
  const names = ["keep/test"];
  const another = { names, holder: "another", now: () => clock.now(), leaseMs: 3_600_000 };
  const [{ holder }] = (await storage.lease(another)) as [Lease];
  await storage.lease({ ...another, holder, leaseMs: 0 });
  expect(await storage.lease(another)).toMatchObject([{ holder: "another" }]);
  await pass(60_000);
  const until = began.length;
  await pass(400_000);
  expect(began).toHaveLength(until);
});
