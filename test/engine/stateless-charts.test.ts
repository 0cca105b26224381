/** Charts without states have a context and events alone: they go on under a new version like any other. */
import { expect } from "vitest";
import { assign, sendTo, setup } from "xstate";
import { workflow } from "paystate/engine";
import { engineTest } from "../kit/engine-test.ts";

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

const { test, engine, running, settled, awaitsOutside } = engineTest("stateless charts");

test("D17: a chart without states goes on under a new version, also beside a process of the old one", async () => {
  const first = workflow(counter(1))({ version: 1 });
  const second = workflow(counter(10))({
    version: 2,
    migrate: { 1: ({ context }) => ({ context: { ...context, by: 10 } as Counted }) },
  });
  const old = await engine(first, "c");
  await old.send(first, "c", { type: "ADD" });
  const one = await engine(second);
  await one.send(second, "c", { type: "ADD" });
  expect(await one.read("c")).toMatchObject({ workflow: "counter@2", context: { count: 11, by: 10 } });
  await expect(old.send(first, "c", { type: "ADD" })).rejects.toMatchObject({ name: "UnknownWorkflow" });
  awaitsOutside("c");
});

test("D17: so do its children without states", async () => {
  const first = workflow(family(1))({ version: 1 });
  const second = workflow(family(10))({
    version: 2,
    migrate: { 1: () => ({}) },
    actors: { counter: { migrate: { 1: () => ({ value: {} }) } } },
  });
  const old = await running(first, "f");
  await old.send(first, "f", { type: "ADD" });
  await settled();
  await old.stop();
  const one = await running(second);
  await one.send(second, "f", { type: "ADD" });
  await settled();
  expect(await one.read("f/kid")).toMatchObject({ workflow: "family/counter@2", context: { count: 11 } });
  awaitsOutside("f", "f/kid");
});
