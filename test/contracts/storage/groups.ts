/** The storage contract on groups of lanes: each finds places, whatever the others hold (G6). */
import assert from "node:assert/strict";
import type { TaskRecord } from "../../../storage/storage.ts";
import { promise, type StorageContractCase } from "./contract.ts";
import { arm, claim, ids, inGroup, inLane, LEASE, put, range, taskOf, WORKFLOW } from "./samples.ts";

/** As many lanes of a group with four tasks each, one after the other from `dueAt` on. */
const lanesOf = (group: string, count: number, dueAt = 0): TaskRecord[] =>
  range(count * 4).map((index) => {
    const key = `${group}${index % count}`;
    return inGroup(`${group}-${index}`, { key, group }, { dueAt: dueAt + index });
  });

/** How many tasks of each group there are. */
const counts = (tasks: readonly TaskRecord[]): Record<string, number> => {
  const found: Record<string, number> = {};
  for (const { lane } of tasks) found[lane?.group ?? ""] = (found[lane?.group ?? ""] ?? 0) + 1;
  return found;
};

const held = (groups: Readonly<Record<string, number>>) =>
  Object.entries(groups).map(([group, count]) => ({ group, count }));

/** Groups of lanes: each finds places. */
export const groupCases: readonly StorageContractCase[] = [
  promise("a group holds half as many places as it leaves free, and no more", async ({ storage }) => {
    await arm(storage, ...lanesOf("a", 50));
    const claimed = await claim(storage, 1_000, { laned: 64 });
    assert.deepEqual(
      ids(claimed),
      range(22).map((index) => `a-${index}`),
    );
    assert.deepEqual(claimed[0]?.lane, { key: "a0", cap: 4, group: "a" });
    const groups = held({ a: 22 });
    assert.deepEqual(await claim(storage, 1_000, { laned: 44, groups }), []);
    assert.equal((await claim(storage, 1_000, { laned: 45, groups })).length, 1);
  }),
  promise("G6: a group that comes new finds a place beside groups that came before", async ({ storage }) => {
    for (const group of ["a", "b", "c"]) await arm(storage, ...lanesOf(group, 10));
    const first = await claim(storage, 1_000, { laned: 64 });
    assert.deepEqual(counts(first), { a: 13, b: 13, c: 13 });
    await arm(storage, inGroup("late", { key: "d0", group: "d" }, { dueAt: 999 }));
    const groups = held({ a: 13, b: 13, c: 13 });
    assert.deepEqual(ids(await claim(storage, 1_000, { laned: 25, groups })), ["late"]);
  }),
  promise(
    "the group that holds the fewest places comes first, though its tasks are younger",
    async ({ storage }) => {
      await arm(storage, ...lanesOf("a", 2), ...lanesOf("b", 2, 500));
      const groups = held({ a: 2, b: 0 });
      assert.deepEqual(ids(await claim(storage, 1_000, { laned: 4, groups })), ["b-0", "b-1"]);
      const both = held({ a: 2, b: 2 });
      assert.deepEqual(ids(await claim(storage, 1_000, { laned: 5, groups: both })), ["a-0"]);
    },
  ),
  promise("a lane has the group it was last armed with, and so has what waits in it", async ({ storage }) => {
    await arm(storage, inLane("first", "l", 4));
    await arm(storage, inGroup("later", { key: "l", group: "a" }));
    const groups = held({ a: 9 });
    // As in a release that gives lanes a group: what is due must be given, or else not be told of.
    assert.equal(await storage.nextDue([WORKFLOW], ["laned"], ["a"]), null);
    assert.deepEqual(await claim(storage, 1_000, { laned: 9, groups }), []);
    const claimed = await claim(storage, 1_000, { laned: 9 });
    assert.deepEqual(
      claimed.map(({ id, lane }) => [id, lane?.group]),
      [
        ["first", "a"],
        ["later", "a"],
      ],
    );
    await arm(storage, inLane("last", "l", 4));
    assert.equal(await storage.nextDue([WORKFLOW], ["laned"], ["a"]), 0);
    assert.deepEqual(ids(await claim(storage, 1_000, { laned: 9, groups })), ["last"]);
  }),
  promise("lanes without a group take any place that is free", async ({ storage }) => {
    await arm(storage, ...range(9).map((index) => inLane(`l${index}`, "l", 9, { dueAt: index })));
    await arm(storage, ...lanesOf("a", 3, 100));
    assert.deepEqual(counts(await claim(storage, 1_000, { laned: 12 })), { "": 9, a: 1 });
  }),
  promise("G6: hundreds of lanes of full groups hide no lane of another group", async ({ storage }) => {
    for (const group of ["a", "b"]) {
      const lanes = range(100).map((index) =>
        inGroup(`${group}-${index}`, { key: `${group}${index}`, group }),
      );
      await arm(storage, ...lanes);
    }
    const groups = held({ a: 9, b: 9 });
    assert.deepEqual(await claim(storage, 9_000, { laned: 3, groups }), []);
    assert.equal(await storage.nextDue([WORKFLOW], ["laned"], ["a", "b"]), null);
    assert.equal(await storage.nextDue([WORKFLOW], ["laned"], ["a"]), 0);
    const late = inGroup("c", { key: "c", group: "c" }, { dueAt: 5_000 });
    await arm(storage, late, inLane("none", "none", 1, { dueAt: 6_000 }));
    assert.equal(await storage.nextDue([WORKFLOW], ["laned"], ["a", "b"]), 5_000);
    assert.equal(await storage.nextDue([WORKFLOW], ["laned"], ["a", "b", "c"]), 6_000);
    assert.deepEqual(ids(await claim(storage, 9_000, { laned: 3, groups })), ["c", "none"]);
  }),
  promise("each group has its turn where there are more of them than places", async ({ storage }) => {
    const groups = range(150).map((index) => `g${index}`);
    await arm(storage, ...groups.flatMap((group, index) => lanesOf(group, 1, index * 10)));
    const claimed = await claim(storage, 9_000, { laned: 10 });
    assert.deepEqual(
      ids(claimed),
      range(10).map((index) => `g${index}-0`),
    );
  }),
  promise("places that other holders give a group take none of mine", async ({ storage, other }) => {
    await arm(storage, ...lanesOf("a", 30));
    const both = [
      await claim(storage, 1_000, { holder: "one", laned: 16 }),
      await claim(other, 1_000, { holder: "two", laned: 16 }),
    ];
    assert.deepEqual(
      both.map((claimed) => claimed.length),
      [6, 6],
    );
    assert.equal(new Set(both.flatMap(ids)).size, 12);
  }),
  promise("a task keeps its group when it is given back, dies and is retried", async ({ storage }) => {
    await arm(storage, inGroup("t", { key: "k", group: "g" }));
    await claim(storage, 0, { maxCrashes: 1 });
    assert.deepEqual(await claim(storage, LEASE, { maxCrashes: 1 }), []);
    const [dead] = await storage.deadLetters(9);
    assert.deepEqual(dead?.lane, { key: "k", cap: 4, group: "g" });
    await put(storage, { retries: [{ task: "t", dueAt: LEASE }] });
    assert.equal(await storage.nextDue([WORKFLOW], ["laned"], ["g"]), null);
    const groups = held({ g: 2 });
    assert.deepEqual(await claim(storage, LEASE, { laned: 4, groups }), []);
    assert.deepEqual(ids(await claim(storage, LEASE, { laned: 5, groups })), ["t"]);
  }),
  promise("a lane of several workflows takes the turn of one lane of its group", async ({ storage }) => {
    const workflows = [WORKFLOW, "sample@2", "sample@3"];
    const shared = { key: "shared", cap: 1, group: "a" };
    await arm(storage, ...workflows.map((workflow) => taskOf(workflow, { lane: shared, workflow })));
    await arm(storage, inGroup("other", { key: "other", group: "a" }, { dueAt: 500 }));
    // Six places give the group two.
    assert.deepEqual(ids(await claim(storage, 1_000, { laned: 6, workflows })), [WORKFLOW, "other"]);
  }),
  promise("a group without a name is refused", async ({ storage }) => {
    await assert.rejects(arm(storage, inGroup("t", { key: "k", group: "" })));
  }),
];
