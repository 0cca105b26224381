/** The storage contract on limits by key: rooms that hold (G10), are given on in order, and starve nobody (G6). */
import assert from "node:assert/strict";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import type { ClaimedTask, Limit, TaskRecord } from "../../../storage/storage.ts";
import { promise, type StorageContractCase } from "./contract.ts";
import {
  arm,
  claim,
  claimOne,
  commit,
  either,
  endHolders,
  ids,
  LEASE,
  limitedTo,
  ok,
  put,
  range,
  stampOf,
  startOf,
  stepOf,
  taskOf,
  WORKFLOW,
} from "./samples.ts";

const HALF_A_MINUTE = 30_000;

const backlog = (key: string, atMost: number, count: number) =>
  range(count).map((index) => limitedTo(`${key}${index}`, key, atMost));

/** A task of a webhook of an account. */
const within = (id: string, account: Limit, webhook: Limit, changes: Partial<TaskRecord> = {}): TaskRecord =>
  taskOf(id, { limits: [account, webhook], ...changes });

const end = (storage: PaymentStorage, { id, token }: Pick<ClaimedTask, "id" | "token">): Promise<void> =>
  put(storage, { consumes: { task: id, token } });

async function parked(storage: PaymentStorage): Promise<string[]> {
  const tasks = await storage.tasks({ order: "instance", instance: "i", limit: 1_000 });
  return ids(tasks.filter(({ isParked }) => isParked)).toSorted();
}

const rooms: readonly StorageContractCase[] = [
  promise(
    "G10: a key has no more tasks than its limit, those armed first, however many wait",
    async ({ storage, other }) => {
      await arm(storage, ...backlog("a", 2, 50));
      assert.equal((await parked(storage)).length, 48);
      const claimed = await claim(storage, 100);
      assert.deepEqual(ids(claimed), ["a0", "a1"]);
      assert.deepEqual(claimed[0]?.limits, [{ key: "a", atMost: 2 }]);
      assert.deepEqual(await claim(other, 100), []);
      assert.equal(await storage.nextDue([WORKFLOW]), 100 + LEASE, "what is parked is not told as due");
    },
  ),
  promise("a commit tells whether what was parked can be claimed since", async ({ storage }) => {
    await arm(storage, ...backlog("a", 1, 2), taskOf("free"));
    const claimed = await claim(storage, 100);
    const answerTo = async (id: string) => {
      const { token = 0 } = claimed.find((task) => task.id === id) ?? {};
      return storage.commit([{ consumes: { task: id, token } }]);
    };
    assert.deepEqual(await answerTo("free"), [ok]);
    assert.deepEqual(await answerTo("a0"), [{ ok: true, admits: true }]);
    const last = await claimOne(storage, 200);
    assert.equal(last.id, "a1");
    assert.deepEqual(await storage.commit([{ consumes: { task: "a1", token: last.token } }]), [ok]);
  }),
  promise(
    "G10: room is given on in order when a task is consumed, disarmed, given back or lost by its holder",
    async ({ storage }) => {
      const promised = limitedTo("promise", "a", 1, { kind: "invocation", name: "invoke.p" });
      await arm(storage, promised, ...backlog("a", 1, 4));
      assert.equal((await claimOne(storage, 10)).id, "promise");
      await put(storage, { disarms: [{ instance: "i", timer: "invoke.p" }] });
      assert.equal((await claimOne(storage, 10)).id, "a0");
      await put(storage, { consumes: { task: "a0", token: 1 } });
      assert.equal((await claimOne(storage, 10)).id, "a1");
      assert.equal(await storage.release({ id: "a1", token: 1, dueAt: 1_000_000 }), true);
      assert.equal((await claimOne(storage, 10)).id, "a2");
      assert.deepEqual(await claim(storage, 10 + LEASE - 1), []);
      assert.equal((await claimOne(storage, 10 + LEASE)).id, "a2", "lost once it begins again at once");
      assert.equal((await claimOne(storage, 10 + 2 * LEASE)).id, "a3", "a2 is in the line of suspects");
      assert.deepEqual(await claim(storage, 10 + 2 * LEASE), [], "and waits there for room");
      await put(storage, { consumes: { task: "a3", token: 1 } });
      assert.equal((await claimOne(storage, 10 + 2 * LEASE)).id, "a2");
    },
  ),
  promise(
    "a task in its pause has no room, and asks for it again ahead of what was armed later",
    async ({ storage }) => {
      await arm(storage, ...backlog("a", 1, 3));
      await claimOne(storage, 0);
      await storage.release({ id: "a0", token: 1, dueAt: 50, error: "no route" });
      assert.equal((await claimOne(storage, 10)).id, "a1");
      assert.equal(await storage.nextDue([WORKFLOW], ["limited"]), 50);
      assert.deepEqual(await claim(storage, 50), [], "a1 has the room");
      assert.equal(await storage.nextDue([WORKFLOW], ["limited"]), 10 + LEASE, "a0 is parked");
      await end(storage, { id: "a1", token: 1 });
      assert.equal((await claimOne(storage, 60)).id, "a0");
    },
  ),
  promise(
    "F5: a task that is given back with its room waits with it, so none passes it; a suspect waits in its line",
    async ({ storage, other }) => {
      await arm(storage, ...backlog("a", 1, 2));
      await claimOne(storage, 0);
      assert.equal(await storage.release({ id: "a0", token: 1, dueAt: 50, keepsRoom: true }), true);
      assert.deepEqual(await claim(other, 49), []);
      assert.equal(await storage.nextDue([WORKFLOW], ["limited"]), 50);
      assert.equal((await claimOne(other, 50, { holder: "dead" })).failures, 0);
      assert.equal((await claimOne(other, 50 + LEASE, { holder: "dead too" })).id, "a0");
      assert.equal((await claimOne(storage, 50 + 2 * LEASE)).id, "a1");
      await end(storage, { id: "a1", token: 1 });
      const { token } = await claimOne(storage, 50 + 2 * LEASE);
      await arm(storage, limitedTo("b", "a", 1));
      await storage.release({ id: "a0", token, dueAt: 60 + 2 * LEASE, keepsRoom: true });
      assert.equal((await claimOne(storage, 60 + 2 * LEASE)).id, "b", "the suspect has no room");
    },
  ),
  promise(
    "an effect with limits is armed without its lease behind another of its key, as it is told",
    async ({ storage }) => {
      const lease = { holder: "h", until: 100, leaseMs: 100 };
      const arms = ["b", "c"].map((id) => ({ task: limitedTo(id, "a", 1), lease }));
      assert.deepEqual(await commit(storage, { arms }), { ok: true, parked: ["c"] });
      assert.deepEqual(await claim(storage, 50), []);
      const later = { consumes: { task: "b", token: 1 }, arms: [{ task: limitedTo("d", "a", 2), lease }] };
      assert.deepEqual(await commit(storage, later), { ok: true, parked: ["d"] });
      assert.deepEqual(ids(await claim(storage, 50)), ["c", "d"]);
    },
  ),
];

