/** The storage contract on tasks whose instance is started, or moves to another version of its chart. */
import assert from "node:assert/strict";
import { promise, type StorageContractCase } from "./contract.ts";
import {
  arm,
  claim,
  claimOne,
  commit,
  ids,
  limitedTo,
  LEASE,
  put,
  startOf,
  stepOf,
  taskOf,
} from "./samples.ts";

const message = { kind: "message", workflow: "sample" } as const;

/** Tasks that belong to versions and instances. */
export const adoptionCases: readonly StorageContractCase[] = [
  promise(
    "D9: a message belongs to the workflow of its target, whatever it names, also in the commit that starts it",
    async ({ storage, other }) => {
      await put(storage, { starts: [startOf("i", { workflow: "sample@2" })] });
      await arm(other, taskOf("later", message));
      const start = startOf("j", { workflow: "sample@3" });
      await put(storage, {
        starts: [start],
        arms: [{ task: taskOf("same", { ...message, instance: "j" }) }],
      });
      assert.deepEqual(await claim(storage, 0, { workflows: ["sample", "sample@1"] }), []);
      assert.deepEqual(ids(await claim(storage, 0, { workflows: ["sample@2", "sample@3"] })), [
        "later",
        "same",
      ]);
    },
  ),
  promise(
    "D9: a message to nobody yet waits under the name it gives, and is adopted when its target is started",
    async ({ storage, other }) => {
      await arm(storage, taskOf("m", message));
      assert.equal(await storage.nextDue(["sample"]), 0);
      const adopts = [{ instance: "i", workflow: "sample@2" }];
      await put(other, { starts: [startOf("i", { workflow: "sample@2" })], adopts });
      assert.deepEqual(await claim(storage, 0, { workflows: ["sample"] }), []);
      assert.equal((await claimOne(storage, 0, { workflows: ["sample@2"] })).workflow, "sample@2");
    },
  ),
  promise(
    "D9: all tasks of an instance move with it, also those in hand, and none of another's",
    async ({ storage, other }) => {
      await put(storage, { starts: [startOf("i"), startOf("j")] });
      await arm(
        storage,
        taskOf("held"),
        taskOf("timer", { kind: "timer", dueAt: 5 }),
        limitedTo("limited", "L", 1, { dueAt: 5 }),
        taskOf("other", { instance: "j", dueAt: 5 }),
      );
      const held = await claimOne(storage, 0);
      const adopts = [{ instance: "i", workflow: "sample@2" }];
      await put(other, { step: stepOf("i", 1, { workflow: "sample@2" }), adopts });
      assert.deepEqual(ids(await claim(storage, 5)), ["other"]);
      assert.deepEqual(ids(await claim(storage, 5, { workflows: ["sample@2"] })), ["timer", "limited"]);
      assert.deepEqual(
        (await storage.heartbeat({ holder: "h", tasks: [held], now: 5, leaseMs: LEASE })).lost,
        [],
      );
      assert.deepEqual(await commit(storage, { consumes: { task: "held", token: 1 } }), { ok: true });
      const first = await storage.tasks({ order: "workflow" });
      assert.deepEqual(
        first.map(({ workflow, visibleAt }) => [workflow, visibleAt]),
        [
          ["sample@1", 5 + LEASE],
          ["sample@2", 5 + LEASE],
        ],
      );
    },
  ),
  promise("a limit holds over tasks of both versions", async ({ storage }) => {
    await put(storage, { starts: [startOf("i")] });
    await arm(storage, limitedTo("a", "L", 1), limitedTo("b", "L", 1, { instance: "j" }));
    await put(storage, { adopts: [{ instance: "i", workflow: "sample@2" }] });
    const workflows = ["sample@1", "sample@2"];
    assert.deepEqual(ids(await claim(storage, 0, { workflows })), ["a"]);
    assert.equal(await storage.nextDue(workflows), LEASE);
    await put(storage, { consumes: { task: "a", token: 1 } });
    assert.deepEqual(ids(await claim(storage, 0, { workflows })), ["b"]);
  }),
  promise("a refused commit moves nothing", async ({ storage }) => {
    await put(storage, { starts: [startOf("i")] });
    await arm(storage, taskOf("t"));
    const refused = await commit(storage, {
      step: stepOf("i", 7, { workflow: "sample@2" }),
      adopts: [{ instance: "i", workflow: "sample@2" }],
      amends: [{ task: "t", name: "other", payload: "1", dueAt: 0 }],
    });
    assert.deepEqual(refused, { ok: false, conflict: "step" });
    const { workflow, name, token } = await claimOne(storage, 0);
    assert.deepEqual({ workflow, name, token }, { workflow: "sample@1", name: "work", token: 1 });
  }),
  promise(
    "a task that is amended keeps its id and its counts, is due again, and is lost to its holder",
    async ({ storage, other }) => {
      await arm(storage, taskOf("t"), limitedTo("l", "L", 1));
      await claim(storage, 0);
      await storage.release({ id: "t", token: 1, dueAt: 1_000_000, error: "no" });
      const amends = ["t", "l", "absent"].map((task) => ({ task, name: "new", payload: "[1]", dueAt: 3 }));
      await put(other, { amends });
      assert.deepEqual(await claim(storage, 2), []);
      assert.deepEqual(
        (await storage.heartbeat({ holder: "h", tasks: [{ id: "l", token: 1 }], now: 3, leaseMs: 9 })).lost,
        ["l"],
      );
      assert.deepEqual(await commit(storage, { consumes: { task: "l", token: 1 } }), {
        ok: false,
        conflict: "token",
      });
      const found = await claim(storage, 3);
      assert.deepEqual(
        found.map(({ id, name, payload, crashes, failures }) => [id, name, payload, crashes, failures]),
        [
          ["t", "new", "[1]", 0, 1],
          ["l", "new", "[1]", 0, 0],
        ],
      );
    },
  ),
];
