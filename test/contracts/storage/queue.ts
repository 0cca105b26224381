/** The storage contract on tasks without limits: G3, G4, G6. */
import assert from "node:assert/strict";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import type { QueueName } from "../../../storage/storage.ts";
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
  type PaymentCommit,
  put,
  range,
  startOf,
  taskOf,
  WORKFLOW,
} from "./samples.ts";

const lost = { ok: false, conflict: "token" } as const;

const claims: readonly StorageContractCase[] = [
  promise(
    "a claim gives due tasks as they were armed, earliest first, and no more than it asked for",
    async ({ storage, other }) => {
      const late = taskOf("late", {
        dueAt: 30,
        kind: "message",
        name: "GO",
        payload: `{ "ü" : 1 }`,
        instance: "x",
      });
      await arm(
        storage,
        late,
        taskOf("future", { dueAt: 31 }),
        taskOf("soon", { dueAt: 10 }),
        taskOf("next", { dueAt: 20 }),
      );
      assert.deepEqual(await claim(other, 30, { steps: 0, free: 0 }), []);
      assert.deepEqual(ids(await claim(other, 30, { steps: 0, free: 2 })), ["soon", "next"]);
      assert.deepEqual(await claim(other, 30), [{ ...late, token: 1, crashes: 0, failures: 0 }]);
      assert.deepEqual(await claim(other, 30), []);
    },
  ),
  promise("G6: tasks of unknown workflows are left alone and stand in nobody's way", async ({ storage }) => {
    await arm(storage, ...range(300).map((index) => taskOf(`u${index}`, { workflow: "unknown@7" })));
    await arm(storage, taskOf("known", { dueAt: 5 }));
    assert.equal((await claimOne(storage, 9, { free: 1 })).id, "known");
    assert.deepEqual(await claim(storage, 9, { workflows: [] }), []);
    assert.equal((await claim(storage, 9, { workflows: ["unknown@7"], free: 500 })).length, 300);
  }),
  promise(
    "G6, D4: timers and messages have hands of their own, which no effect or invocation takes",
    async ({ storage }) => {
      await arm(
        storage,
        ...range(50).map((index) => taskOf(`e${index}`)),
        taskOf("promise", { kind: "invocation" }),
        taskOf("timer", { kind: "timer", dueAt: 7 }),
        taskOf("message", { kind: "message", dueAt: 8 }),
        taskOf("later", { kind: "timer", dueAt: 99 }),
      );
      const nextOf = (...queues: readonly QueueName[]) => storage.nextDue([WORKFLOW], queues);
      assert.deepEqual([await nextOf("steps"), await nextOf("free"), await nextOf("limited")], [7, 0, null]);
      assert.deepEqual(ids(await claim(storage, 9, { steps: 1, free: 0, limited: 0 })), ["timer"]);
      assert.deepEqual(ids(await claim(storage, 9, { steps: 9, free: 2 })), ["e0", "e1", "message"]);
      assert.deepEqual(await claim(storage, 9, { free: 0 }), []);
      assert.equal(await nextOf("steps", "limited"), 99, "what waits for a place is left out");
      assert.equal(await nextOf(), null);
      assert.equal((await claim(storage, 9, { steps: 0 })).length, 49);
    },
  ),
  promise(
    "G4: a lease ends at its time, not before, and every claim's token is larger",
    async ({ storage, other }) => {
      await arm(storage, taskOf("t"));
      assert.equal((await claimOne(storage, 5)).token, 1);
      assert.deepEqual(await claim(other, 5 + LEASE - 1), []);
      const second = await claimOne(other, 5 + LEASE);
      assert.deepEqual([second.token, second.crashes, second.failures], [2, 1, 0]);
      assert.equal(await storage.release({ id: "t", token: 2, dueAt: 0 }), true);
      const third = await claimOne(storage, 5 + LEASE);
      assert.deepEqual([third.token, third.crashes, third.failures], [3, 1, 0]);
    },
  ),
  promise("G3: of twenty consumers one succeeds", async ({ storage, other }) => {
    await put(storage, { starts: [startOf("i")], arms: [{ task: taskOf("t") }] });
    await claimOne(storage, 0);
    const race = range(20).map((index) =>
      commit(either(index, storage, other), {
        consumes: { task: "t", token: 1 },
        writes: [{ table: "facts", insert: { id: `f${index}`, value: "" } }],
      }),
    );
    const results = await Promise.all(race);
    assert.equal(results.filter((result) => result.ok).length, 1);
    assert.ok(results.every((result) => result.ok || result.conflict === "token"));
    assert.equal((await storage.load("i"))?.version, 1, "consuming alone makes no version");
    assert.equal(await storage.nextDue([WORKFLOW]), null);
  }),
  promise("G3: a task is consumed only with the token of its latest claim", async ({ storage }) => {
    await arm(storage, taskOf("t"), taskOf("fresh", { dueAt: 1_000_000 }));
    const consume = (token: number, task = "t") => commit(storage, { consumes: { task, token } });
    await claimOne(storage, 0);
    await claimOne(storage, LEASE);
    assert.deepEqual(await consume(1), lost, "that of a former holder");
    assert.deepEqual(await consume(3), lost, "one of the future");
    assert.deepEqual(await consume(0, "fresh"), lost, "none at all");
    assert.deepEqual(await consume(1, "none"), lost, "an absent task");
    assert.deepEqual(await consume(2), ok, "late, but nobody else has it");
    assert.deepEqual(await consume(2), lost, "again");
  }),
  promise("a task armed under a lease belongs to its holder with token 1", async ({ storage, other }) => {
    const lease = { holder: "h", until: 100, leaseMs: 100 };
    await put(storage, {
      arms: [
        { task: taskOf("t"), lease },
        { task: taskOf("u"), lease },
        { task: taskOf("v"), lease },
      ],
    });
    assert.deepEqual(await claim(other, 99), []);
    assert.equal(await storage.nextDue([WORKFLOW]), 100);
    assert.deepEqual(await commit(storage, { consumes: { task: "t", token: 1 } }), ok);
    assert.deepEqual(
      (await storage.heartbeat({ holder: "h", tasks: [{ id: "v", token: 1 }], now: 90, leaseMs: 100 })).lost,
      [],
    );
    const claimed = await claimOne(other, 100);
    assert.deepEqual([claimed.id, claimed.token, claimed.crashes], ["u", 2, 1]);
    assert.deepEqual(await commit(storage, { consumes: { task: "u", token: 1 } }), lost);
  }),
];