const paths: readonly StorageContractCase[] = [
  promise(
    "of two limits the second lies within the first: both hold, and what has room goes before what has none",
    async ({ storage }) => {
      const account = { key: "account", atMost: 3 };
      const one = { key: "one", atMost: 2 };
      const two = { key: "two", atMost: 2 };
      await arm(storage, ...range(4).map((index) => within(`one${index}`, account, one)));
      await arm(storage, ...range(4).map((index) => within(`two${index}`, account, two)));
      assert.deepEqual(ids(await claim(storage, 10)), ["one0", "one1", "two0"]);
      await end(storage, { id: "two0", token: 1 });
      assert.equal((await claimOne(storage, 10)).id, "two1", "the webhook armed first is full");
      await end(storage, { id: "one0", token: 1 });
      assert.equal((await claimOne(storage, 10)).id, "one2");
    },
  ),
  promise(
    "a second key is counted beneath its first, so two accounts may use one name",
    async ({ storage }) => {
      const webhook = { key: "webhook", atMost: 1 };
      const tasks = ["a", "b", "a", "b"].map((account, index) =>
        within(`${account}${index}`, { key: account, atMost: 9 }, webhook),
      );
      await arm(storage, ...tasks);
      assert.deepEqual(ids(await claim(storage, 10)), ["a0", "b1"]);
    },
  ),
  promise("G6: full keys with long queues starve neither other keys nor tasks without limits", async (on) => {
    const { storage } = on;
    for (const key of range(40)) await arm(storage, ...backlog(`full${key}-`, 1, 5));
    assert.equal((await claim(storage, 10)).length, 40);
    await arm(storage, limitedTo("other", "free", 1), taskOf("none"));
    assert.deepEqual(ids(await claim(storage, 10, { free: 1, limited: 1 })).toSorted(), ["none", "other"]);
  }),
  promise(
    "the budgets for tasks with and without limits are separate, earliest first in each",
    async (on) => {
      const { storage } = on;
      await arm(storage, ...backlog("a", 9, 3), limitedTo("b", "b", 9, { dueAt: 1 }));
      await arm(storage, taskOf("f1", { dueAt: 8 }), taskOf("f2", { dueAt: 9 }));
      assert.deepEqual(ids(await claim(storage, 10, { free: 0, limited: 1 })), ["a0"]);
      assert.deepEqual(ids(await claim(storage, 10, { free: 1, limited: 0 })), ["f1"]);
      assert.deepEqual(ids(await claim(storage, 10, { free: 0, limited: 3 })).toSorted(), ["a1", "a2", "b"]);
    },
  ),
  promise("a limit is a whole number from 1 of a key, and not of a timer", async ({ storage }) => {
    for (const atMost of [0, -1, 1.5, NaN, Infinity, 2 ** 53]) {
      await assert.rejects(arm(storage, limitedTo("a0", "a", atMost)), `at most ${atMost}`);
    }
    await assert.rejects(arm(storage, limitedTo("a0", "", 1)), "a key without a name");
    const twice = { key: "a", atMost: 1 };
    await assert.rejects(arm(storage, within("a0", twice, twice)), "one key twice");
    await assert.rejects(arm(storage, limitedTo("a0", "a", 1, { kind: "timer" })), "a timer");
    await arm(storage, ...backlog("a", 2, 3));
    assert.equal((await claim(storage, 10)).length, 2, "what was refused has changed nothing");
  }),
];

