/** The storage contract on tasks whose holder has vanished: at first they begin again at once, later it is found which of them did it. */
import assert from "node:assert/strict";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import type { ClaimedTask, ClaimRequest, PendingTask } from "../../../storage/storage.ts";
import { promise, type StorageContractCase } from "./contract.ts";
import {
  arm,
  claim,
  claimOne,
  commit,
  either,
  ids,
  limitedTo,
  LEASE,
  ok,
  put,
  range,
  taskOf,
  WORKFLOW,
} from "./samples.ts";

const HOUR_MS = 3_600_000;

const end = (storage: PaymentStorage, { id, token }: ClaimedTask): Promise<void> =>
  put(storage, { consumes: { task: id, token } });

/** Arms so many tasks, and has a holder vanish with all of them in hand, from 0 until the end of its lease. */
async function vanishWith(storage: PaymentStorage, count: number): Promise<void> {
  await arm(storage, ...range(count).map((index) => taskOf(`t${index}`)));
  assert.equal((await claim(storage, 0, { holder: "dead" })).length, count);
}

/** Two holders vanish, one after the other, with all that is due in hand: from `SUSPECTED` on all of it waits alone. */
async function vanishTwice(storage: PaymentStorage, changes: Partial<ClaimRequest> = {}): Promise<void> {
  const first = await claim(storage, 0, { holder: "dead", ...changes });
  const again = await claim(storage, LEASE, { holder: "dead too", ...changes });
  assert.deepEqual(ids(again).toSorted(), ids(first).toSorted(), "the first death costs nothing");
}

const SUSPECTED = 2 * LEASE;

const pendingOf = async (storage: PaymentStorage): Promise<PendingTask[]> => {
  const tasks = await storage.tasks({ order: "instance", instance: "i", limit: 100 });
  return [...tasks];
};

/** The suspects of the sample instance. */
const suspects = async (storage: PaymentStorage): Promise<string[]> =>
  ids((await pendingOf(storage)).filter(({ isSuspect }) => isSuspect));

const deadLetters = async (storage: PaymentStorage): Promise<string[]> =>
  ids(await storage.tasks({ order: "dead", limit: 99 }));

/** So many suspects wait that must be alone, none is in hand, and timers with these names are due. */
async function behindLine(storage: PaymentStorage, count: number, names: readonly string[]): Promise<void> {
  await arm(storage, ...range(count + 1).map((index) => taskOf(`t${index}`)));
  await vanishTwice(storage, { free: 999 });
  await end(storage, await claimOne(storage, SUSPECTED, { free: 999 }));
  await arm(storage, ...names.map((name) => taskOf(name, { kind: "timer", dueAt: SUSPECTED })));
}

