/** What an engine spares itself while it is busy changes no answer: reads, claims and places. */
import { assign, setup } from "xstate";
import { describe, expect, test } from "vitest";
import { workflow } from "paystate/engine";
import { adapters } from "../kit/adapters.ts";
import { gate, inWorld, turns, until } from "../kit/engine-world.ts";
import { drawn } from "../kit/thorough.ts";
import { job } from "./job.ts";

/** Opened, then closed: each event counts in one state only. */
const door = workflow(
  setup({
    types: { events: {} as { type: "OPEN" } | { type: "CLOSE" } },
  }).createMachine({
    id: "door",
    initial: "closed",
    states: {
      closed: { on: { OPEN: "open" } },
      open: { on: { CLOSE: "locked" } },
      locked: { type: "final" },
    },
  }),
)({ version: 1, effects: {} });

const chain = setup({
  types: {
    context: {} as { readonly left: number },
    input: {} as { readonly left: number },
    events: {} as { type: "WORKED" },
  },
  actions: { work: (_, _params: { readonly left: number }) => {} },
  guards: { isLast: ({ context }) => context.left <= 1 },
}).createMachine({
  id: "chain",
  context: ({ input }) => input,
  initial: "working",
  states: {
    working: {
      entry: { type: "work", params: ({ context }) => ({ left: context.left }) },
      on: {
        WORKED: [
          { guard: "isLast", target: "done" },
          {
            target: "working",
            reenter: true,
            actions: assign({ left: ({ context }) => context.left - 1 }),
          },
        ],
      },
    },
    done: { type: "final" },
  },
});

describe.each(drawn(adapters, "busy"))("a busy engine on $name", (adapter) => {
  test("an event is not ignored because of a state that another process has since left", () =>
    inWorld(adapter, async ({ engine }) => {
      const [one, other] = [await engine({ workflows: [door] }), await engine({ workflows: [door] })];
      await one.start(door, { id: "d", input: undefined });
      expect(await other.send(door, "d", { type: "OPEN" })).toMatchObject({ kind: "stepped" });
      // What `one` last committed is a closed door, which knows no CLOSE.
      expect(await one.send(door, "d", { type: "CLOSE" })).toMatchObject({ kind: "stepped" });
      expect(await other.send(door, "d", { type: "OPEN" })).toMatchObject({ kind: "ended" });
    }));

  test("a step from a state that another process has since left is decided anew", () =>
    inWorld(adapter, async ({ engine, storage }) => {
      const [one, other] = [await engine({ workflows: [door] }), await engine({ workflows: [door] })];
      await one.start(door, { id: "d", input: undefined });
      await other.send(door, "d", { type: "OPEN" });
      // To the door that `one` knows it would be a step.
      expect(await one.send(door, "d", { type: "OPEN" })).toMatchObject({ kind: "unchanged" });
      expect(await storage.load("d")).toMatchObject({ version: 2 });
      await one.send(door, "d", { type: "CLOSE" });
    }));

  test("steps that follow from each other are neither read nor claimed, even with a single place", () =>
    inWorld(adapter, async ({ engine, open }) => {
      const asked: string[] = [];
      const storage = await open();
      const counting: typeof storage = {
        ...storage,
        load: (id) => {
          asked.push(`load ${id}`);
          return storage.load(id);
        },
        claim: async (request) => {
          const tasks = await storage.claim(request);
          asked.push(...tasks.map(({ id }) => `claim ${id}`));
          return tasks;
        },
      };
      const chains = workflow(chain)({
        version: 1,
        effects: { work: async () => ({ event: { type: "WORKED" } }) },
      });
      const busy = await engine({ workflows: [chains], storage: counting, slots: 1 });
      busy.run();
      await busy.settled();
      let isDone = false;
      busy.subscribe(({ commit: { step } }) => (isDone = step?.status === "done"));
      await busy.start(chains, { id: "c", input: { left: 20 } });
      await until(() => isDone);
      expect(asked).toEqual([]);
    }));

  test("G6: an endless chain leaves its only place to whatever else is due", () =>
    inWorld(adapter, async ({ engine, awaitsOutside }) => {
      let isOtherDone = false;
      const chains = workflow(chain)({
        version: 1,
        effects: {
          work: async (_params, { instance }) => {
            if (instance === "other") isOtherDone = true;
            // The first would go on for ever if the second did not end it.
            return instance === "endless" && !isOtherDone ? { event: { type: "WORKED" } } : undefined;
          },
        },
      });
      const busy = await engine({ workflows: [chains], slots: 1 });
      busy.run();
      await busy.start(chains, { id: "endless", input: { left: 1_000_000 } });
      await busy.start(chains, { id: "other", input: { left: 1 } });
      await busy.settled();
      expect(isOtherDone).toBe(true);
      awaitsOutside("endless", "other");
    }));

  test("D90: an effect that is done beside 10,000 commits which wait for the database is not done again", () =>
    inWorld(adapter, async ({ engine, open, settled }) => {
      const [working, hanging, answered] = [gate(), gate(), gate()];
      let isSilent = false;
      let runs = 0;
      const jobs = job(async () => {
        runs += 1;
        working.open();
        await hanging.opened;
        return { event: { type: "DONE", by: "me" } };
      });
      const storage = await open();
      const commit: typeof storage.commit = async (items) => {
        if (isSilent) await answered.opened;
        return storage.commit(items);
      };
      const {
        run,
        start,
        commit: commitAsHost,
        read,
      } = await engine({
        workflows: [jobs],
        storage: { ...storage, commit },
      });
      run();
      await start(jobs, { id: "j", input: { id: "j" } });
      await working.opened;
      isSilent = true;
      const asked = Promise.allSettled(Array.from({ length: 10_001 }, () => commitAsHost({})));
      hanging.open();
      await turns(20);
      answered.open();
      expect((await asked).filter(({ status }) => status === "rejected")).toHaveLength(1);
      await settled();
      expect(runs).toBe(1);
      expect(await read("j")).toMatchObject({ value: "done" });
    }));
});