const givingBack: readonly StorageContractCase[] = [
  promise(
    "a release without an error counts as nothing, one with an error as a failure",
    async ({ storage }) => {
      await arm(storage, taskOf("t"));
      await claimOne(storage, 0);
      assert.equal(await storage.release({ id: "t", token: 1, dueAt: 50 }), true);
      assert.deepEqual(await claim(storage, 49), []);
      const second = await claimOne(storage, 50);
      assert.deepEqual([second.dueAt, second.crashes, second.failures], [50, 0, 0]);
      assert.equal(await storage.release({ id: "t", token: 2, dueAt: 60, error: "no route 💸" }), true);
      const third = await claimOne(storage, 60);
      assert.deepEqual([third.token, third.crashes, third.failures], [3, 0, 1]);
    },
  ),
  promise(
    "D74: a release with a final error makes a dead letter, whose place is free, and an operator's retry begins anew",
    async ({ storage }) => {
      const limits = [{ key: "k", atMost: 1 }];
      await arm(storage, taskOf("t", { limits }), taskOf("next", { limits }));
      await claimOne(storage, 0, { limited: 1 });
      const failed = {
        id: "t",
        token: 1,
        dueAt: 7,
        delayMs: 0,
        error: "cannot be kept",
        isFinal: true,
      } as const;
      assert.equal(await storage.release(failed), true);
      const [letter, ...more] = await storage.tasks({ order: "dead", limit: 9 });
      assert.deepEqual(more, []);
      const shown = { id: "t", deadAt: 7, failures: 1, crashes: 0, lastError: "cannot be kept" };
      assert.deepEqual({ ...letter, ...shown }, letter);
      assert.deepEqual(await storage.tasks({ order: "failing", least: 1, limit: 9 }), []);
      assert.equal((await claimOne(storage, 7, { limited: 9 })).id, "next");
      await put(storage, { consumes: { task: "next", token: 1 }, retries: [{ task: "t", dueAt: 8 }] });
      const again = await claimOne(storage, 8, { limited: 9 });
      assert.deepEqual([again.id, again.token, again.failures], ["t", 2, 0]);
    },
  ),
  promise("a heartbeat extends what is held and names what is lost", async ({ storage, other }) => {
    await arm(storage, ...["held", "consumed", "released", "taken", "ended"].map((id) => taskOf(id)));
    await claim(storage, 0);
    await put(storage, { consumes: { task: "consumed", token: 1 } });
    await storage.release({ id: "released", token: 1, dueAt: 1_000_000 });
    const beat = (now: number, names: readonly string[]) =>
      storage
        .heartbeat({ holder: "h", tasks: names.map((id) => ({ id, token: 1 })), now, leaseMs: LEASE })
        .then((answer) => answer.lost);
    assert.deepEqual(await beat(LEASE - 1, ["held", "consumed", "released", "none"]), [
      "consumed",
      "released",
      "none",
    ]);
    assert.deepEqual(
      await beat(LEASE, ["ended"]),
      [],
      "an ended lease that no claim came upon is still held",
    );
    assert.deepEqual(ids(await claim(other, LEASE, { free: 1, holder: "other" })), ["taken"]);
    assert.deepEqual(await beat(LEASE, ["taken", "ended"]), ["taken"]);
    await put(other, { consumes: { task: "taken", token: 2 } });
    assert.deepEqual(await claim(other, 2 * LEASE - 2), []);
    assert.deepEqual(ids(await claim(other, 2 * LEASE - 1)), ["held"]);
    assert.deepEqual(await beat(LEASE, []), []);
  }),
  promise("disarming takes an instance's timer of that name and nothing else", async ({ storage }) => {
    const timer = (id: string, instance: string, name: string) =>
      taskOf(id, { kind: "timer", instance, name });
    await arm(storage, timer("gone", "i", "t"), timer("named", "i", "u"), timer("others", "j", "t"));
    await arm(storage, taskOf("effect", { name: "t" }), taskOf("message", { kind: "message", name: "t" }));
    await put(storage, {
      disarms: [
        { instance: "i", timer: "t" },
        { instance: "i", timer: "absent" },
      ],
    });
    assert.deepEqual(ids(await claim(storage, 0)).toSorted(), ["effect", "message", "named", "others"]);
  }),
  promise("a timer that fired while it was disarmed is refused by its token", async ({ storage, other }) => {
    await arm(storage, taskOf("t", { kind: "timer", name: "t" }));
    await claimOne(other, 0);
    await put(storage, { disarms: [{ instance: "i", timer: "t" }] });
    assert.deepEqual(await commit(other, { consumes: { task: "t", token: 1 } }), lost);
    assert.deepEqual(
      (await other.heartbeat({ holder: "h", tasks: [{ id: "t", token: 1 }], now: 0, leaseMs: LEASE })).lost,
      ["t"],
    );
  }),
];