const sideBySide: readonly StorageContractCase[] = [
  promise("D44: what a vanished holder had in hand begins again at once, side by side", async (on) => {
    const { storage, other } = on;
    await vanishWith(storage, 40);
    await arm(storage, taskOf("timer", { kind: "timer", dueAt: LEASE }));
    const again = await claim(other, LEASE, { maxCrashes: 1 });
    assert.deepEqual(
      again.map(({ id, crashes, token }) => [id, crashes, token]),
      [...range(40).map((index) => [`t${index}`, 1, 2]), ["timer", 0, 1]],
    );
    assert.deepEqual(await suspects(storage), []);
    assert.deepEqual(await deadLetters(storage), []);
  }),
  promise("D44: of twenty claims at once each task is given to one", async ({ storage, other }) => {
    await vanishWith(storage, 5);
    const race = range(20).map((index) =>
      claim(either(index, storage, other), LEASE, { holder: `h${index}` }),
    );
    const given = [...(await Promise.all(race)).flat(), ...(await claim(storage, LEASE))];
    assert.deepEqual(ids(given).toSorted(), ["t0", "t1", "t2", "t3", "t4"]);
  }),
  promise("D44: deaths an hour apart have nothing to do with each other", async ({ storage }) => {
    await vanishWith(storage, 2);
    let now = LEASE;
    for (const leaseMs of [HOUR_MS + LEASE, HOUR_MS + LEASE, LEASE]) {
      const again = await claim(storage, now);
      assert.deepEqual(
        again.map(({ crashes }) => crashes),
        [1, 1],
      );
      const beat = { holder: "h", tasks: again, now: now + HOUR_MS, leaseMs };
      assert.deepEqual((await storage.heartbeat(beat)).lost, []);
      now += HOUR_MS + leaseMs;
    }
    assert.deepEqual(await deadLetters(storage), []);
  }),
  promise("D71: a suspect that no other was beside is counted, and waits for nobody", async ({ storage }) => {
    await arm(storage, taskOf("a"));
    await claim(storage, 0, { holder: "a1" });
    await arm(storage, taskOf("b", { dueAt: LEASE - 1 }));
    await claim(storage, LEASE - 1, { holder: "b1" });
    await claim(storage, LEASE, { holder: "a2" });
    await claim(storage, 2 * LEASE - 1, { holder: "b2" });
    assert.deepEqual(ids(await claim(storage, 2 * LEASE, { holder: "both" })), ["a"]);
    assert.deepEqual(ids(await claim(storage, 3 * LEASE - 1, { holder: "both" })), ["b"]);
    assert.deepEqual(await suspects(storage), ["a", "b"], "side by side, as either was alone in its hand");
    assert.deepEqual(ids(await claim(storage, 4 * LEASE)), ["a"], "now both were in one hand");
  }),
  promise("D71: a task is a dead letter once so many deaths are counted, and not before", async (on) => {
    const { storage } = on;
    await arm(storage, taskOf("t"));
    for (const crashes of range(4)) {
      const task = await claimOne(storage, crashes * LEASE, { holder: `h${crashes}`, maxCrashes: 3 });
      assert.equal(task.crashes, crashes);
    }
    assert.deepEqual(await claim(storage, 4 * LEASE, { maxCrashes: 3 }), []);
    assert.deepEqual(await deadLetters(storage), ["t"]);
  }),
];

