/** A large context is stored once for each step, whatever the step asks for, and caches know how much they hold. */
import { expect, it } from "vitest";
import { assign, createMachine } from "xstate";
import { workflow } from "paystate/engine";
import { InstanceCache } from "../../src/engine/kernel/instance-cache.ts";
import { THOROUGH } from "../kit/thorough.ts";
import { engineTest } from "../kit/engine-test.ts";

const MEGABYTE = 1_000_000;
const COUNT = THOROUGH ? 50 : 10;

interface Held {
  readonly letter: string;
  readonly text: string;
}

const holding = (seen: string[]) => {
  const see =
    (effect: string) =>
    ({ context, event }: { context: unknown; event: { type: string } }) => {
      const { letter, text } = context as Held;
      seen.push(`${effect} ${letter} ${text.length} ${event.type}`);
    };
  return workflow(
    createMachine({
      id: "holding",
      types: { context: {} as Held, events: {} as { type: "NEXT" } | { type: "LAST" } },
      context: () => ({ letter: "a", text: "a".repeat(MEGABYTE) }),
      entry: [see("f"), see("g"), see("h")],
      initial: "first",
      states: {
        first: {
          on: {
            NEXT: {
              target: "second",
              actions: [assign({ letter: () => "b", text: () => "b".repeat(MEGABYTE) }), see("i")] as never,
            },
          },
        },
        second: { on: { LAST: "last" } },
        last: { type: "final" },
      },
    }),
  )({ version: 1 });
};

const { test, engine, storage, settled, tasksOf, awaitsOutside } = engineTest("large contexts");

test("D25: contexts of a megabyte with three inline effects each are stored once each", async () => {
  const seen: string[] = [];
  const held = holding(seen);
  const one = await engine(held);
  const ids = Array.from({ length: COUNT }, (_, index) => `h${index}`);
  let stored = 0;
  for (const id of ids) {
    await one.start(held, { id, input: undefined });
    const tasks = await tasksOf(id);
    expect(tasks).toHaveLength(3);
    for (const { payload } of tasks) stored += payload.length;
    stored += (await storage.load(id))?.snapshot.length ?? 0;
    for (const { event } of await storage.history(id, { after: 0, limit: 10 })) stored += event.length;
  }
  expect(stored).toBeLessThan((COUNT + 1) * MEGABYTE);
  one.run();
  await settled();
  expect(seen).toHaveLength(3 * COUNT);
  expect(new Set(seen.map((each) => each.slice(2)))).toEqual(new Set([`a ${MEGABYTE} xstate.init`]));
  awaitsOutside(...ids);
});

test("D25, D28: an effect names the context that it is called with by its stamp, since version numbers may repeat", async () => {
  const seen: string[] = [];
  const held = holding(seen);
  const one = await engine(held, "h");
  const { stamp: first = "" } = (await storage.load("h")) ?? {};
  await one.send(held, "h", { type: "NEXT" });
  const { stamp: second = "", snapshot = "" } = (await storage.load("h")) ?? {};
  const tasks = await tasksOf("h");
  const named = tasks.map(({ payload }) => (JSON.parse(payload) as { contextOf: string }).contextOf);
  expect(named.toSorted()).toEqual([first, first, first, second].toSorted());
  expect(Object.keys((JSON.parse(snapshot) as { lent: object }).lent)).toEqual([first]);
  one.run();
  await settled();
  await one.send(held, "h", { type: "LAST" });
});

it("D25: the cache of instances is bounded by what they hold", () => {
  const recent = new InstanceCache();
  const snapshot = "x".repeat(MEGABYTE);
  const known = { workflow: "w@1", hash: "", version: 1, stamp: "s", life: "s", status: "active" as const };
  for (let index = 0; index < 50; index++) recent.keep({ ...known, id: `i${index}`, snapshot });
  const kept = Array.from({ length: 50 }, (_, index) => recent.get(`i${index}`)).filter(Boolean);
  expect(kept.length).toBe(16);
  expect(recent.get("i49")).toBeDefined();
  for (let index = 0; index < 50; index++) recent.keep({ ...known, id: "same", snapshot });
  expect(recent.get("i49")).toBeDefined();
  expect(recent.take("same")).toBeDefined();
});
