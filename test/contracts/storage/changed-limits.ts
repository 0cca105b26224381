/** The storage contract on priorities, on limits that are overridden at run time, and on what a task waits for. */
import assert from "node:assert/strict";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import type { LimitWait } from "../../../storage/storage.ts";
import { promise, type StorageContractCase } from "./contract.ts";
import {
  arm,
  claim,
  claimOne,
  commit,
  either,
  ids,
  LEASE,
  limitedTo,
  put,
  range,
  taskOf,
} from "./samples.ts";

const backlog = (key: string, atMost: number, count: number) =>
  range(count).map((index) => limitedTo(`${key}${index}`, key, atMost));

/** Overrides a limit at this time. */
const set = (storage: PaymentStorage, key: string, atMost: number | null, dueAt = 0): Promise<void> =>
  put(storage, { limits: [{ key, atMost, dueAt }] });

const end = (storage: PaymentStorage, task: string, token = 1): Promise<void> =>
  put(storage, { consumes: { task, token } });

async function waits(storage: PaymentStorage): Promise<Record<string, LimitWait>> {
  const tasks = await storage.tasks({ order: "instance", instance: "i", limit: 2_000 });
  return Object.fromEntries(
    tasks.flatMap(({ id, waitsFor }) => (waitsFor === undefined ? [] : [[id, waitsFor]])),
  );
}

const priorities: readonly StorageContractCase[] = [
  promise(
    "F5: what is parked is admitted by priority, of one priority as it was armed, and passes none that is admitted",
    async ({ storage, other }) => {
      const of = (id: string, priority: number) => limitedTo(id, "a", 1, { priority });
      await arm(storage, of("first", -5));
      await arm(storage, of("low", -1), limitedTo("none", "a", 1), of("high", 9));
      await arm(other, of("high too", 9), of("none too", 0));
      for (const id of ["first", "high", "high too", "none", "none too", "low"]) {
        const task = await claimOne(storage, 10);
        assert.equal(task.id, id);
        assert.equal(task.priority, { first: -5, low: -1, high: 9, "high too": 9 }[id]);
        await end(storage, id);
      }
    },
  ),
  promise(
    "F5: of tasks that one commit arms, the first of the highest priority is admitted first",
    async ({ storage }) => {
      const of = (id: string, priority: number) => limitedTo(id, "a", 1, { priority });
      await arm(storage, of("none", 0), of("high", 2), of("high too", 2));
      assert.equal((await claimOne(storage, 0)).id, "high");
      const lease = { holder: "h", until: 100, leaseMs: 100 };
      const arms = [of("leased", 0), of("late", 5)].map((task) => ({
        task: { ...task, limits: [{ key: "b", atMost: 1 }] },
        lease,
      }));
      assert.deepEqual(await commit(storage, { arms }), { ok: true, parked: ["late"] });
    },
  ),
  promise("a task in its pause asks for room again by its priority", async ({ storage }) => {
    await arm(storage, limitedTo("urgent", "a", 1, { priority: 1 }), ...backlog("a", 1, 3));
    await claimOne(storage, 0);
    await storage.release({ id: "urgent", token: 1, dueAt: 50, error: "no route" });
    assert.equal((await claimOne(storage, 10)).id, "a0");
    assert.deepEqual(await claim(storage, 50), []);
    await end(storage, "a0");
    assert.equal((await claimOne(storage, 51)).id, "urgent");
  }),
  promise("a priority is a whole number, of an effect or an invocation with limits", async ({ storage }) => {
    for (const priority of [0.5, NaN, Infinity]) {
      await assert.rejects(arm(storage, limitedTo("a0", "a", 1, { priority })), `priority ${priority}`);
    }
    await assert.rejects(
      arm(storage, limitedTo("a0", "a", 1, { priority: 1, kind: "message" })),
      "a message",
    );
    await assert.rejects(arm(storage, taskOf("a0", { priority: 1 })), "no limit");
    await arm(storage, taskOf("a0", { priority: 0 }));
  }),
];

