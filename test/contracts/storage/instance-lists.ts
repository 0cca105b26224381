/** The storage contract on lists of instances, on what one waits for, and on removing one that has ended. */
import assert from "node:assert/strict";
import { promise, type StorageContractCase } from "./contract.ts";
import {
  arm,
  claimOne,
  commit,
  endHolders,
  ids,
  LEASE,
  ok,
  put,
  range,
  stampOf,
  startOf,
  stepOf,
  taskOf,
  WORKFLOW,
} from "./samples.ts";
import { instanceWorkflows } from "../../../src/engine/kernel/troubles.ts";

const refused = { ok: false, conflict: "step" } as const;

/** More than anything here has. */
const ALL = 100;

const lists: readonly StorageContractCase[] = [
  promise(
    "instances come by workflow and status, ascending by the bytes of their ids, page by page",
    async ({ storage, other }) => {
      const samples = ["b", "a", "ﬀ", "😀", "a/child", "B"];
      await put(storage, { starts: samples.map((id) => startOf(id)) });
      await put(storage, {
        starts: [startOf("c", { status: "done" }), startOf("d", { workflow: "other@1" })],
      });
      const page = (after: string, limit: number, status: "active" | "done" = "active") =>
        other.list({ order: "id", workflow: WORKFLOW, status, after, limit });
      assert.deepEqual(ids(await page("", ALL)), ["B", "a", "a/child", "b", "ﬀ", "😀"]);
      assert.deepEqual(ids(await page("a", 2)), ["a/child", "b"]);
      assert.deepEqual(ids(await page("aa", 1)), ["b"]);
      assert.deepEqual(ids(await page("😀", ALL)), []);
      assert.deepEqual(ids(await page("", ALL, "done")), ["c"]);
      assert.deepEqual(await page("", 1, "done"), [await storage.load("c")]);
      assert.deepEqual(
        await other.list({ order: "id", workflow: "sample", status: "active", after: "", limit: ALL }),
        [],
      );
    },
  ),
  promise(
    "D58: a limit that is no whole number is refused by each list, by its name",
    async ({ storage }) => {
      for (const limit of [-1, 1.5, 2 ** 53]) {
        const reads: readonly (readonly [string, () => Promise<unknown>])[] = [
          ["list", () => storage.list({ order: "newest", after: null, limit })],
          ["history", () => storage.history("i", { after: 0, limit })],
          ["tasks", () => storage.tasks({ order: "instance", instance: "i", limit })],
          ["tasks", () => storage.tasks({ order: "dead", limit })],
          ["tasks", () => storage.tasks({ order: "failing", least: 1, limit })],
          ["tasks", () => storage.tasks({ order: "due", workflow: WORKFLOW, limit })],
          ["tasks", () => storage.tasks({ order: "parked", key: "k", limit })],
        ];
        for (const [name, read] of reads) {
          const expected = `${name}: limit ${limit}: expected a whole number from 0`;
          await assert.rejects(read(), new TypeError(expected));
        }
      }
    },
  ),
  promise(
    "an instance that ends leaves the active ones and stands among the done in that commit",
    async ({ storage }) => {
      await put(storage, { starts: [startOf("i")] });
      await put(storage, { step: stepOf("i", 1, { status: "done", workflow: "sample@2" }) });
      const found = async (workflow: string, status: "active" | "done") =>
        ids(await storage.list({ order: "id", workflow, status, after: "", limit: ALL }));
      assert.deepEqual(await found(WORKFLOW, "active"), []);
      assert.deepEqual(await found(WORKFLOW, "done"), []);
      assert.deepEqual(await found("sample@2", "done"), ["i"]);
    },
  ),
  promise("each workflow with an instance is named once, ascending", async ({ storage, other }) => {
    assert.deepEqual(await instanceWorkflows(other), []);
    await put(storage, {
      starts: range(9).map((index) => startOf(`i${index}`, { workflow: `w${index % 3}@1` })),
    });
    assert.deepEqual(await instanceWorkflows(other), ["w0@1", "w1@1", "w2@1"]);
  }),
];

