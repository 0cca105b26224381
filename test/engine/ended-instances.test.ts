/** Instances that go with their end: of these the rows of the host tell all that matters. */
import { describe, expect, test } from "vitest";
import { createMachine, setup } from "xstate";
import { workflow, type TellParams } from "paystate/engine";
import { everyAdapter } from "../kit/adapters.ts";
import { inWorld } from "../kit/engine-world.ts";
import { drawn } from "../kit/thorough.ts";

const work = setup({
  types: { events: {} as { type: "DONE" } | { type: "MORE" } },
  actions: { work: (_, _params: { n: number }) => {} },
}).createMachine({
  id: "work",
  initial: "working",
  states: {
    working: {
      entry: { type: "work", params: { n: 1 } },
      on: { DONE: "done" },
      // It is still waited for as the end comes.
      after: { 60_000: "late" },
    },
    late: {},
    done: { type: "final" },
  },
});

/** Follows an instance of the other chart, which may have gone. */
const follower = setup({
  types: { events: {} as { type: "GONE" } },
  actions: { tell: (_, _params: TellParams) => {} },
}).createMachine({
  id: "follower",
  initial: "asking",
  states: {
    asking: {
      entry: {
        type: "tell",
        params: {
          machine: "work",
          id: "w",
          event: { type: "MORE" },
          otherwise: { type: "GONE" },
          known: true,
        },
      },
      on: { GONE: "told" },
    },
    told: {},
  },
});

describe.each(drawn(everyAdapter, "ended instances"))(
  "instances that go with their end on $name",
  (adapter) => {
    test("D13: one goes with its history, its timers and nothing else, and its id is free again", () =>
      inWorld(adapter, async ({ engine, settled, storage, awaitsOutside }) => {
        awaitsOutside("late");
        const workflows = [
          workflow(work)({
            version: 1,
            keepEnded: false,
            effects: {
              work: async (_, { instance }) =>
                instance === "late" ? undefined : { event: { type: "DONE" } },
            },
          }),
        ] as const;
        const { run, start, send, read, waitFor } = await engine({ workflows });
        run();
        await start(workflows[0], { id: "late", input: null });
        for (const round of [1, 2]) {
          const ended = waitFor(workflows[0], "w", "final", { mustExist: false });
          expect(await start(workflows[0], { id: "w", input: null }), String(round)).toEqual({ ok: true });
          expect((await ended).value).toBe("done");
          await settled();
          expect(await read("w")).toBeNull();
          expect(await storage.history("w", { after: 0, limit: 9 })).toEqual([]);
          expect(await storage.tasks({ order: "instance", instance: "w", limit: 9 })).toEqual([]);
          expect(await send(workflows[0], "w", { type: "DONE" })).toEqual({ kind: "absent" });
        }
        expect(await read("late")).toMatchObject({ value: "working" });
        expect(await storage.history("late", { after: 0, limit: 9 })).toHaveLength(1);
      }));

    test("D13: who tells it that is known hears that it is gone", () =>
      inWorld(adapter, async ({ engine, settled, awaitsOutside }) => {
        awaitsOutside("after");
        const works = workflow(work)({
          version: 1,
          keepEnded: false,
          effects: {
            work: async () => ({ event: { type: "DONE" } }),
          },
        });
        const followers = workflow(follower)({ version: 1, effects: {} });
        const { run, start, read } = await engine({ workflows: [works, followers] });
        await start(works, { id: "w", input: null });
        run();
        await settled();
        expect(await read("w")).toBeNull();
        await start(followers, { id: "after", input: null });
        await settled();
        expect(await read("after")).toMatchObject({ value: "told" });
      }));

    test("D13: one that is stopped stays, and so does one that ends as it starts", () =>
      inWorld(adapter, async ({ engine, settled }) => {
        const works = workflow(work)({
          version: 1,
          keepEnded: false,
          effects: { work: async () => undefined },
        });
        const brief = workflow(
          createMachine({ id: "brief", initial: "a", states: { a: { type: "final" } } }),
        )({
          version: 1,
          keepEnded: false,
          effects: {},
        });
        const { run, start, stopInstance, read } = await engine({ workflows: [works, brief] });
        run();
        await start(works, { id: "w", input: null });
        await start(brief, { id: "b", input: null });
        await stopInstance("w");
        await settled();
        expect(await read("w")).toMatchObject({ status: "stopped" });
        expect(await read("b")).toMatchObject({ status: "done" });
      }));
  },
);

test("a chart with actors or with bodies is kept", () => {
  const plain = createMachine({ id: "plain" });
  expect(() => workflow(plain)({ version: 1, keepEnded: false })).toThrow("keepEnded: only a chart without");
});

// modules: search
test("a chart with search fields is kept", () => {
  const plain = createMachine({ id: "plain" });
  const searched = { version: 1, keepEnded: false, effects: {}, search: { id: () => "x" } } as const;
  expect(() => workflow(plain)(searched)).toThrow("search: its rows");
});