const overrides: readonly StorageContractCase[] = [
  promise(
    "F6: a raised limit admits at once, in the commit that raises it, what waited, in order; none follows beyond it",
    async ({ storage, other }) => {
      await arm(storage, ...backlog("a", 1, 5));
      await claimOne(storage, 0);
      assert.deepEqual(await storage.commit([{ limits: [{ key: "a", atMost: 3, dueAt: 0 }] }]), [
        { ok: true, admits: true },
      ]);
      assert.deepEqual(ids(await claim(other, 1)), ["a1", "a2"]);
      await arm(storage, limitedTo("b", "a", 50));
      assert.deepEqual(await claim(other, 1), [], "its own number counts no more");
      await set(other, "a", null);
      assert.deepEqual(await claim(storage, 1), [], "and again, once it holds: one is the most of a3");
      await end(storage, "a0");
      await end(storage, "a1");
      await end(storage, "a2");
      assert.equal((await claimOne(storage, 1)).id, "a3");
    },
  ),
  promise(
    "F6: a lowered limit stops nothing that is in hand, and of what nobody has in hand none begins beyond it",
    async ({ storage, other }) => {
      await arm(storage, ...backlog("a", 4, 8));
      assert.deepEqual(ids(await claim(storage, 0, { limited: 2 })), ["a0", "a1"]);
      await set(other, "a", 3);
      assert.equal((await claimOne(other, 1)).id, "a2", "a3 was admitted and has asked anew");
      await set(other, "a", 1);
      for (const done of ["a0", "a1"]) {
        await end(storage, done);
        assert.deepEqual(await claim(storage, 2), [], `after ${done}`);
      }
      await end(storage, "a2");
      assert.equal((await claimOne(storage, 3)).id, "a3");
      await storage.heartbeat({ holder: "h", tasks: [{ id: "a3", token: 1 }], now: LEASE, leaseMs: LEASE });
      assert.deepEqual(await claim(storage, LEASE), []);
    },
  ),
  promise(
    "F6: a limit of 0 is a pause of its key, also for what is armed under a lease",
    async ({ storage }) => {
      await set(storage, "a", 0);
      await set(storage, "a", 0);
      const lease = { holder: "h", until: 100, leaseMs: 100 };
      const armed = { arms: ["a0", "a1"].map((id) => ({ task: limitedTo(id, "a", 1), lease })) };
      assert.deepEqual(await commit(storage, armed), { ok: true, parked: ["a0", "a1"] });
      const second = taskOf("s", {
        limits: [
          { key: "b", atMost: 1 },
          { key: "a", atMost: 1 },
        ],
      });
      assert.deepEqual(await commit(storage, { arms: [{ task: second, lease }] }), {
        ok: true,
        parked: ["s"],
      });
      assert.deepEqual(await claim(storage, 10), []);
      await set(storage, "a", null);
      assert.deepEqual(ids(await claim(storage, 10)).toSorted(), ["a0", "s"]);
      await set(storage, "no task has had it", null);
    },
  ),
  promise("F6: an override of a second key holds beneath every first key", async ({ storage }) => {
    const of = (id: string, account: string) =>
      taskOf(id, {
        limits: [
          { key: account, atMost: 9 },
          { key: "webhook", atMost: 2 },
        ],
      });
    await arm(storage, ...range(8).map((index) => of(`t${index}`, index % 2 === 0 ? "x" : "y")));
    await set(storage, "webhook", 1);
    assert.deepEqual(ids(await claim(storage, 0)), ["t0", "t1"]);
    await set(storage, "webhook", 3);
    assert.deepEqual(ids(await claim(storage, 0)), ["t2", "t3", "t4", "t5"]);
    await set(storage, "y", 0);
    await end(storage, "t0");
    await end(storage, "t1");
    assert.equal((await claimOne(storage, 0)).id, "t6");
  }),
  promise(
    "F6: a task in its pause, a suspect and a dead letter have no room, whatever is set",
    async ({ storage }) => {
      await arm(storage, ...backlog("a", 3, 3));
      await claimOne(storage, 0, { limited: 1 });
      await claim(storage, LEASE);
      assert.deepEqual(ids(await claim(storage, 2 * LEASE, { maxCrashes: 1 })), ["a1", "a2"]);
      await storage.release({ id: "a1", token: 2, dueAt: 5 * LEASE, error: "no" });
      await set(storage, "a", 1);
      await set(storage, "a", 9);
      assert.deepEqual(ids(await storage.tasks({ order: "dead", limit: 9 })), ["a0"]);
      assert.deepEqual(await claim(storage, 2 * LEASE + 1), []);
      assert.equal(await storage.nextDue(["sample@1"], ["limited"]), 3 * LEASE);
    },
  ),
  promise(
    "F6: an override with the tasks of its commit, and one of a refused commit, which changes nothing",
    async ({ storage }) => {
      const arms = backlog("a", 1, 4).map((task) => ({ task }));
      await put(storage, { limits: [{ key: "a", atMost: 2, dueAt: 0 }], arms });
      assert.equal((await claim(storage, 0)).length, 2);
      const refused = { consumes: { task: "none", token: 1 }, limits: [{ key: "a", atMost: 4, dueAt: 0 }] };
      assert.deepEqual(await commit(storage, refused), { ok: false, conflict: "token" });
      assert.deepEqual(await claim(storage, 0), []);
      for (const atMost of [-1, 0.5, NaN, Infinity]) {
        await assert.rejects(set(storage, "a", atMost), `at most ${atMost}`);
      }
      await assert.rejects(set(storage, "", 1), "a key without a name");
    },
  ),
  promise(
    "F6: of overrides, claims and commits at once none leaves behind what has room, nor admits beyond the last",
    async ({ storage, other }) => {
      const acts = range(60).map(async (index) => {
        const on = either(index, storage, other);
        if (index % 4 === 0) return set(on, "a", index % 12);
        if (index % 4 === 1) return void (await claim(on, 10, { limited: 1 }));
        return arm(
          on,
          ...backlog(`a${index}`, 2, 2).map((task) => ({ ...task, limits: [{ key: "a", atMost: 2 }] })),
        );
      });
      await Promise.all(acts);
      await set(storage, "a", 40);
      const held = (await storage.tasks({ order: "instance", instance: "i", limit: 200 })).filter(
        ({ isHeld }) => isHeld,
      ).length;
      assert.equal((await claim(other, 20)).length, 40 - held);
      assert.deepEqual(await storage.tasks({ order: "forgotten" }), []);
    },
  ),
];

