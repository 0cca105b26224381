/** How tasks went that did not simply succeed is kept with their end; what succeeded at once leaves nothing. */
import { describe, expect, test } from "vitest";
import { setup } from "xstate";
import { createEngine, workflow } from "../../src/engine/index.ts";
import { ranTasks, ranTasksOf } from "../../src/engine/kernel/ran-tasks.ts";
import { silentLogger } from "../../src/runtime.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { virtualClock, type VirtualClock } from "../kit/virtual-clock.ts";
import { taskIdAt } from "../kit/task-ids.ts";

const machine = setup({
  types: { events: {} as { type: "SENT" } },
  actions: { post: () => {} },
}).createMachine({
  id: "letter",
  initial: "posting",
  states: { posting: { entry: "post", on: { SENT: "sent" } }, sent: { type: "final" } },
});

type Post = (clock: VirtualClock, failures: number) => Promise<void>;

const posted = async (post: Post, seconds: number) => {
  const clock = virtualClock();
  const storage = await sqliteStorage(":memory:");
  const letters = workflow(machine)({
    version: 1,
    effects: {
      post: async (_params, { failures }) => {
        await post(clock, failures);
        return { event: { type: "SENT" as const } };
      },
    },
  });
  const engine = createEngine({ storage, workflows: [letters], clock, logger: silentLogger });
  engine.run();
  await engine.start(letters, { id: "l1", input: undefined });
  for (let second = 0; second < seconds; second++) {
    await engine.settled();
    clock.advance(1_000);
  }
  await engine.settled();
  return { engine, storage };
};

test("an effect that succeeded at once leaves no row", async () => {
  const { engine, storage } = await posted(async () => {}, 0);
  expect((await engine.read("l1"))?.status).toBe("done");
  expect(await storage.find({ table: ranTasks })).toEqual([]);
  await engine.stop();
});

describe("an effect that failed before it succeeded", () => {
  const twice: Post = async (_clock, failures) => {
    if (failures < 2) throw new Error("the box is full, Bearer abcdef0123456789abcdef0123456789");
  };

  test("leaves one row with its attempts and its last error, without the secret", async () => {
    const { engine, storage } = await posted(twice, 5);
    expect((await engine.read("l1"))?.status).toBe("done");
    const rows = await ranTasksOf(storage, "l1");
    expect(rows).toMatchObject([
      { task: await taskIdAt(storage, "l1"), name: "post", failures: 2, crashes: 0 },
    ]);
    expect(rows[0]?.error).toContain("the box is full");
    expect(JSON.stringify(rows)).not.toContain("abcdef0123456789");
    await engine.stop();
  });

  test("its row goes with the instance that is removed, and is no one else's", async () => {
    const { engine, storage } = await posted(twice, 5);
    expect(await ranTasksOf(storage, "l")).toEqual([]);
    expect(await ranTasksOf(storage, "l1:1")).toEqual([]);
    expect(await engine.removeInstance("l1")).toBe("removed");
    expect(await storage.find({ table: ranTasks })).toEqual([]);
    await engine.stop();
  });
});

test("all rows of an instance go with it, however many its tasks have left", async () => {
  const { engine, storage } = await posted(async () => {}, 0);
  const rest = { name: "post", beganAt: 1, tookMs: 1_000, failures: 0, crashes: 0, error: null };
  const rowsOf = (instance: string, count: number) =>
    Array.from({ length: count }, (_, index) => ({
      table: ranTasks.name,
      insert: { id: `${instance}:${index + 1}:0@1`, ...rest },
    }));
  // Those of `l1:x` lie between those of `l1` and what follows.
  await storage.commit([{ writes: [...rowsOf("l1", 450), ...rowsOf("l1:x", 3)] }]);
  expect(await ranTasksOf(storage, "l1")).toHaveLength(450);
  expect(await engine.removeInstance("l1")).toBe("removed");
  expect(await ranTasksOf(storage, "l1")).toEqual([]);
  expect(await ranTasksOf(storage, "l1:x")).toHaveLength(3);
  await engine.stop();
});

test("an effect that took long leaves how long it took", async () => {
  const { engine, storage } = await posted(async (clock) => clock.advance(1_500), 0);
  expect(await ranTasksOf(storage, "l1")).toMatchObject([
    { task: await taskIdAt(storage, "l1"), tookMs: 1_500, failures: 0, crashes: 0, error: null },
  ]);
  await engine.stop();
});
