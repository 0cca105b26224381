/** Several processes that poll the same kinds: fair shares, moved at once, and every new watch soon in good hands. */
// modules: watching

import { expect } from "vitest";
import type { Watcher } from "paystate/engine";
import { turns } from "../kit/engine-world.ts";
import type { VirtualClock } from "../kit/virtual-clock.ts";
import { harbour } from "./harbour.ts";
import { engineTest } from "../kit/engine-test.ts";

const INTERVAL_MS = 1_000;
const SOON_MS = 2_000;
const LEASE_MS = 15_000;
const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `s${index}`);

/** A process's watcher, and what it was asked since it was last looked at. */
function lookout(intervalMs = INTERVAL_MS): { readonly watcher: Watcher; readonly asked: Set<string> } {
  const asked = new Set<string>();
  return {
    asked,
    watcher: {
      intervalMs,
      poll: async (watches) => {
        for (const { key } of watches) asked.add(key);
        return [];
      },
    },
  };
}

async function live(clock: VirtualClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 50) {
    clock.advance(50);
    await turns(8);
  }
}

const { test, engine, running, clock, open, awaitsOutside } = engineTest("shards");

test("D5: a process that comes has its share within two seconds, and one that stops leaves its own as soon", async () => {
  const ships = names(60);
  const [here, there] = [lookout(), lookout()];
  const first = await engine({ workflows: [harbour], watchers: { horizon: here.watcher } });
  for (const ship of ships) await first.start(harbour, { id: ship, input: { ship } });
  first.run();
  await live(clock, 3_100);
  expect(here.asked.size).toBe(60);
  const second = await running({ workflows: [harbour], watchers: { horizon: there.watcher } });
  await live(clock, SOON_MS);
  here.asked.clear();
  there.asked.clear();
  await live(clock, 1_100);
  const both = [first, second].map((each) => each.watching()["horizon"]?.watched ?? 0);
  expect(both[0]).toBe(here.asked.size);
  expect(both[1]).toBe(there.asked.size);
  // Half of the shards; how many watches lie in each is chance.
  for (const watched of both) expect(watched).toBeGreaterThanOrEqual(20);
  expect([...here.asked, ...there.asked].toSorted()).toEqual(ships.toSorted());
  await first.stop();
  there.asked.clear();
  await live(clock, SOON_MS);
  expect(there.asked.size).toBe(60);
  awaitsOutside(...ships);
});

test("D92: a process whose looks find nothing out leaves all watches to another, and asks for its share again after three leases", async () => {
  const ships = names(60);
  const [here, there] = [lookout(), lookout()];
  let isBlind = true;
  const watcher: Watcher = {
    intervalMs: INTERVAL_MS,
    async poll(watches, look) {
      await here.watcher.poll(watches, look);
      if (isBlind) throw new Error("no node answers");
      return [];
    },
  };
  const first = await engine({ workflows: [harbour], watchers: { horizon: watcher } });
  for (const ship of ships) await first.start(harbour, { id: ship, input: { ship } });
  first.run();
  await live(clock, 3_100);
  here.asked.clear();
  await live(clock, SOON_MS);
  // Nobody else would ask.
  expect(here.asked.size).toBe(60);
  const second = await running({ workflows: [harbour], watchers: { horizon: there.watcher } });
  await live(clock, 2 * SOON_MS);
  here.asked.clear();
  there.asked.clear();
  await live(clock, 1_100);
  expect([here.asked.size, there.asked.size]).toEqual([0, 60]);
  isBlind = false;
  await live(clock, 3 * LEASE_MS);
  const both = [first, second].map((each) => each.watching()["horizon"]?.watched ?? 0);
  for (const watched of both) expect(watched).toBeGreaterThanOrEqual(20);
  awaitsOutside(...ships);
});

test("D5, E11: what a process held that cannot renew its leases any more is polled by another within lease and two seconds", async () => {
  const ships = names(40);
  const [here, there] = [lookout(), lookout()];
  const first = await engine({ workflows: [harbour], watchers: { horizon: here.watcher } });
  for (const ship of ships) await first.start(harbour, { id: ship, input: { ship } });
  let isCutOff = false;
  const cut = await open((real) => ({
    async lease(request) {
      if (isCutOff) throw new Error("no way to the database");
      return real.lease(request);
    },
  }));
  await running({ workflows: [harbour], watchers: { horizon: there.watcher }, storage: cut });
  first.run();
  await live(clock, 4_000);
  expect(there.asked.size).toBeGreaterThan(0);
  isCutOff = true;
  here.asked.clear();
  await live(clock, LEASE_MS + SOON_MS);
  expect(here.asked.size).toBe(40);
  isCutOff = false;
  awaitsOutside(...ships);
});

test.each([
  ["the process that has all shards", 0],
  ["another process that polls", 1],
  ["a process that only commits", 2],
])("D5: a new watch is polled within two seconds when it is armed by %s", async (_, by) => {
  const lookouts = [lookout(), lookout(), lookout()];
  const engines = [];
  for (const { watcher } of lookouts) {
    engines.push(await engine({ workflows: [harbour], watchers: { horizon: watcher } }));
  }
  const [first, second] = engines;
  const old = names(20);
  for (const ship of old) await first?.start(harbour, { id: ship, input: { ship } });
  first?.run();
  second?.run();
  await live(clock, 5_300);
  const fresh = Array.from({ length: 20 }, (_each, index) => `new ${index}`);
  for (const ship of fresh) await engines[by]?.start(harbour, { id: ship, input: { ship } });
  await live(clock, SOON_MS);
  for (const ship of fresh) expect(lookouts.some(({ asked }) => asked.has(ship))).toBe(true);
  awaitsOutside(...old, ...fresh);
});

test.each([
  ["one process that polls", 0],
  ["the other one", 1],
])(
  "D5: where nothing was watched for long, a new watch is polled within two seconds when it is armed by %s",
  async (_, by) => {
    const lookouts = [lookout(), lookout()];
    const engines = [];
    for (const { watcher } of lookouts) {
      engines.push(await engine({ workflows: [harbour], watchers: { horizon: watcher } }));
    }
    for (const each of engines) each.run();
    const ships = names(20);
    // Both have held shards before, and hold none now.
    for (const ship of ships) await engines[0]?.start(harbour, { id: ship, input: { ship } });
    await live(clock, 4_000);
    for (const ship of ships) await engines[0]?.send(harbour, ship, { type: "SEEN" });
    await live(clock, 4_000);
    const fresh = Array.from({ length: 20 }, (_each, index) => `new ${index}`);
    for (const ship of fresh) await engines[by]?.start(harbour, { id: ship, input: { ship } });
    await live(clock, SOON_MS);
    for (const ship of fresh) expect(lookouts.some(({ asked }) => asked.has(ship))).toBe(true);
    awaitsOutside(...fresh);
  },
);

test("D5: a kind that is polled once an hour has its new watches looked at within two seconds all the same", async () => {
  const lookouts = [lookout(3_600_000), lookout(3_600_000)];
  const [first, second] = lookouts;
  const polling = await running({ workflows: [harbour], watchers: { horizon: first?.watcher as Watcher } });
  const committing = await engine({
    workflows: [harbour],
    watchers: { horizon: second?.watcher as Watcher },
  });
  await polling.start(harbour, { id: "old", input: { ship: "old" } });
  await live(clock, 5_000);
  first?.asked.clear();
  await committing.start(harbour, { id: "new", input: { ship: "new" } });
  await live(clock, SOON_MS);
  expect([...(first?.asked ?? [])]).toEqual(["new"]);
  awaitsOutside("old", "new");
});
