/** The storage contract on tasks whose holder has vanished: tried one at a time, until it is known which of them did it. */
import assert from "node:assert/strict";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import type { ClaimedTask, ClaimRequest } from "../../../storage/storage.ts";
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

/** The suspects of the sample instance. */
async function suspects(storage: PaymentStorage): Promise<string[]> {
  const { tasks } = await storage.pending("i", 100);
  return tasks.filter(({ isSuspect }) => isSuspect).map(({ id }) => id);
}

const oneByOne: readonly StorageContractCase[] = [
  promise(
    "D2: what a vanished holder had in hand is tried one at a time, and other tasks go on",
    async (on) => {
      const { storage, other } = on;
      await vanishWith(storage, 40);
      const did: string[] = [];
      for (const index of range(40)) {
        await arm(storage, taskOf(`new${index}`, { dueAt: LEASE }));
        const [suspect, fresh, ...more] = await claim(other, LEASE + index);
        assert.ok(suspect !== undefined && fresh !== undefined && more.length === 0);
        assert.deepEqual([fresh.id, fresh.crashes], [`new${index}`, 0]);
        assert.deepEqual([suspect.crashes, suspect.token], [1, 2]);
        assert.deepEqual(await claim(storage, LEASE + index), [], "while one is held no other is given");
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
      assert.deepEqual(await storage.tasks({ order: "dead", limit: 9 }), []);
    },
  ),
  promise("D2: of twenty claims at once one gets a suspect", async ({ storage, other }) => {
    await vanishWith(storage, 5);
    const claimAll = async (now: number): Promise<string[]> => {
      const race = range(20).map((index) =>
        claim(either(index, storage, other), now, { holder: `h${index}` }),
      );
      return ids((await Promise.all(race)).flat());
    };
    // Claims that meet may leave the line to each other; a later one takes what they have left.
    const first = [...(await claimAll(LEASE)), ...ids(await claim(storage, LEASE))];
    assert.deepEqual(first, ["t0"]);
    assert.deepEqual(await claimAll(LEASE + 1), []);
  }),
  promise(
    "D2: a suspect takes one place of its queue, and waits where there is none",
    async ({ storage }) => {
      await vanishWith(storage, 2);
      await arm(storage, taskOf("new0", { dueAt: LEASE }), taskOf("new1", { dueAt: LEASE }));
      assert.deepEqual(ids(await claim(storage, LEASE, { free: 0 })), []);
      assert.deepEqual(ids(await claim(storage, LEASE, { free: 2 })), ["t0", "new0"]);
    },
  ),
  promise(
    "D2: of the suspects that have crashed as often, timers and messages come first",
    async ({ storage }) => {
      await arm(storage, taskOf("effect"), taskOf("promise", { kind: "invocation" }));
      await arm(storage, taskOf("timer", { kind: "timer" }), taskOf("message", { kind: "message" }));
      assert.equal((await claim(storage, 0)).length, 4);
      const did: string[] = [];
      for (const now of range(4)) {
        const suspect = await claimOne(storage, LEASE + now);
        did.push(suspect.id);
        await end(storage, suspect);
      }
      assert.deepEqual(did, ["timer", "message", "effect", "promise"]);
    },
  ),
  promise(
    "D2: suspects that have crashed as often are tried as they were armed, whenever they were due",
    async ({ storage }) => {
      await arm(
        storage,
        taskOf("late", { dueAt: 2 }),
        taskOf("soon", { dueAt: 0 }),
        taskOf("then", { dueAt: 1 }),
      );
      assert.deepEqual(ids(await claim(storage, 2)), ["soon", "then", "late"]);
      for (const [index, id] of ["late", "soon", "then"].entries()) {
        const suspect = await claimOne(storage, 2 + LEASE + index);
        assert.equal(suspect.id, id);
        await end(storage, suspect);
      }
    },
  ),
  promise("D2, G6: a suspect of an unknown workflow stands in the way of no other", async ({ storage }) => {
    const workflows = [WORKFLOW, "old@1"];
    await arm(storage, ...range(200).map((index) => taskOf(`u${index}`, { workflow: "old@1" })));
    await arm(storage, taskOf("known"));
    await claim(storage, 0, { workflows, free: 999 });
    assert.equal((await claimOne(storage, LEASE, { workflows, free: 999 })).id, "u0");
    assert.deepEqual(await claim(storage, LEASE), []);
    assert.equal((await claimOne(storage, 2 * LEASE)).id, "known", "u0 is held no longer");
  }),
  promise(
    "D2, G6: a suspect whose key is full waits for room, and another goes before it",
    async ({ storage }) => {
      await arm(storage, taskOf("first"), limitedTo("limited", "L", 1), taskOf("free"));
      assert.equal((await claim(storage, 0)).length, 3);
      const first = await claimOne(storage, LEASE);
      await arm(storage, limitedTo("new", "L", 1));
      assert.equal((await claimOne(storage, LEASE)).id, "new");
      await end(storage, first);
      const free = await claimOne(storage, LEASE);
      assert.deepEqual([first.id, free.id], ["first", "free"]);
      await end(storage, free);
      assert.deepEqual(await claim(storage, LEASE), [], "its key is full");
      assert.deepEqual(await commit(storage, { consumes: { task: "new", token: 1 } }), ok);
      assert.equal((await claimOne(storage, LEASE)).id, "limited");
    },
  ),
  promise("D2: the next suspect is due when the held one has ended, or its lease", async ({ storage }) => {
    await vanishWith(storage, 2);
    const suspect = await claimOne(storage, LEASE + 5);
    assert.equal(await storage.nextDue([WORKFLOW]), 2 * LEASE + 5);
    assert.equal(await storage.nextDue([WORKFLOW], ["steps", "limited"]), null);
    await end(storage, suspect);
    assert.equal(await storage.nextDue([WORKFLOW]), LEASE + 5);
    assert.equal(await storage.nextDue(["old@1"]), null);
  }),
];

/** Claims the suspect in turn, so many times in a row, each time as the lease of the one before ends; answers their ids. */
async function crashInTurn(
  storage: PaymentStorage,
  times: number,
  changes: Partial<ClaimRequest> = {},
): Promise<string[]> {
  const tried: string[] = [];
  for (const index of range(times)) {
    tried.push(...ids(await claim(storage, (index + 1) * LEASE, { holder: `h${index}`, ...changes })));
  }
  return tried;
}

const culprits: readonly StorageContractCase[] = [
  promise(
    "D2: only the suspect in hand counts another crash, and goes to the end of the line",
    async ({ storage }) => {
      await vanishWith(storage, 3);
      assert.deepEqual(await crashInTurn(storage, 5, { maxCrashes: 9 }), ["t0", "t1", "t2", "t0", "t1"]);
      const { tasks } = await storage.pending("i", 9);
      // The last one tried is still in hand.
      assert.deepEqual(
        tasks.map(({ crashes }) => crashes),
        [3, 2, 2],
      );
      assert.deepEqual(await storage.tasks({ order: "dead", limit: 9 }), []);
    },
  ),
  promise("D2: behind a line that takes an hour it is found all the same", async ({ storage }) => {
    await arm(storage, taskOf("poison"), ...range(3).map((index) => taskOf(`slow${index}`)));
    const options = { maxCrashes: 4 };
    assert.equal((await claim(storage, 0, options)).length, 4);
    // Alone in the first try of the line; the others are slow, so that each next try comes after the hour of all of them.
    assert.deepEqual(ids(await claim(storage, LEASE, options)), ["poison"]);
    let now = 2 * LEASE;
    for (const crashes of [2, 3]) {
      const slow = await claimOne(storage, now, options);
      assert.equal(slow.id, "slow0");
      assert.deepEqual(await storage.heartbeat({ holder: "h", tasks: [slow], now, leaseMs: HOUR_MS }), []);
      assert.deepEqual(await claim(storage, now + HOUR_MS - 2 * LEASE, options), []);
      now += HOUR_MS;
      await storage.release({ ...slow, dueAt: now });
      // The hour of all is over: it is handed out beside the others, and ends the process of all.
      const together = [...(await claim(storage, now, options)), ...(await claim(storage, now, options))];
      const poison = together.find(({ id }) => id === "poison");
      assert.equal(poison?.crashes, crashes);
      now += 2 * LEASE;
    }
    await claim(storage, now, options);
    assert.deepEqual(ids(await storage.tasks({ order: "dead", limit: 9 })), ["poison"]);
  }),
  promise("D2: a task that ends each of its holders is alone among the dead letters", async ({ storage }) => {
    await vanishWith(storage, 40);
    let now = LEASE;
    const killers = new Set(["t7"]);
    for (let suspect = (await claim(storage, now))[0]; suspect !== undefined;) {
      if (killers.has(suspect.id)) now += LEASE;
      else await end(storage, suspect);
      now += 1;
      suspect = (await claim(storage, now))[0];
    }
    assert.deepEqual(
      (await storage.tasks({ order: "dead", limit: 9 })).map(({ id, crashes }) => [id, crashes]),
      [["t7", 3]],
    );
    await put(storage, { retries: [{ task: "t7", dueAt: now }] });
    assert.deepEqual(await suspects(storage), [], "what is retried by command is under no suspicion");
    assert.deepEqual((await claimOne(storage, now)).crashes, 0);
  }),
  promise(
    "D2: what ends late in the hands of a vanished holder is done, also while it waits",
    async ({ storage }) => {
      await vanishWith(storage, 3);
      assert.equal((await claimOne(storage, LEASE)).id, "t0");
      const lost = { ok: false, conflict: "token" } as const;
      assert.deepEqual(await commit(storage, { consumes: { task: "t0", token: 1 } }), lost);
      assert.deepEqual(await commit(storage, { consumes: { task: "t1", token: 1 } }), ok);
      assert.equal(await storage.release({ id: "t2", token: 1, dueAt: LEASE, error: "late" }), true);
      assert.deepEqual(await suspects(storage), ["t0"]);
    },
  ),
  promise("D2: a suspect that fails is one no longer, one that is given back is", async ({ storage }) => {
    await vanishWith(storage, 1);
    const first = await claimOne(storage, LEASE);
    await storage.release({ id: "t0", token: first.token, dueAt: LEASE + 7 });
    assert.deepEqual(await suspects(storage), ["t0"]);
    assert.deepEqual(await claim(storage, LEASE + 6), []);
    const again = await claimOne(storage, LEASE + 7);
    assert.deepEqual([again.crashes, again.failures], [1, 0], "to be given back is no crash");
    await storage.release({ id: "t0", token: again.token, dueAt: LEASE + 8, error: "no route" });
    assert.deepEqual(await suspects(storage), []);
    assert.equal((await claimOne(storage, LEASE + 8)).failures, 1);
    const crashed = await claimOne(storage, 2 * LEASE + 8);
    assert.equal(crashed.crashes, 1, "a new row begins");
  }),
  promise("D2: an hour after its last crash a task is no suspect", async ({ storage }) => {
    await vanishWith(storage, 4);
    const held = await claimOne(storage, LEASE);
    const beat = { holder: "h", tasks: [held], now: LEASE, leaseMs: HOUR_MS };
    assert.deepEqual(await storage.heartbeat(beat), []);
    assert.deepEqual(await claim(storage, LEASE + HOUR_MS - 1), []);
    assert.deepEqual(await storage.heartbeat({ ...beat, now: 2 * LEASE }), []);
    assert.deepEqual(ids(await claim(storage, LEASE + HOUR_MS)), ["t1", "t2", "t3"]);
    assert.deepEqual(await suspects(storage), ["t0"]);
    await end(storage, held);
  }),
  promise("D2: a crash an hour after the one before begins a new row", async ({ storage }) => {
    await vanishWith(storage, 1);
    let now = LEASE;
    for (const leaseMs of [LEASE, HOUR_MS + LEASE, LEASE]) {
      await claimOne(storage, now, { leaseMs });
      now += leaseMs;
    }
    assert.deepEqual((await claimOne(storage, now)).crashes, 2, "of four crashes, two since the long run");
  }),
];

/** A heartbeat of the holder that was missed, for so many of its tasks; answers the ids of those it has lost. */
const beatLate = (storage: PaymentStorage, count: number, now: number): Promise<readonly string[]> =>
  storage.heartbeat({
    holder: "dead",
    tasks: range(count).map((index) => ({ id: `t${index}`, token: 1 })),
    now,
    leaseMs: LEASE,
  });

const late: readonly StorageContractCase[] = [
  promise("D2: a holder that was only late has back what no other has been given", async (on) => {
    const { storage, other } = on;
    await vanishWith(storage, 40);
    assert.equal((await claimOne(other, LEASE)).id, "t0");
    assert.deepEqual(await beatLate(storage, 40, LEASE + 1), ["t0"], "the one that is in other hands");
    assert.deepEqual(await suspects(storage), ["t0"]);
    const { tasks } = await storage.pending("i", 100);
    const [first, ...kept] = tasks.toSorted((a, b) => b.crashes - a.crashes);
    assert.deepEqual([first?.id, first?.crashes], ["t0", 1]);
    for (const { crashes, isHeld, visibleAt } of kept) {
      assert.deepEqual([crashes, isHeld, visibleAt], [0, true, 2 * LEASE + 1]);
    }
    await put(other, { consumes: { task: "t0", token: 2 } });
    assert.deepEqual(await claim(other, 2 * LEASE), [], "nothing waits in the line");
    assert.equal(await storage.nextDue([WORKFLOW]), 2 * LEASE + 1);
    assert.deepEqual(await beatLate(storage, 40, 2 * LEASE), ["t0"], "held like any other");
    await put(storage, { consumes: { task: "t1", token: 1 } });
    const again = await claimOne(other, 3 * LEASE);
    assert.deepEqual([again.id, again.crashes, again.token], ["t2", 1, 2], "when it vanishes after all");
  }),
  promise("D2: outage after outage makes no dead letter of what a living holder has", async ({ storage }) => {
    await vanishWith(storage, 2);
    for (const round of range(9)) {
      const now = (round + 1) * 2 * LEASE;
      // The first one gets t0, and as long as that is held, t1 waits in the line.
      assert.deepEqual(ids(await claim(storage, now, { leaseMs: 99 * LEASE })), round === 0 ? ["t0"] : []);
      assert.deepEqual(await suspects(storage), ["t0", "t1"]);
      assert.deepEqual(await beatLate(storage, 2, now + 1), ["t0"]);
    }
    const { tasks } = await storage.pending("i", 100);
    assert.deepEqual(
      tasks
        .filter(({ id }) => id === "t1")
        .map(({ crashes, isSuspect, isHeld }) => [crashes, isSuspect, isHeld]),
      [[0, false, true]],
    );
    assert.deepEqual(await storage.tasks({ order: "dead", limit: 9 }), []);
  }),
  promise("D2: a suspect that its holder has back loses one crash, and stays a suspect", async (on) => {
    const { storage, other } = on;
    await vanishWith(storage, 2);
    const options = { maxCrashes: 9 };
    const first = await claimOne(other, LEASE, { ...options, holder: "slow" });
    // Missed in its turn: it goes behind t1, with a second crash.
    assert.equal((await claimOne(storage, 2 * LEASE, options)).id, "t1");
    const beat = { holder: "slow", tasks: [first], now: 2 * LEASE + 1, leaseMs: LEASE };
    assert.deepEqual(await other.heartbeat(beat), []);
    const { tasks } = await storage.pending("i", 9);
    assert.deepEqual(
      tasks.map(({ id, crashes, isSuspect, isHeld }) => [id, crashes, isSuspect, isHeld]),
      [
        ["t0", 1, true, true],
        ["t1", 1, true, true],
      ],
    );
    assert.deepEqual(await claim(storage, 3 * LEASE, options), [], "while it is held no other is given");
    const again = await claimOne(storage, 3 * LEASE + 1, options);
    assert.deepEqual([again.id, again.crashes], ["t0", 2]);
  }),
  promise("D2: no heartbeat has back a dead letter, nor what was given back", async ({ storage }) => {
    await vanishWith(storage, 2);
    await storage.release({ id: "t1", token: 1, dueAt: LEASE + 9 });
    assert.deepEqual(await claim(storage, LEASE, { maxCrashes: 1 }), []);
    assert.deepEqual(await beatLate(storage, 2, LEASE + 1), ["t0", "t1"]);
    assert.deepEqual(ids(await storage.tasks({ order: "dead", limit: 9 })), ["t0"]);
    const given = await claimOne(storage, LEASE + 9);
    assert.deepEqual([given.id, given.crashes], ["t1", 0]);
  }),
  promise("D2, G6: what a late holder has back takes its slot of the lane again", async (on) => {
    const { storage, other } = on;
    await arm(storage, taskOf("first"), limitedTo("t1", "L", 1), limitedTo("new", "L", 1));
    assert.deepEqual(ids(await claim(storage, 0, { holder: "dead" })).toSorted(), ["first", "t1"]);
    assert.deepEqual(ids(await claim(other, LEASE, { limited: 1 })).toSorted(), ["first", "new"]);
    await put(other, { consumes: { task: "first", token: 2 } });
    assert.deepEqual(await beatLate(storage, 2, LEASE + 1), ["t0"]);
    await put(other, { consumes: { task: "new", token: 1 } });
    await arm(storage, limitedTo("newer", "L", 1));
    assert.deepEqual(await claim(other, LEASE + 2), [], "its key is full again");
    assert.equal(await storage.nextDue([WORKFLOW]), 2 * LEASE + 1);
    await put(storage, { consumes: { task: "t1", token: 1 } });
    assert.equal((await claimOne(other, LEASE + 2)).id, "newer");
  }),
  promise("D2: a heartbeat that comes after its task was given back adds no crash", async ({ storage }) => {
    await vanishWith(storage, 2);
    const { id, token } = await claimOne(storage, LEASE);
    await storage.release({ id, token, dueAt: LEASE + 5 });
    assert.equal((await claimOne(storage, LEASE)).id, "t1");
    assert.deepEqual(await claim(storage, LEASE + 5), [], "given back, it waits in the line again");
    const beat = { holder: "h", tasks: [{ id, token }], now: LEASE + 6, leaseMs: LEASE };
    assert.deepEqual(await storage.heartbeat(beat), []);
    const again = await claimOne(storage, 2 * LEASE + 6);
    assert.deepEqual([again.id, again.crashes], ["t0", 1], "one lease later, with as many crashes as before");
  }),
];

/** Tasks whose holder has vanished. */
export const suspectCases: readonly StorageContractCase[] = [...oneByOne, ...culprits, ...late];