/** Claims what is due of two queues, each task for a holder of its own: done a third time it makes dead letters of them. */
async function claimApart(storage: PaymentStorage, now: number, count: number): Promise<void> {
  for (const index of range(2 * count)) {
    const places = index % 2 === 0 ? { free: 1, limited: 0 } : { free: 0, limited: 1 };
    await claim(storage, now, { ...places, maxCrashes: 1, holder: `${now} ${index}` });
  }
}

const poison: readonly StorageContractCase[] = [
  promise(
    "G6: a task whose holders vanish is set aside after the last permitted time",
    async ({ storage }) => {
      await arm(storage, taskOf("poison"));
      for (const crashes of [0, 1, 2, 3]) {
        assert.equal((await claimOne(storage, crashes * LEASE)).crashes, crashes);
      }
      assert.deepEqual(await storage.tasks({ order: "dead", limit: 9 }), []);
      assert.deepEqual(await claim(storage, 4 * LEASE), []);
      const dead = { ...taskOf("poison"), crashes: 4, failures: 0, lastError: null, deadAt: 4 * LEASE };
      const [letter] = await storage.tasks({ order: "dead", limit: 9 });
      assert.deepEqual({ ...letter, ...dead }, letter);
      assert.deepEqual(await claim(storage, 99 * LEASE), []);
      assert.equal(await storage.nextDue([WORKFLOW]), null);
    },
  ),
  promise("timers and messages of a workflow are listed as they become due", async ({ storage }) => {
    const timer = { kind: "timer" } as const;
    await arm(storage, taskOf("late", { ...timer, dueAt: 9 }), taskOf("soon", { ...timer, dueAt: 3 }));
    await arm(storage, taskOf("work", { kind: "effect", dueAt: 1 }));
    await arm(storage, taskOf("told", { kind: "message", dueAt: 5 }));
    const { workflow } = taskOf("any");
    const shown = await storage.tasks({ order: "due", workflow, limit: 9 });
    assert.deepEqual(
      shown.map(({ id, dueAt, isHeld }) => [id, dueAt, isHeld]),
      [
        ["soon", 3, false],
        ["told", 5, false],
        ["late", 9, false],
      ],
    );
    assert.deepEqual(ids(await storage.tasks({ order: "due", workflow, limit: 1 })), ["soon"]);
    assert.deepEqual(await storage.tasks({ order: "due", workflow: "another@1", limit: 9 }), []);
  }),
  promise(
    "R32, R40: failing tasks are listed by how long they fail, with what they said last, and not as dead",
    async ({ storage }) => {
      await arm(storage, taskOf("a", { dueAt: 5 }), taskOf("b", { dueAt: 3 }), taskOf("c", { dueAt: 4 }));
      /** Claims everything and gives it back, one of them with an error and for later. */
      const failOnce = async (id: string, error: string): Promise<void> => {
        for (const each of await claim(storage, 10)) {
          const failed = each.id === id ? { error, dueAt: 10 } : {};
          await storage.release({ id: each.id, token: each.token, dueAt: each.dueAt, ...failed });
        }
      };
      for (const time of [1, 2, 3]) await failOnce("a", `no ${time}`);
      for (const time of [1, 2]) await failOnce("b", `no ${time}`);
      const shown = (await storage.tasks({ order: "failing", least: 2, limit: 9 })).map(
        ({ id, failures, lastError, failingSince }) => [id, failures, lastError, failingSince],
      );
      assert.deepEqual(shown, [
        ["b", 2, "no 2", 3],
        ["a", 3, "no 3", 5],
      ]);
      assert.deepEqual(ids(await storage.tasks({ order: "failing", least: 2, limit: 1 })), ["b"]);
      assert.deepEqual(ids(await storage.tasks({ order: "failing", least: 3, limit: 9 })), ["a"]);
      for (const death of range(3)) await claimApart(storage, 10 + death * LEASE, 3);
      assert.deepEqual(await storage.tasks({ order: "failing", least: 1, limit: 9 }), []);
      assert.equal((await storage.tasks({ order: "dead", limit: 9 })).length, 3);
    },
  ),
  promise(
    "a dead letter that is retried begins afresh, one that is dropped is gone",
    async ({ storage, other }) => {
      await arm(storage, taskOf("p"), limitedTo("q", "L", 1), taskOf("r"));
      for (const death of range(3)) await claimApart(storage, death * LEASE, 3);
      assert.equal((await storage.tasks({ order: "dead", limit: 9 })).length, 3);
      assert.equal(await storage.nextDue([WORKFLOW]), null);
      const retries = ["p", "q"].map((task) => ({ task, dueAt: 5 * LEASE }));
      const fact = { table: "facts" as const, insert: { id: "f", value: "" } };
      assert.deepEqual(await commit(other, { retries, drops: ["r"], writes: [fact] }), ok);
      assert.equal(await storage.fact("f"), "", "in the same commit");
      assert.deepEqual(await storage.tasks({ order: "dead", limit: 9 }), []);
      assert.equal(await storage.nextDue([WORKFLOW]), 5 * LEASE);
      assert.deepEqual(await claim(storage, 5 * LEASE - 1), []);
      const claimed = await claim(storage, 5 * LEASE, { maxCrashes: 1 });
      assert.deepEqual(
        claimed
          .toSorted((a, b) => (a.id < b.id ? -1 : 1))
          .map(({ id, token, crashes, failures }) => [id, token, crashes, failures]),
        [
          ["p", 3, 0, 0],
          ["q", 3, 0, 0],
        ],
      );
    },
  ),
  promise(
    "a failing task that is retried is due at once, and its failures still count",
    async ({ storage }) => {
      await arm(storage, taskOf("t"));
      await claimOne(storage, 0);
      await storage.release({ id: "t", token: 1, dueAt: 1_000_000, error: "no" });
      await put(storage, { retries: [{ task: "t", dueAt: 7 }] });
      const again = await claimOne(storage, 7);
      assert.deepEqual([again.token, again.failures], [2, 1]);
    },
  ),
  promise(
    "R39: what is in hand, has not failed or is gone is neither retried nor dropped",
    async ({ storage }) => {
      await arm(storage, taskOf("held", { kind: "message" }), taskOf("fresh", { dueAt: 1_000_000 }));
      const { id, token } = await claimOne(storage, 0);
      await storage.release({ id, token, dueAt: 0, error: "no" });
      await claimOne(storage, 0);
      const refusedAs = async (item: PaymentCommit): Promise<void> => {
        const writes = [{ table: "facts" as const, insert: { id: "f", value: "" } }];
        assert.deepEqual(await commit(storage, { ...item, writes }), lost);
      };
      for (const task of ["held", "fresh", "none"]) {
        await refusedAs({ retries: [{ task, dueAt: 0 }] });
        await refusedAs({ drops: [task] });
      }
      assert.equal(await storage.fact("f"), null);
      assert.deepEqual(await claim(storage, 0), []);
    },
  ),
  promise(
    "D83: of what fails, an effect is dropped where its instance has ended, and a message anywhere",
    async ({ storage }) => {
      await put(storage, { starts: [startOf("active"), startOf("ended", { status: "done" })] });
      await arm(
        storage,
        taskOf("effect of ended", { instance: "ended" }),
        taskOf("effect of active", { instance: "active" }),
        taskOf("message", { instance: "active", kind: "message" }),
        taskOf("promise", { instance: "active", kind: "invocation" }),
      );
      const claimed = await claim(storage, 0);
      for (const { id, token } of claimed) await storage.release({ id, token, dueAt: 9, error: "no" });
      for (const task of ["effect of active", "promise"]) {
        assert.deepEqual(await commit(storage, { drops: [task] }), lost);
      }
      await put(storage, { drops: ["effect of ended", "message"] });
      assert.deepEqual(ids(await claim(storage, 9)).toSorted(), ["effect of active", "promise"]);
    },
  ),
  promise(
    "the earliest tasks are told of every workflow, known or not, with limits or without",
    async ({ storage }) => {
      assert.deepEqual(await storage.tasks({ order: "workflow" }), []);
      await arm(
        storage,
        taskOf("a", { dueAt: 9 }),
        taskOf("b", { dueAt: 7, workflow: "unknown@7" }),
        limitedTo("c", "L", 2, { dueAt: 3, workflow: "limited@1" }),
        limitedTo("d", "L", 2, { dueAt: 5 }),
      );
      const first = await storage.tasks({ order: "workflow" });
      assert.deepEqual(
        first.map(({ id, workflow, visibleAt }) => [id, workflow, visibleAt]),
        [
          ["c", "limited@1", 3],
          ["d", WORKFLOW, 5],
          ["b", "unknown@7", 7],
        ],
      );
    },
  ),
  promise("listening for wake-ups can be ended, and no wake-up is promised", async ({ storage }) => {
    storage.onWake(() => {})();
    await arm(storage, taskOf("t"));
  }),
];

/** Tasks: claimed under leases and tokens, given back, consumed once, set aside. */
export const queueCases: readonly StorageContractCase[] = [...claims, ...givingBack, ...poison];