const told: readonly StorageContractCase[] = [
  promise(
    "F6: what waits for a place tells of which key, and how many come before it; counted up to a thousand",
    async ({ storage }) => {
      await arm(storage, ...backlog("a", 1, 3));
      await arm(storage, limitedTo("urgent", "a", 1, { priority: 1 }));
      assert.deepEqual(await waits(storage), {
        urgent: { key: "a", before: 0 },
        a1: { key: "a", before: 1 },
        a2: { key: "a", before: 2 },
      });
      await arm(storage, ...range(1_005).map((index) => limitedTo(`more${index}`, "a", 1)));
      assert.deepEqual((await waits(storage))["more1004"], { key: "a", before: 1_000 });
      const [dead] = await storage.tasks({ order: "workflow" });
      assert.equal(dead?.waitsFor, undefined, "a list counts none");
    },
  ),
  promise(
    "F6: what waits for a rate tells of which key, until when; due at once where that key is overridden",
    async ({ storage }) => {
      await arm(storage, ...backlog("a", 3, 2), ...backlog("b", 1, 1));
      await claim(storage, 0);
      const rate = { rateKey: "a", dueAt: 500 };
      await storage.release({ id: "a0", token: 1, ...rate, keepsRoom: true });
      await storage.release({ id: "a1", token: 1, ...rate });
      await storage.release({ id: "b0", token: 1, ...rate, rateKey: "b" });
      const until = { key: "a", until: 500 };
      assert.deepEqual(await waits(storage), { a0: until, a1: until, b0: { key: "b", until: 500 } });
      assert.deepEqual(await claim(storage, 499), []);
      await set(storage, "a", null, 100);
      assert.deepEqual(await waits(storage), { b0: { key: "b", until: 500 } });
      assert.deepEqual(ids(await claim(storage, 100)), ["a0", "a1"]);
      assert.deepEqual(ids(await claim(storage, 500)), ["b0"]);
      assert.deepEqual(await waits(storage), {});
    },
  ),
];

/** Priorities, overrides and what a task waits for, on every adapter. */
export const changedLimitCases: readonly StorageContractCase[] = [...priorities, ...overrides, ...told];