const oneByOne: readonly StorageContractCase[] = [
  promise(
    "D45: what was together in hand at two deaths is tried one at a time, and others go on",
    async (on) => {
      const { storage, other } = on;
      await arm(storage, ...range(40).map((index) => taskOf(`t${index}`)));
      await vanishTwice(storage);
      const did: string[] = [];
      for (const index of range(40)) {
        await arm(storage, taskOf(`new${index}`, { dueAt: SUSPECTED }));
        const [suspect, fresh, ...more] = await claim(other, SUSPECTED + index);
        assert.ok(suspect !== undefined && fresh !== undefined && more.length === 0);
        assert.deepEqual([fresh.id, fresh.crashes], [`new${index}`, 0]);
        assert.deepEqual([suspect.crashes, suspect.token], [2, 3]);
        assert.deepEqual(await claim(storage, SUSPECTED + index), [], "while one is held no other is given");
        assert.equal((await suspects(storage)).length, 40 - index);
        await end(storage, suspect);
        await end(storage, fresh);
        did.push(suspect.id);
      }
      assert.deepEqual(
        did,
        range(40).map((index) => `t${index}`),
        "as they were armed",
      );
      assert.deepEqual(await deadLetters(storage), []);
    },
  ),
  promise(
    "D45: a suspect takes one place of its queue, and waits where there is none",
    async ({ storage }) => {
      await arm(storage, taskOf("t0"), taskOf("t1"));
      await vanishTwice(storage);
      await arm(storage, taskOf("new0", { dueAt: SUSPECTED }), taskOf("new1", { dueAt: SUSPECTED }));
      assert.deepEqual(ids(await claim(storage, SUSPECTED, { free: 0 })), []);
      assert.deepEqual(ids(await claim(storage, SUSPECTED, { free: 2 })), ["t0", "new0"]);
    },
  ),
  promise("D45: of the suspects that have crashed as often, timers and messages come first", async (on) => {
    const { storage } = on;
    await arm(storage, taskOf("effect"), taskOf("promise", { kind: "invocation" }));
    await arm(storage, taskOf("timer", { kind: "timer" }), taskOf("message", { kind: "message" }));
    await vanishTwice(storage);
    const did: string[] = [];
    for (const now of range(4)) {
      const suspect = await claimOne(storage, SUSPECTED + now);
      did.push(suspect.id);
      await end(storage, suspect);
    }
    assert.deepEqual(did, ["timer", "message", "effect", "promise"]);
  }),
  promise(
    "D46, G6: a suspect of an unknown workflow is judged by any claim, and stops no other",
    async (on) => {
      const { storage } = on;
      const workflows = [WORKFLOW, "old@1"];
      await arm(storage, ...range(200).map((index) => taskOf(`u${index}`, { workflow: "old@1" })));
      await arm(storage, taskOf("known"));
      await vanishTwice(storage, { workflows, free: 999 });
      assert.equal((await claimOne(storage, SUSPECTED, { workflows, free: 999, holder: "old" })).id, "u0");
      assert.deepEqual(await claim(storage, SUSPECTED), []);
      assert.equal((await claimOne(storage, SUSPECTED + LEASE)).id, "known", "u0 is held no longer");
    },
  ),
  promise("D46: a suspect that is held for an hour stops no other any more", async ({ storage }) => {
    await arm(storage, taskOf("long"), taskOf("beside"));
    await vanishTwice(storage);
    const leaseMs = 3 * HOUR_MS;
    assert.equal((await claimOne(storage, SUSPECTED, { leaseMs })).id, "long");
    await put(storage, { consumes: { task: "beside", token: 2 } });
    await arm(storage, taskOf("counted", { dueAt: SUSPECTED }));
    for (const death of range(2)) {
      const now = SUSPECTED + death * LEASE;
      assert.equal((await claimOne(storage, now, { holder: `dead ${death}` })).id, "counted");
    }
    assert.deepEqual(await claim(storage, SUSPECTED + 2 * LEASE), [], "what must be alone is held");
    assert.equal(await storage.nextDue([WORKFLOW]), SUSPECTED + HOUR_MS);
    assert.deepEqual(await claim(storage, SUSPECTED + HOUR_MS - 1), []);
    assert.equal((await claimOne(storage, SUSPECTED + HOUR_MS, { leaseMs })).id, "counted");
    assert.equal(await storage.nextDue([WORKFLOW]), SUSPECTED + leaseMs);
  }),
  promise(
    "D45: behind a long line of those that must be alone, one that need not is the first",
    async (on) => {
      const { storage } = on;
      await behindLine(storage, 200, ["timer"]);
      for (const death of range(3)) {
        const now = SUSPECTED + death * LEASE;
        assert.equal((await claimOne(storage, now, { free: 0, holder: `dead ${death}` })).id, "timer");
      }
      assert.equal((await claimOne(storage, SUSPECTED + 3 * LEASE)).id, "timer");
    },
  ),
  promise("D46, G6: a suspect whose key is full waits for room, and another goes before it", async (on) => {
    const { storage } = on;
    await arm(storage, taskOf("first"), limitedTo("limited", "L", 1), taskOf("free"));
    await vanishTwice(storage);
    const first = await claimOne(storage, SUSPECTED);
    await arm(storage, limitedTo("new", "L", 1));
    assert.equal((await claimOne(storage, SUSPECTED)).id, "new");
    await end(storage, first);
    const free = await claimOne(storage, SUSPECTED);
    assert.deepEqual([first.id, free.id], ["first", "free"]);
    await end(storage, free);
    assert.deepEqual(await claim(storage, SUSPECTED), [], "its key is full");
    assert.deepEqual(await commit(storage, { consumes: { task: "new", token: 1 } }), ok);
    assert.equal((await claimOne(storage, SUSPECTED)).id, "limited");
  }),
  promise("D45: the next suspect is due when the held one has ended, or its lease", async ({ storage }) => {
    await arm(storage, taskOf("t0"), taskOf("t1"));
    await vanishTwice(storage);
    const suspect = await claimOne(storage, SUSPECTED);
    assert.equal(await storage.nextDue([WORKFLOW]), SUSPECTED + LEASE);
    assert.equal(await storage.nextDue([WORKFLOW], ["steps", "limited"]), null);
    await end(storage, suspect);
    assert.equal(await storage.nextDue([WORKFLOW]), SUSPECTED);
    assert.equal(await storage.nextDue(["old@1"]), null);
  }),
];

