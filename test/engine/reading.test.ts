/** Failures in the open: what can be read of instances while they run, wait, fail and end. */
import { expect, it } from "vitest";
import { fromPromise, setup } from "xstate";
import { StateNotReached, workflow, type InstanceList, type InstanceQuery } from "paystate/engine";
import { instanceReads } from "../../src/engine/reading/reads.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { turns } from "../kit/engine-world.ts";
import { job } from "./job.ts";
import { engineTest } from "../kit/engine-test.ts";

const MINUTE = 60_000;

const clerk = setup({ types: { events: {} as { type: "HANG_UP" } } }).createMachine({
  id: "clerk",
  initial: "waiting",
  states: { waiting: { on: { HANG_UP: "over" } }, over: { type: "final" } },
});

/** A chart that waits in every way there is: for a promise, a child, a timer and a watch. */
const checkout = setup({
  types: {
    context: {} as { card: string; at: Date },
    input: {} as { card: string },
    events: {} as { type: "CASH" } | { type: "ROUND" } | { type: "LEAVE" },
    output: {} as { paid: bigint },
  },
  actors: { charge: fromPromise<void, string>(() => Promise.reject(new Error("the bank is closed"))), clerk },
}).createMachine({
  id: "checkout",
  context: ({ input }) => ({ card: input.card, at: new Date(5) }),
  initial: "paying",
  states: {
    paying: {
      meta: { watches: ["bank"] },
      invoke: [
        { id: "charging", src: "charge", input: ({ context }) => context.card },
        { id: "talk", src: "clerk" },
      ],
      initial: "card",
      states: {
        card: { after: { 600_000: "cash" }, on: { CASH: "cash" } },
        cash: { on: { ROUND: "round" } },
        round: { always: "card" },
      },
      on: { LEAVE: "left" },
    },
    left: { type: "final" },
  },
  output: { paid: 10n },
});

const checkouts = workflow(checkout)({ version: 3, watches: { bank: ({ card }) => `card-${card}` } });
const watchers = { bank: { intervalMs: MINUTE, poll: async () => [] } };