const waits: readonly StorageContractCase[] = [
  promise(
    "what an instance waits for: its tasks with their failures, and no others'",
    async ({ storage, other }) => {
      await arm(
        storage,
        taskOf("z", { name: "b", kind: "invocation", dueAt: 500, limits: [{ key: "L", atMost: 2 }] }),
        taskOf("y", { name: "a", dueAt: 5 }),
        taskOf("x", { name: "a", dueAt: 900 }),
        taskOf("w", { instance: "other" }),
      );
      const fresh = {
        crashes: 0,
        isSuspect: false,
        failures: 0,
        lastError: null,
        isHeld: false,
        isParked: false,
        failingSince: null,
        deadAt: null,
      };
      const tasks = await other.tasks({ order: "instance", instance: "i", limit: ALL });
      assert.deepEqual(tasks, [
        { ...taskOf("y", { name: "a", dueAt: 5 }), ...fresh, visibleAt: 5 },
        { ...taskOf("x", { name: "a", dueAt: 900 }), ...fresh, visibleAt: 900 },
        {
          ...taskOf("z", { name: "b", kind: "invocation", dueAt: 500, limits: [{ key: "L", atMost: 2 }] }),
          ...fresh,
          visibleAt: 500,
        },
      ]);
      assert.deepEqual(ids(await other.tasks({ order: "instance", instance: "i", limit: 1 })), ["y"]);
      assert.deepEqual(
        ids(await other.tasks({ order: "instance", instance: "i", limit: ALL, except: "invocation" })),
        ["y", "x"],
      );
      assert.deepEqual(
        ids(await other.tasks({ order: "instance", instance: "i", limit: 2, except: "effect" })),
        ["z"],
      );
      assert.deepEqual(await other.tasks({ order: "instance", instance: "none", limit: ALL }), []);
    },
  ),
  promise(
    "a pending task tells of its lease, its failures, its last error, and that it is a dead letter",
    async ({ storage, other }) => {
      await arm(storage, taskOf("t"));
      const pending = async () => (await other.tasks({ order: "instance", instance: "i", limit: ALL }))[0];
      const first = await claimOne(storage, 5);
      const isHeld = { isHeld: true, visibleAt: 5 + LEASE, failures: 0, crashes: 0 };
      assert.deepEqual({ ...(await pending()), ...isHeld }, await pending());
      await storage.release({ id: "t", token: first.token, dueAt: 50, error: "no answer" });
      const failed = {
        isHeld: false,
        visibleAt: 50,
        dueAt: 50,
        failures: 1,
        lastError: "no answer",
        deadAt: null,
      };
      assert.deepEqual({ ...(await pending()), ...failed }, await pending());
      assert.deepEqual(await endHolders(storage, 9_000), []);
      const dead = { isHeld: false, deadAt: 9_000, crashes: 2, failures: 1, lastError: "no answer" };
      assert.deepEqual({ ...(await pending()), ...dead }, await pending());
    },
  ),
];

const ended = (id: string) => ({ id, life: stampOf(1) });

const removals: readonly StorageContractCase[] = [
  promise("an ended instance goes with its history, and its id is free again", async ({ storage, other }) => {
    const row = (instance: string) => ({
      instance,
      version: 1,
      stamp: "s",
      at: 1,
      event: "{}",
      value: `"done"`,
      cause: null,
    });
    await put(storage, {
      starts: [startOf("i", { status: "done" }), startOf("j", { status: "done" })],
      history: [row("i"), row("j")],
    });
    assert.deepEqual(await commit(storage, { removes: [ended("i")] }), ok);
    assert.equal(await other.load("i"), null);
    assert.deepEqual(await other.history("i", { after: 0, limit: ALL }), []);
    assert.equal((await other.history("j", { after: 0, limit: ALL })).length, 1);
    assert.deepEqual(await commit(other, { starts: [startOf("i")], history: [row("i")] }), ok);
  }),
  promise(
    "no instance goes that is absent, active, or has a task left; nor does its commit",
    async ({ storage }) => {
      await put(storage, {
        starts: [startOf("active"), ...["tasked", "free"].map((id) => startOf(id, { status: "done" }))],
      });
      await arm(storage, taskOf("t", { instance: "tasked", dueAt: 9_000 }));
      for (const id of ["none", "active", "tasked"]) {
        assert.deepEqual(
          await commit(storage, { removes: [ended("free"), ended(id)], starts: [startOf("new")] }),
          refused,
          id,
        );
        assert.equal(await storage.load("new"), null);
        assert.notEqual(await storage.load("free"), null);
      }
      assert.deepEqual(await commit(storage, { removes: [ended("free"), ended("free")] }), refused);
    },
  ),
];

export const instanceListCases: readonly StorageContractCase[] = [...lists, ...waits, ...removals];