const culprits: readonly StorageContractCase[] = [
  promise(
    "D45: a task that ends each of its holders is alone among the dead letters",
    async ({ storage }) => {
      await arm(storage, ...range(40).map((index) => taskOf(`t${index}`)));
      await vanishTwice(storage);
      let now = SUSPECTED;
      let deaths = 2;
      for (let suspect = (await claim(storage, now))[0]; suspect !== undefined;) {
        if (suspect.id === "t7") {
          now += LEASE;
          deaths += 1;
        } else await end(storage, suspect);
        now += 1;
        suspect = (await claim(storage, now))[0];
      }
      assert.equal(deaths, 5, "three of them counted");
      assert.deepEqual(
        (await storage.tasks({ order: "dead", limit: 9 })).map(({ id, crashes }) => [id, crashes]),
        [["t7", 5]],
      );
      await put(storage, { retries: [{ task: "t7", dueAt: now }] });
      assert.deepEqual(await suspects(storage), [], "what is retried by command is under no suspicion");
      assert.deepEqual((await claimOne(storage, now)).crashes, 0);
    },
  ),
  promise("D71: a hand is judged once, though its leases end one after the other", async ({ storage }) => {
    await arm(storage, taskOf("a"));
    await claim(storage, 0, { holder: "one" });
    await claim(storage, LEASE, { holder: "two" });
    await arm(storage, taskOf("b"));
    await claim(storage, LEASE, { holder: "one" });
    await claim(storage, 2 * LEASE, { holder: "three", free: 1 });
    await claim(storage, 2 * LEASE + 5, { holder: "three" });
    // Both are suspects in the hand of "three" now; the lease of the second ends five later.
    assert.deepEqual(await claim(storage, 3 * LEASE, { maxCrashes: 2 }), []);
    assert.equal((await claim(storage, 3 * LEASE + 5, { maxCrashes: 2 })).length, 1);
    assert.deepEqual(await deadLetters(storage), []);
  }),
  promise("D2: what ends late in the hands of a vanished holder is done, also while it waits", async (on) => {
    const { storage } = on;
    await arm(storage, ...range(3).map((index) => taskOf(`t${index}`)));
    await vanishTwice(storage);
    assert.equal((await claimOne(storage, SUSPECTED)).id, "t0");
    const lost = { ok: false, conflict: "token" } as const;
    assert.deepEqual(await commit(storage, { consumes: { task: "t0", token: 2 } }), lost);
    assert.deepEqual(await commit(storage, { consumes: { task: "t1", token: 2 } }), ok);
    assert.equal(await storage.release({ id: "t2", token: 2, dueAt: LEASE, error: "late" }), true);
    assert.deepEqual(await suspects(storage), ["t0"]);
  }),
  promise("D2: a suspect that fails is one no longer, one that is given back is", async ({ storage }) => {
    await vanishWith(storage, 1);
    await claim(storage, LEASE);
    const first = await claimOne(storage, SUSPECTED);
    await storage.release({ id: "t0", token: first.token, dueAt: SUSPECTED + 7 });
    assert.deepEqual(await suspects(storage), ["t0"]);
    assert.deepEqual(await claim(storage, SUSPECTED + 6), []);
    const again = await claimOne(storage, SUSPECTED + 7);
    assert.deepEqual([again.crashes, again.failures], [2, 0], "to be given back is no crash");
    await storage.release({ id: "t0", token: again.token, dueAt: SUSPECTED + 8, error: "no route" });
    assert.deepEqual(await suspects(storage), []);
    assert.equal((await claimOne(storage, SUSPECTED + 8)).failures, 1);
    const crashed = await claimOne(storage, SUSPECTED + LEASE + 8);
    assert.equal(crashed.crashes, 1, "a new row begins");
  }),
  promise(
    "D2: a suspect that lives for an hour in hand is none after the next death",
    async ({ storage }) => {
      await vanishWith(storage, 1);
      await claim(storage, LEASE);
      await claimOne(storage, SUSPECTED, { leaseMs: LEASE });
      const tasks = [{ id: "t0", token: 3 }];
      const beat = { holder: "h", tasks, now: SUSPECTED + HOUR_MS, leaseMs: LEASE };
      assert.deepEqual((await storage.heartbeat(beat)).lost, []);
      assert.equal((await claimOne(storage, SUSPECTED + HOUR_MS + LEASE)).crashes, 1);
    },
  ),
];