const troubles: readonly StorageContractCase[] = [
  promise("G6: a dead letter has no room, and asks for it when it is retried", async ({ storage }) => {
    await arm(storage, ...backlog("a", 1, 2));
    assert.deepEqual(ids(await endHolders(storage, 2 * LEASE)), ["a1"]);
    assert.deepEqual(ids(await storage.tasks({ order: "dead", limit: 9 })), ["a0"]);
    await put(storage, { retries: [{ task: "a0", dueAt: 2 * LEASE + 2 }] });
    assert.deepEqual(await claim(storage, 2 * LEASE + 2), []);
    await end(storage, { id: "a1", token: 1 });
    assert.equal((await claimOne(storage, 2 * LEASE + 3)).id, "a0");
  }),
  promise(
    "D2, R41: a late holder takes its task back, though its room was given on, and no key has more than its limit",
    async ({ storage }) => {
      await arm(storage, ...backlog("a", 1, 3));
      await claimOne(storage, 0, { holder: "dead" });
      await claimOne(storage, LEASE, { holder: "late" });
      assert.equal((await claimOne(storage, 2 * LEASE)).id, "a1");
      const beat = { holder: "late", tasks: [{ id: "a0", token: 2 }], now: 2 * LEASE + 1, leaseMs: LEASE };
      assert.deepEqual((await storage.heartbeat(beat)).lost, []);
      await end(storage, { id: "a1", token: 1 });
      assert.deepEqual(await claim(storage, 2 * LEASE + 2), [], "a0 has the room again");
      await end(storage, { id: "a0", token: 2 });
      assert.equal((await claimOne(storage, 2 * LEASE + 2)).id, "a2");
    },
  ),
  promise(
    "G6: what nobody claims for half a minute, since none knows its workflow, gives its room up for a while",
    async ({ storage }) => {
      await arm(
        storage,
        ...range(2).map((index) => limitedTo(`new${index}`, "a", 2, { workflow: "sample@2" })),
      );
      await arm(storage, ...backlog("a", 2, 2));
      assert.deepEqual(await claim(storage, HALF_A_MINUTE - 1), []);
      assert.deepEqual(ids(await claim(storage, HALF_A_MINUTE)), ["a0", "a1"]);
      const newer = { workflows: ["sample@2"] };
      assert.deepEqual(await claim(storage, HALF_A_MINUTE, newer), []);
      await end(storage, { id: "a0", token: 1 });
      assert.equal((await claimOne(storage, 2 * HALF_A_MINUTE, newer)).id, "new0", "then it asks again");
    },
  ),
  promise(
    "a task whose holder vanished waits in its line until the second of its limits has room, too",
    async (on) => {
      const { storage } = on;
      const [account, webhook] = [
        { key: "account", atMost: 9 },
        { key: "webhook", atMost: 1 },
      ];
      await arm(storage, within("a0", account, webhook), within("a1", account, webhook));
      await claimOne(storage, 0);
      await claimOne(storage, LEASE);
      assert.equal((await claimOne(storage, 2 * LEASE)).id, "a1");
      assert.deepEqual(await claim(storage, 2 * LEASE), [], "a0 would be the second of its webhook");
      await end(storage, { id: "a1", token: 1 });
      assert.equal((await claimOne(storage, 2 * LEASE)).id, "a0");
    },
  ),
  promise("an amended task is taken from its holder and asks for its room again", async ({ storage }) => {
    await arm(storage, ...backlog("a", 1, 2));
    await claimOne(storage, 0);
    await put(storage, { amends: [{ task: "a0", name: "other", payload: "{}", dueAt: 20 }] });
    assert.equal((await claimOne(storage, 10)).id, "a1");
    await end(storage, { id: "a1", token: 1 });
    assert.deepEqual([(await claimOne(storage, 20)).name], ["other"]);
  }),
];

