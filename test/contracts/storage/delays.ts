/** The storage contract on delays: what the clock is set back by is waited for by nothing that has a delay. */
import assert from "node:assert/strict";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import { promise, type StorageContractCase } from "./contract.ts";
import { arm, claim, claimOne, either, ids, LEASE, limitedTo, put, range, taskOf } from "./samples.ts";

const HOUR_MS = 3_600_000;
const BEFORE = 10 * HOUR_MS;
const AFTER = BEFORE - HOUR_MS;

/** The clock as of this time, by the name that knows the highest. */
const follow = (storage: PaymentStorage, now: number, holder = "h") =>
  storage.lease({ names: ["clock"], holder, now: () => now, leaseMs: LEASE, highest: 0 });

const timer = (id: string, dueAt: number, delayMs?: number) =>
  taskOf(id, { kind: "timer", name: id, dueAt, ...(delayMs === undefined ? {} : { delayMs }) });

/** When each task can be claimed. */
const times = async (storage: PaymentStorage): Promise<Record<string, number>> => {
  const tasks = await storage.tasks({ order: "instance", instance: "i", limit: 5_000 });
  return Object.fromEntries(tasks.map(({ id, visibleAt }) => [id, visibleAt]));
};

export const delayCases: readonly StorageContractCase[] = [
  promise(
    "D35: after the clock was set back, a timer, a pause and a lease last as long as their delay, and a moment stays",
    async ({ storage, other }) => {
      assert.deepEqual(
        (await follow(storage, BEFORE)).map(({ setBackMs }) => setBackMs),
        [undefined],
      );
      await arm(storage, taskOf("held"), taskOf("paused"));
      for (const task of await claim(storage, BEFORE)) {
        const due = { dueAt: BEFORE + 5_000, delayMs: 5_000 };
        if (task.id === "paused") await storage.release({ ...task, ...due, error: "no route" });
      }
      const lease = { holder: "dead", until: BEFORE + LEASE, leaseMs: LEASE };
      await put(storage, { arms: [{ task: taskOf("begun", { dueAt: BEFORE, delayMs: 0 }), lease }] });
      await arm(storage, timer("timer", BEFORE + 60_000, 60_000), timer("moment", BEFORE + 60_000));
      await arm(storage, taskOf("due", { dueAt: BEFORE, delayMs: 0 }));
      await arm(storage, timer("long", BEFORE + HOUR_MS, 3 * HOUR_MS));
      assert.deepEqual(await claim(other, AFTER), [], "claims know nothing of it");
      const [given] = await follow(other, AFTER, "g");
      assert.deepEqual([given?.holder, given?.setBackMs], ["g", HOUR_MS]);
      assert.deepEqual(await times(storage), {
        held: AFTER + LEASE,
        begun: AFTER + LEASE,
        paused: AFTER + 5_000,
        timer: AFTER + 60_000,
        moment: BEFORE + 60_000,
        due: AFTER,
        long: BEFORE + HOUR_MS,
      });
      assert.deepEqual(ids(await claim(storage, AFTER)), ["due"]);
    },
  ),
  promise(
    "D35: once is enough: a delay that runs is not begun anew, by the same process or another",
    async ({ storage, other }) => {
      await follow(storage, BEFORE);
      await arm(storage, timer("t", BEFORE + 60_000, 60_000));
      await follow(storage, AFTER);
      for (const [index, handle] of [storage, other].entries()) {
        const [given] = await follow(handle, AFTER + 30_000 + index, `${index}`);
        assert.equal(given?.setBackMs, undefined);
      }
      assert.deepEqual(await times(storage), { t: AFTER + 60_000 });
    },
  ),
  promise(
    "D35: the name tells that the clock was set back, or a higher time that the caller has seen; who knows none moves nothing",
    async ({ storage, other }) => {
      await arm(storage, timer("t", BEFORE + 60_000, 60_000));
      await follow(storage, AFTER);
      assert.deepEqual(await times(storage), { t: BEFORE + 60_000 }, "nothing tells of it");
      const asked = { names: ["clock"], holder: "g", leaseMs: LEASE };
      await other.lease({ ...asked, now: () => AFTER });
      const [seen] = await other.lease({ ...asked, now: () => AFTER + 1, highest: BEFORE });
      assert.deepEqual([seen?.holder, seen?.setBackMs], ["h", HOUR_MS - 1], "it stays with who has it");
      assert.deepEqual(await times(storage), { t: AFTER + 60_001 });
    },
  ),
  promise("D35: of a thousand and more tasks each is moved", async ({ storage }) => {
    await follow(storage, BEFORE);
    const every = range(1_200).map((index) => timer(`t${index}`, BEFORE + index, index));
    await arm(storage, ...every);
    await follow(storage, AFTER);
    const expected = range(1_200).map((index) => [`t${index}`, AFTER + index]);
    assert.deepEqual(await times(storage), Object.fromEntries(expected));
  }),
  promise(
    "D93: tasks are moved by the time at which they are: what is extended while that goes on keeps its lease",
    async ({ storage, other }) => {
      await follow(storage, BEFORE);
      await arm(storage, taskOf("z", { dueAt: BEFORE, delayMs: 0 }));
      await arm(storage, ...range(1_200).map((index) => timer(`t${index}`, BEFORE + HOUR_MS, HOUR_MS)));
      const held = await claimOne(other, BEFORE, { holder: "g" });
      const clock = { time: AFTER };
      const asked = { names: ["clock"], holder: "h", leaseMs: LEASE, highest: 0 };
      const late = storage.lease({ ...asked, now: () => clock.time });
      // As where its process was frozen behind the call.
      clock.time = AFTER + 2 * LEASE;
      const beat = { holder: "g", tasks: [held], now: clock.time, leaseMs: LEASE };
      assert.deepEqual(await storage.heartbeat(beat), { lost: [], unseen: [] });
      await late;
      assert.equal((await times(storage))["z"], AFTER + 3 * LEASE);
      assert.deepEqual(ids(await claim(storage, AFTER + 3 * LEASE - 1)), []);
    },
  ),
  promise(
    "D93: of processes with one clock that ask beside one another none is told that it was set back, and no task is moved",
    async ({ storage, other }) => {
      const clock = { time: BEFORE };
      await arm(storage, taskOf("held"));
      await claimOne(other, BEFORE, { holder: "g", leaseMs: HOUR_MS });
      const asking = range(60).map(async (index) => {
        const asked = { names: [`n${index % 3}`], holder: `h${index % 6}`, leaseMs: LEASE, highest: 0 };
        const told = await either(index, storage, other).lease({ ...asked, now: () => (clock.time += 400) });
        return told.flatMap(({ setBackMs }) => setBackMs ?? []);
      });
      assert.deepEqual((await Promise.all(asking)).flat(), []);
      assert.deepEqual(await times(storage), { held: BEFORE + HOUR_MS });
    },
  ),
  promise(
    "D10, D35: after the clock was set back, a suspect that is held keeps the others waiting for a lease, and a limit is kept",
    async ({ storage }) => {
      await follow(storage, BEFORE);
      await arm(storage, taskOf("first"), taskOf("second"));
      await arm(storage, limitedTo("limited", "k", 1, { dueAt: BEFORE, delayMs: 0 }));
      await arm(storage, limitedTo("parked", "k", 1, { dueAt: BEFORE, delayMs: 0 }));
      for (const death of [2, 1]) await claim(storage, BEFORE - death * LEASE, { holder: `dead ${death}` });
      assert.equal((await claimOne(storage, BEFORE, { limited: 0 })).id, "first");
      await follow(storage, AFTER);
      assert.deepEqual(await times(storage), {
        first: AFTER + LEASE,
        second: AFTER + HOUR_MS,
        limited: AFTER,
        parked: AFTER,
      });
      assert.deepEqual(ids(await claim(storage, AFTER)), ["limited"]);
      assert.deepEqual(ids(await claim(storage, AFTER + LEASE, { limited: 0 })), ["second"]);
    },
  ),
  promise(
    "D35: a clock that was set back and is put right makes due what was moved, once",
    async ({ storage, other }) => {
      await follow(storage, BEFORE);
      await arm(storage, timer("t", BEFORE + 60_000, 60_000));
      await follow(storage, AFTER);
      await follow(other, BEFORE + 1, "g");
      const task = await claimOne(storage, BEFORE + 1, { leaseMs: HOUR_MS });
      assert.deepEqual(await claim(other, BEFORE + 60_000), []);
      await follow(other, AFTER + 1, "g");
      assert.deepEqual(await claim(other, AFTER + 1), [], "in hand it stays for a lease");
      await put(storage, { consumes: { task: "t", token: task.token } });
      assert.deepEqual(await claim(other, BEFORE + HOUR_MS), []);
    },
  ),
];