/** A heartbeat of the holder that was missed, for so many of its tasks; answers the ids of those it has lost. */
const beatLate = async (
  storage: PaymentStorage,
  { count, now, token = 2 }: { count: number; now: number; token?: number },
): Promise<readonly string[]> => {
  const tasks = range(count).map((index) => ({ id: `t${index}`, token }));
  return (await storage.heartbeat({ holder: "dead too", tasks, now, leaseMs: LEASE })).lost;
};

const late: readonly StorageContractCase[] = [
  promise(
    "D72: a holder frozen for longer than a lease has lost what began anew, and no more",
    async (on) => {
      const { storage, other } = on;
      await vanishWith(storage, 64);
      assert.equal((await claim(other, LEASE, { free: 60 })).length, 60);
      const beat = { holder: "dead", tasks: range(64).map((index) => ({ id: `t${index}`, token: 1 })) };
      const lost = (await storage.heartbeat({ ...beat, now: LEASE + 1, leaseMs: LEASE })).lost;
      assert.equal(lost.length, 60);
      const kept = (await pendingOf(storage)).filter(({ crashes }) => crashes === 0);
      assert.deepEqual(
        kept.map(({ isHeld, visibleAt }) => [isHeld, visibleAt]),
        range(4).map(() => [true, 2 * LEASE + 1]),
      );
    },
  ),
  promise("D2: a holder that was only late has back what no other has been given", async (on) => {
    const { storage, other } = on;
    await arm(storage, ...range(40).map((index) => taskOf(`t${index}`)));
    await vanishTwice(storage);
    assert.equal((await claimOne(other, SUSPECTED)).id, "t0");
    assert.deepEqual(await beatLate(storage, { count: 40, now: SUSPECTED + 1 }), ["t0"], "in other hands");
    assert.deepEqual(await suspects(storage), ["t0"]);
    const [first, ...kept] = (await pendingOf(storage)).toSorted((a, b) => b.crashes - a.crashes);
    assert.deepEqual([first?.id, first?.crashes], ["t0", 2]);
    for (const { crashes, isHeld, visibleAt } of kept) {
      assert.deepEqual([crashes, isHeld, visibleAt], [1, true, SUSPECTED + LEASE + 1]);
    }
    await put(other, { consumes: { task: "t0", token: 3 } });
    assert.deepEqual(await claim(other, SUSPECTED + LEASE), [], "nothing waits in the line");
    assert.equal(await storage.nextDue([WORKFLOW]), SUSPECTED + LEASE + 1);
    assert.deepEqual(await beatLate(storage, { count: 40, now: SUSPECTED + LEASE }), ["t0"]);
    await put(storage, { consumes: { task: "t1", token: 2 } });
    const again = await claimOne(other, SUSPECTED + 2 * LEASE);
    assert.deepEqual([again.id, again.crashes], ["t2", 2], "when it vanishes after all");
  }),
  promise(
    "D71: what found no room as it was taken from its holder, its holder has back, unless it gave it back",
    async (on) => {
      const { storage, other } = on;
      await arm(storage, limitedTo("t0", "L", 2), limitedTo("t1", "L", 2));
      assert.equal((await claim(storage, 0, { holder: "dead too" })).length, 2);
      await put(other, { limits: [{ key: "L", atMost: 0, dueAt: 0 }] });
      assert.deepEqual(await claim(other, LEASE), [], "its key is shut");
      assert.equal(await storage.release({ id: "t1", token: 1, dueAt: LEASE }), true);
      assert.deepEqual(await beatLate(storage, { count: 2, now: LEASE + 1, token: 1 }), ["t1"]);
      const [first, second] = await pendingOf(storage);
      assert.deepEqual([first?.isHeld, first?.crashes], [true, 0]);
      assert.deepEqual([second?.isHeld, second?.crashes], [false, 1]);
      await put(other, { limits: [{ key: "L", atMost: null, dueAt: 0 }] });
      assert.equal((await claimOne(other, LEASE + 2)).id, "t1");
    },
  ),
];

/** Tasks whose holder has vanished. */
export const suspectCases: readonly StorageContractCase[] = [
  ...sideBySide,
  ...oneByOne,
  ...culprits,
  ...late,
];