const message = (id: string, changes: Partial<TaskRecord> = {}): TaskRecord =>
  limitedTo(id, "message to i", 1, { kind: "message", name: "GO", ...changes });

const inOrder: readonly StorageContractCase[] = [
  promise(
    "D15: messages to one instance are handed out one at a time, in the order of their arming",
    async (on) => {
      const { storage, other } = on;
      await arm(storage, ...range(3).map((index) => message(`m${index}`, { dueAt: 9 - index })));
      for (const id of ["m0", "m1", "m2"]) {
        const task = await claimOne(other, 10);
        assert.equal(task.id, id);
        assert.deepEqual(await claim(storage, 10), [], "the others wait");
        await end(storage, task);
      }
    },
  ),
  promise(
    "D15: a message that fails, or whose holder vanishes, is passed by none",
    async ({ storage, other }) => {
      await arm(storage, message("m0"), message("m1"));
      await claimOne(storage, 0);
      await storage.release({ id: "m0", token: 1, dueAt: 50, error: "not yet" });
      assert.deepEqual(await claim(other, 49), []);
      assert.equal(await storage.nextDue([WORKFLOW], ["steps"]), 50);
      assert.equal((await claimOne(other, 50, { holder: "dead" })).id, "m0");
      for (const death of [1, 2]) {
        const passed = "the suspect, and not what waits behind it";
        assert.equal((await claimOne(storage, 50 + death * LEASE)).id, "m0", passed);
      }
      await end(storage, { id: "m0", token: 4 });
      assert.equal((await claimOne(storage, 60 + 2 * LEASE)).id, "m1");
    },
  ),
  promise(
    "D15: a dead letter, or a failing message that is dropped, lets the rest go on",
    async ({ storage }) => {
      await arm(storage, message("m0"), message("m1"), message("m2"));
      assert.deepEqual(ids(await endHolders(storage, 2 * LEASE)), ["m1"]);
      await storage.release({ id: "m1", token: 1, dueAt: 9 * LEASE, error: "no" });
      await put(storage, { retries: [{ task: "m0", dueAt: 2 * LEASE }], drops: ["m1"] });
      assert.equal((await claimOne(storage, 2 * LEASE + 1)).id, "m0", "armed before the others");
      await end(storage, { id: "m0", token: 3 });
      assert.equal((await claimOne(storage, 2 * LEASE + 1)).id, "m2");
    },
  ),
  promise(
    "D15: a message is armed under a lease only where no other is still to be done",
    async ({ storage }) => {
      const lease = { holder: "h", until: 100, leaseMs: 100 };
      const arms = ["m0", "m1"].map((id) => ({ task: message(id), lease }));
      assert.deepEqual(await commit(storage, { arms }), { ok: true, parked: ["m1"] });
      assert.deepEqual(await claim(storage, 50), [], "m0 is in hand");
      const later = { consumes: { task: "m0", token: 1 }, arms: [{ task: message("m2"), lease }] };
      assert.deepEqual(await commit(storage, later), { ok: true, parked: ["m2"] });
      assert.deepEqual(await claimOne(storage, 60), { ...message("m1"), token: 1, crashes: 0, failures: 0 });
      await end(storage, { id: "m1", token: 1 });
      await end(storage, await claimOne(storage, 60));
      assert.deepEqual(await commit(storage, { arms: [{ task: message("m3"), lease }] }), ok);
    },
  ),
];

