/** Charts without states have a context and events alone: they go on under a new version like any other. */
import { describe, expect, test } from "vitest";
import { assign, sendTo, setup } from "xstate";
import { workflow } from "paystate/engine";
import { adapters } from "../kit/adapters.ts";
import { inWorld } from "../kit/engine-world.ts";
import { drawn } from "../kit/thorough.ts";

interface Counted {
  readonly count: number;
  readonly by?: number;
}

const counter = (by: number) =>
  setup({ types: { context: {} as Counted, events: {} as { type: "ADD" } } }).createMachine({
    id: "counter",
    context: { count: 0 },
    on: { ADD: { actions: assign({ count: ({ context }) => context.count + by }) } },
  });

const family = (by: number) =>
  setup({ types: { events: {} as { type: "ADD" } }, actors: { counter: counter(by) } }).createMachine({
    id: "family",
    invoke: { src: "counter", id: "kid" },
    on: { ADD: { actions: sendTo("kid", { type: "ADD" }) } },
  });

describe.each(drawn(adapters, "stateless charts"))("on $name", (adapter) => {
  test("D17: a chart without states goes on under a new version, also beside a process of the old one", () =>
    inWorld(adapter, async ({ engine, awaitsOutside }) => {
      const first = workflow(counter(1))({ version: 1 });
      const second = workflow(counter(10))({
        version: 2,
        migrate: { 1: ({ context }) => ({ context: { ...context, by: 10 } as Counted }) },
      });
      const old = await engine({ workflows: [first] });
      await old.start(first, { id: "c", input: undefined });
      await old.send(first, "c", { type: "ADD" });
      const one = await engine({ workflows: [second] });
      await one.send(second, "c", { type: "ADD" });
      expect(await one.read("c")).toMatchObject({ workflow: "counter@2", context: { count: 11, by: 10 } });
      await expect(old.send(first, "c", { type: "ADD" })).rejects.toMatchObject({ name: "UnknownWorkflow" });
      awaitsOutside("c");
    }));

  test("D17: so do its children without states", () =>
    inWorld(adapter, async ({ engine, settled, awaitsOutside }) => {
      const first = workflow(family(1))({ version: 1 });
      const second = workflow(family(10))({
        version: 2,
        migrate: { 1: () => ({}) },
        actors: { counter: { migrate: { 1: () => ({ value: {} }) } } },
      });
      const old = await engine({ workflows: [first] });
      old.run();
      await old.start(first, { id: "f", input: undefined });
      await old.send(first, "f", { type: "ADD" });
      await settled();
      await old.stop();
      const one = await engine({ workflows: [second] });
      one.run();
      await one.send(second, "f", { type: "ADD" });
      await settled();
      expect(await one.read("f/kid")).toMatchObject({ workflow: "family/counter@2", context: { count: 11 } });
      awaitsOutside("f", "f/kid");
    }));
});