it("a rare state among very many is found in calls that each look at 1,000 instances", async () => {
  const storage = await sqliteStorage(":memory:");
  const looked: number[] = [];
  const { list } = instanceReads({
    ...storage,
    async list(listing) {
      const found = await storage.list(listing);
      if (listing.order === "id") looked.push(found.length);
      return found;
    },
  });
  const rare = new Set(["i0007", "i1500", "i2499"]);
  const starts = Array.from({ length: 2_500 }, (_, index) => {
    const id = `i${String(index).padStart(4, "0")}`;
    const snapshot = JSON.stringify({
      value: rare.has(id) ? "rare" : "usual",
      context: {},
      status: "active",
    });
    return {
      id,
      stamp: "s",
      parent: null,
      workflow: "w@1",
      hash: "h",
      status: "active" as const,
      snapshot,
      createdAt: 1,
    };
  });
  await storage.commit([{ starts }]);
  const found: string[] = [];
  let after: string | null = null;
  do {
    looked.length = 0;
    const page: InstanceList = await list({ state: "rare", limit: 2, ...(after === null ? {} : { after }) });
    expect(looked.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(1_000);
    found.push(...page.instances.map(({ id }) => id));
    after = page.next;
  } while (after !== null);
  expect(found).toEqual([...rare]);
});

const { test, engine, running, clock, pass, awaitsOutside } = engineTest("reading");

test("pending tells why an instance waits: the failing promise and its error, the timer, the watch, the child", async () => {
  awaitsOutside("c/talk");
  const began = clock.now();
  const { start, pending } = await running({ workflows: [checkouts], watchers });
  await start(checkouts, { id: "c", input: { card: "7" } });
  await pass(MINUTE);
  const { timers, tasks, watches, children } = await pending("c");
  expect(timers).toEqual([
    expect.objectContaining({ kind: "timer", dueAt: began + 600_000, failures: 0, lastError: null }),
  ]);
  expect(tasks).toEqual([
    expect.objectContaining({ kind: "invocation", name: "invoke.charging", isHeld: false }),
  ]);
  expect(tasks[0]?.failures).toBeGreaterThan(1);
  expect(tasks[0]?.lastError).toContain("the bank is closed");
  expect(tasks[0]?.visibleAt).toBeGreaterThan(clock.now());
  expect(watches).toEqual([expect.objectContaining({ kind: "bank", key: "card-7" })]);
  expect(children).toEqual([
    { id: "charging", src: "charge", instance: null, status: null },
    { id: "talk", src: "clerk", instance: "c/talk", status: "active" },
  ]);
  expect(await pending("none")).toEqual({ timers: [], tasks: [], watches: [], children: [] });
});

test("history gives each step with its event and the value after it, in pages", async () => {
  awaitsOutside("c/talk");
  const { start, send, history } = await engine({ workflows: [checkouts], watchers });
  const began = clock.now();
  await start(checkouts, { id: "c", input: { card: "7" } });
  await send(checkouts, "c", { type: "CASH" });
  await send(checkouts, "c", { type: "LEAVE" });
  const steps = await history("c");
  expect(steps.map(({ version, event, value }) => [version, event.type, value])).toEqual([
    [1, "$started", { paying: "card" }],
    [2, "CASH", { paying: "cash" }],
    [3, "LEAVE", "left"],
  ]);
  expect(steps[0]).toMatchObject({ at: began, event: { input: { card: "7" } } });
  expect(await history("c", { after: 1, limit: 1 })).toEqual(steps.slice(1, 2));
  expect(await history("none")).toEqual([]);
  await expect(history("c", { limit: 0 })).rejects.toThrow("limit 0: expected a whole number from 1 to 1000");
});

test("list pages over workflow, state, status and what fails, each instance once, those of unknown charts too", async () => {
  const jobs = job(async ({ id }) => {
    if (id === "j2") throw new Error("no paper");
    return id;
  });
  const first = await engine({ workflows: [checkouts, jobs], watchers });
  for (const id of ["c1", "c2", "c3"]) {
    awaitsOutside(`${id}/talk`);
    await first.start(checkouts, { id, input: { card: id } });
  }
  for (const id of ["j1", "j2"]) await first.start(jobs, { id, input: { id } });
  await first.send(checkouts, "c2", { type: "CASH" });
  await first.send(checkouts, "c3", { type: "LEAVE" });
  const worker = await running(jobs);
  await worker.settled();

  const { list } = await engine({ workflows: [] });
  const ids = async (query: InstanceQuery = {}): Promise<string[]> => {
    const found: string[] = [];
    let after: string | null = null;
    do {
      const page: InstanceList = await list({ ...query, ...(after === null ? {} : { after }) });
      expect(page.instances.length).toBeLessThanOrEqual(query.limit ?? 100);
      found.push(...page.instances.map(({ id }) => id));
      after = page.next;
    } while (after !== null);
    return found;
  };
  const everything = ["c1/talk", "c2/talk", "c3/talk", "c1", "c2", "j2", "c3", "j1"];
  for (const limit of [1, 2, 3, 8, 100]) expect(await ids({ limit }), String(limit)).toEqual(everything);
  expect(await ids({ workflow: "checkout" })).toEqual(["c1", "c2", "c3"]);
  expect(await ids({ workflow: "checkout@3", status: "active" })).toEqual(["c1", "c2"]);
  expect(await ids({ workflow: "checkout@4" })).toEqual([]);
  expect(await ids({ workflow: "check" })).toEqual([]);
  expect(await ids({ status: "done" })).toEqual(["c3", "j1"]);
  expect(await ids({ status: "stopped" })).toEqual([]);
  expect(await ids({ state: "paying" })).toEqual(["c1", "c2"]);
  expect(await ids({ state: "paying.cash", limit: 1 })).toEqual(["c2"]);
  expect(await ids({ state: "cash" })).toEqual([]);
  expect(await ids({ failing: true, limit: 1 })).toEqual(["j2"]);
  expect(await ids({ failing: true, status: "done" })).toEqual([]);
  expect(await ids({ failing: true, workflow: "checkout" })).toEqual([]);
  await expect(list({ after: "c1" })).rejects.toThrow("list: after: expected the `next` of a page");
  await expect(list({ limit: 1_001 })).rejects.toThrow("limit 1001: expected a whole number from 1 to 1000");
});

test("D75: it sees a state that another process made and left between two looks, and resolves with what is there now", async () => {
  const { waitFor } = await engine({ workflows: [], pollMs: 500 });
  const other = await engine({ workflows: [checkouts], watchers });
  // One is there before the wait begins, the other is started behind it.
  await other.start(checkouts, { id: "old", input: { card: "7" } });
  const waits = ["old", "new"].map((id) =>
    waitFor(checkouts, id, { state: "paying.cash" }, { mustExist: false }),
  );
  await turns(50);
  await other.start(checkouts, { id: "new", input: { card: "7" } });
  for (const id of ["old", "new"]) {
    await other.send(checkouts, id, { type: "CASH" });
    await other.send(checkouts, id, { type: "ROUND" });
  }
  await turns(50);
  clock.advance(500);
  for (const passed of await Promise.all(waits)) {
    expect(passed).toMatchObject({ value: { paying: "card" }, context: { card: "7" } });
  }
  // A state from before the wait does not count.
  const never = waitFor(checkouts, "old", { state: "paying.cash" }).catch((error: unknown) => error);
  await turns(50);
  await other.send(checkouts, "old", { type: "LEAVE" });
  await turns(50);
  clock.advance(500);
  expect(await never).toBeInstanceOf(StateNotReached);
  await other.send(checkouts, "new", { type: "LEAVE" });
});

test("D63: an instance that does not exist, or is removed meanwhile, is told of by the first look that misses it", async () => {
  const clerks = workflow(clerk)({ version: 1 });
  const { start, waitFor } = await engine({ workflows: [clerks], pollMs: 500 });
  await expect(waitFor(clerks, "typo", "final")).rejects.toThrow(
    new TypeError(
      "waitFor: there is no instance typo: start it first, or wait for its start with { mustExist: false }",
    ),
  );
  await start(clerks, { id: "c", input: undefined });
  const over = waitFor(clerks, "c", { state: "over" }).catch(String);
  await turns(50);
  const other = await engine(clerks);
  await other.stopInstance("c");
  expect(await other.removeInstance("c")).toBe("removed");
  clock.advance(500);
  expect(await over).toContain("there is no instance c");
});