const runs: readonly StorageContractCase[] = [
  promise(
    "D18: messages that wait behind one are listed as they were armed, and can be ended with it",
    async ({ storage, other }) => {
      await arm(storage, ...range(5).map((index) => message(`m${index}`, { name: `N${9 - index}` })));
      const task = await claimOne(storage, 0);
      const listing = { order: "parked", key: "message to i", limit: 9 } as const;
      assert.deepEqual(ids(await other.tasks(listing)), ["m1", "m2", "m3", "m4"]);
      assert.deepEqual(ids(await other.tasks({ ...listing, limit: 2 })), ["m1", "m2"]);
      assert.deepEqual(await other.tasks({ ...listing, key: "message to j" }), []);
      await put(storage, { consumes: { task: task.id, token: task.token }, behind: ["m1", "m2"] });
      const next = await claimOne(other, 0);
      assert.equal(next.id, "m3");
      const refused = { ok: false, conflict: "token" };
      const consumes = { task: next.id, token: next.token };
      for (const behind of [["m1"], ["m3"], ["m4", "none"]]) {
        assert.deepEqual(await commit(storage, { consumes, behind }), refused);
      }
      assert.deepEqual(await commit(storage, { behind: ["m4"] }), refused, "behind none");
      assert.deepEqual(ids(await other.tasks(listing)), ["m4"], "a refused commit ends none");
      await put(storage, { consumes, behind: ["m4"] });
      assert.deepEqual(await claim(storage, 0), []);
    },
  ),
  promise(
    "D18: of two commits that end one message behind another, one is carried out",
    async ({ storage, other }) => {
      await arm(storage, message("m0"), message("m1"));
      await arm(
        storage,
        limitedTo("x0", "x", 1, { kind: "message" }),
        limitedTo("x1", "x", 1, { kind: "message" }),
      );
      const [m0, x0] = await claim(storage, 0);
      const consumed = (task: ClaimedTask | undefined) => ({ task: task?.id ?? "", token: task?.token ?? 0 });
      assert.deepEqual(
        await commit(other, { consumes: consumed(x0), behind: ["m1"] }),
        { ok: false, conflict: "token" },
        "of another key",
      );
      const both = await Promise.all(
        [storage, other].map((each) => commit(each, { consumes: consumed(m0), behind: ["m1"] })),
      );
      assert.equal(both.filter((result) => result.ok).length, 1);
    },
  ),
  promise("D18: a step may stand for several, each with its row of history", async ({ storage }) => {
    await put(storage, { starts: [startOf("i")] });
    const row = { instance: "i", at: 2, event: "{}", value: `"on"`, cause: null };
    const history = [2, 3].map((version) => ({ ...row, version, stamp: stampOf(version) }));
    await put(storage, { step: stepOf("i", 1, { stamp: stampOf(3), steps: 2 }), history });
    assert.equal((await storage.load("i"))?.version, 3);
    await put(storage, { step: stepOf("i", 3) });
    assert.equal((await storage.load("i"))?.version, 4);
  }),
];

const races: readonly StorageContractCase[] = [
  promise("G10: of many claims at once no key gives more than its limit", async ({ storage, other }) => {
    await arm(storage, ...backlog("a", 3, 20), ...backlog("b", 5, 20));
    const race = range(20).map((index) =>
      claim(either(index, storage, other), 100, { holder: `h${index}`, limited: 2 }),
    );
    const claimed = ids((await Promise.all(race)).flat());
    assert.equal(claimed.filter((id) => id.startsWith("a")).length, 3);
    assert.equal(claimed.filter((id) => id.startsWith("b")).length, 5);
  }),
  promise(
    "G10: of many commits at once none admits more than a key has room for",
    async ({ storage, other }) => {
      const arming = range(30).map((index) =>
        arm(
          either(index, storage, other),
          within(`t${index}`, { key: "a", atMost: 4 }, { key: `w${index % 3}`, atMost: 2 }),
        ),
      );
      await Promise.all(arming);
      assert.equal((await parked(storage)).length, 26);
      assert.equal((await claim(storage, 10)).length, 4);
    },
  ),
];

/** Limits by key: rooms that hold and are given on in order, on every adapter. */
export const limitCases: readonly StorageContractCase[] = [
  ...rooms,
  ...paths,
  ...troubles,
  ...inOrder,
  ...runs,
  ...races,
];
