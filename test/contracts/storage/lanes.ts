/** The storage contract on lanes: caps that hold, and lanes that starve nobody (G6). */
import assert from "node:assert/strict";
import { promise, type StorageContractCase } from "./contract.ts";
import {
  arm,
  claim,
  claimOne,
  commit,
  either,
  ids,
  inLane,
  LEASE,
  ok,
  put,
  range,
  taskOf,
  WORKFLOW,
} from "./samples.ts";

const backlog = (lane: string, cap: number, count: number) =>
  range(count).map((index) => inLane(`${lane}${index}`, lane, cap, { dueAt: index }));

/** Lanes: caps that hold and starve nobody. */
export const laneCases: readonly StorageContractCase[] = [
  promise(
    "a lane gives no more tasks than its cap, earliest first, however many wait",
    async ({ storage, other }) => {
      await arm(storage, ...backlog("a", 2, 50));
      const claimed = await claim(storage, 100);
      assert.deepEqual(ids(claimed), ["a0", "a1"]);
      assert.deepEqual(claimed[0]?.lane, { key: "a", cap: 2 });
      assert.deepEqual(await claim(other, 100), []);
      assert.equal(await storage.nextDue([WORKFLOW]), 100 + LEASE);
    },
  ),
  promise(
    "a lane has a slot again when a task is consumed, released or disarmed, or its lease has ended",
    async ({ storage }) => {
      await arm(
        storage,
        ...backlog("a", 1, 4),
        inLane("timer", "a", 1, { kind: "timer", name: "t", dueAt: 4 }),
      );
      assert.equal((await claimOne(storage, 10)).id, "a0");
      await put(storage, { consumes: { task: "a0", token: 1 } });
      assert.equal((await claimOne(storage, 10)).id, "a1");
      await storage.release({ id: "a1", token: 1, dueAt: 1_000_000 });
      assert.equal((await claimOne(storage, 10)).id, "a2");
      assert.deepEqual(await claim(storage, 10 + LEASE - 1), []);
      assert.equal(await storage.nextDue([WORKFLOW]), 10 + LEASE);
      // The waiting one is older than the lease that has just ended, so it is its turn.
      assert.equal((await claimOne(storage, 10 + LEASE)).id, "a3");
      await put(storage, { consumes: { task: "a3", token: 1 } });
      assert.equal((await claimOne(storage, 10 + LEASE)).id, "timer");
      await put(storage, { disarms: [{ instance: "i", timer: "t" }] });
      assert.equal((await claimOne(storage, 10 + LEASE)).id, "a2");
    },
  ),
  promise("a heartbeat keeps the slot, and a future task waits for its time", async ({ storage }) => {
    await arm(storage, inLane("a", "lane", 1), inLane("b", "lane", 1, { dueAt: 5 * LEASE }));
    await claimOne(storage, 0);
    await storage.heartbeat({ holder: "h", tasks: [{ id: "a", token: 1 }], now: LEASE - 1, leaseMs: LEASE });
    assert.equal(await storage.nextDue([WORKFLOW]), 2 * LEASE - 1);
    assert.deepEqual(await claim(storage, LEASE), []);
    await put(storage, { consumes: { task: "a", token: 1 } });
    assert.equal(await storage.nextDue([WORKFLOW]), 5 * LEASE);
    assert.deepEqual(await claim(storage, 5 * LEASE - 1), []);
    assert.equal((await claimOne(storage, 5 * LEASE)).id, "b");
  }),
  promise(
    "G6: full lanes with long queues starve neither other lanes nor tasks without one",
    async ({ storage }) => {
      for (const lane of range(40)) await arm(storage, ...backlog(`full${lane}-`, 1, 5));
      assert.equal((await claim(storage, 10)).length, 40);
      await arm(storage, inLane("other", "free", 1, { dueAt: 9 }), taskOf("none", { dueAt: 9 }));
      assert.deepEqual(ids(await claim(storage, 10, { free: 1, laned: 1 })).toSorted(), ["none", "other"]);
    },
  ),
  promise(
    "the budgets for tasks with and without a lane are separate, earliest first in each",
    async ({ storage }) => {
      await arm(
        storage,
        ...backlog("a", 9, 3),
        inLane("b", "b", 9, { dueAt: 1 }),
        taskOf("f1", { dueAt: 8 }),
        taskOf("f2", { dueAt: 9 }),
      );
      assert.deepEqual(ids(await claim(storage, 10, { free: 0, laned: 1 })), ["a0"]);
      assert.deepEqual(ids(await claim(storage, 10, { free: 1, laned: 0 })), ["f1"]);
      assert.deepEqual(ids(await claim(storage, 10, { free: 0, laned: 2 })).toSorted(), ["a1", "b"]);
    },
  ),
  promise("of many claims at once no lane gives more than its cap", async ({ storage, other }) => {
    await arm(storage, ...backlog("a", 3, 20), ...backlog("b", 5, 20));
    const race = range(20).map((index) =>
      claim(either(index, storage, other), 100, { holder: `h${index}`, laned: 2 }),
    );
    const claimed = ids((await Promise.all(race)).flat());
    assert.equal(claimed.filter((id) => id.startsWith("a")).length, 3);
    assert.equal(claimed.filter((id) => id.startsWith("b")).length, 5);
  }),
  promise("the cap of a lane counts the tasks of all workflows in it", async ({ storage }) => {
    const both = { workflows: [WORKFLOW, "sample@2"] };
    await arm(storage, inLane("a", "lane", 2, { workflow: "sample@2" }), ...backlog("lane", 2, 3));
    assert.equal((await claim(storage, 100, both)).length, 2);
    assert.deepEqual(await claim(storage, 100, both), []);
    assert.equal(await storage.nextDue(["sample@2"]), 100 + LEASE);
    assert.deepEqual(await claim(storage, 100, { workflows: ["unknown@7"] }), []);
  }),
  promise("a lane has the cap it was last armed with", async ({ storage }) => {
    await arm(storage, ...backlog("a", 1, 4));
    assert.equal((await claim(storage, 10)).length, 1);
    await arm(storage, inLane("more", "a", 3, { dueAt: 9 }));
    assert.equal((await claim(storage, 10)).length, 2);
    await arm(storage, inLane("less", "a", 2, { dueAt: 9 }));
    await put(storage, { consumes: { task: "a0", token: 1 } });
    assert.deepEqual(await claim(storage, 10), []);
    await put(storage, { consumes: { task: "a1", token: 1 } });
    assert.equal((await claim(storage, 10)).length, 1);
    await assert.rejects(commit(storage, { arms: [{ task: inLane("never", "b", 0) }] }));
  }),
  promise(
    "a narrowed lane gives no more than it was narrowed to, whatever it is armed with, until that ends",
    async ({ storage, other }) => {
      await arm(storage, ...backlog("a", 4, 9));
      assert.deepEqual(ids(await claim(storage, 10, { laned: 2 })), ["a0", "a1"]);
      await put(storage, { consumes: { task: "a0", token: 1 }, narrows: [{ lane: "a", cap: 1 }] });
      assert.deepEqual(await claim(storage, 10), [], "a1 has its one slot");
      assert.equal(await storage.nextDue([WORKFLOW]), 10 + LEASE);
      await put(storage, { consumes: { task: "a1", token: 1 } });
      await arm(storage, inLane("again", "a", 4, { dueAt: 1 }));
      assert.equal((await claimOne(other, 10)).id, "again");
      await put(storage, { consumes: { task: "again", token: 1 }, narrows: [{ lane: "a", cap: null }] });
      assert.deepEqual(ids(await claim(storage, 10)), ["a2", "a3", "a4", "a5"]);
    },
  ),
  promise("a lane stays narrowed while it is empty; of a refused commit it is not", async ({ storage }) => {
    await put(storage, { narrows: [{ lane: "a", cap: 1 }] });
    const refused = { consumes: { task: "none", token: 1 }, narrows: [{ lane: "a", cap: null }] };
    assert.deepEqual(await commit(storage, refused), { ok: false, conflict: "token" });
    await arm(storage, ...backlog("a", 4, 3));
    assert.equal((await claim(storage, 10)).length, 1);
  }),
  promise("a lane is narrowed to a whole number from 1, or not at all", async ({ storage }) => {
    await put(storage, { narrows: [{ lane: "a", cap: 2 }] });
    for (const cap of [0, -1, 1.5, NaN, Infinity, 2 ** 53]) {
      const narrows = [{ lane: "a", cap }];
      await assert.rejects(commit(storage, { narrows }), `narrowed to ${cap}`);
    }
    await arm(storage, ...backlog("a", 4, 3));
    assert.equal((await claim(storage, 10)).length, 2, "what was refused has changed nothing");
  }),
  promise("a lane that a task is armed in has a whole number from 1 as its cap", async ({ storage }) => {
    for (const cap of [0, -1, 1.5, NaN, Infinity, 2 ** 53]) {
      await assert.rejects(arm(storage, inLane("a0", "a", cap)), `a cap of ${cap}`);
    }
    await arm(storage, ...backlog("a", 2, 3));
    assert.equal((await claim(storage, 10)).length, 2, "what was refused has changed nothing");
  }),
  promise("G6: poison in a lane is set aside without taking its slot", async ({ storage }) => {
    await arm(storage, inLane("a0", "a", 1));
    await claimOne(storage, 0);
    await arm(
      storage,
      inLane("a1", "a", 1, { dueAt: LEASE + 1 }),
      inLane("b0", "b", 1, { dueAt: LEASE + 1 }),
    );
    const claimed = await claim(storage, LEASE + 1, { maxCrashes: 1 });
    assert.deepEqual(ids(claimed).toSorted(), ["a1", "b0"]);
    assert.deepEqual(ids(await storage.deadLetters(9)), ["a0"]);
    assert.deepEqual(await commit(storage, { consumes: { task: "a0", token: 1 } }), ok);
  }),
  promise("a task armed under a lease fills a slot of its lane", async ({ storage }) => {
    const lease = { holder: "h", until: 100 };
    await put(storage, { arms: [{ task: inLane("a", "lane", 1), lease }, { task: inLane("b", "lane", 1) }] });
    assert.deepEqual(await claim(storage, 99), []);
    assert.equal(await storage.nextDue([WORKFLOW]), 100);
  }),
];
