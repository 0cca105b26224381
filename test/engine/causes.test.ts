/** Every step tells what made it: written in the commit of the step, and read back with it. */
import { expect, it } from "vitest";
import { fromPromise, sendTo, setup } from "xstate";
import { workflow, type HistoryEntry, type StepCause } from "paystate/engine";
import { causeFromText, causeText } from "../../src/workflow/step-cause.ts";
import { job } from "./job.ts";
import { engineTest } from "../kit/engine-test.ts";

const clerk = setup({ types: { events: {} as { type: "HANG_UP" } } }).createMachine({
  id: "clerk",
  initial: "waiting",
  states: { waiting: { on: { HANG_UP: "over" } }, over: { type: "final" } },
});

/** A chart that goes on for every reason there is, one after the other. */
const chart = setup({
  types: { events: {} as { type: "GO" } | { type: "SEEN" } | { type: "TOLD" } | { type: "ASKED" } },
  actors: { charge: fromPromise<void>(async () => {}), clerk },
  actions: {
    ask: (_, _params: { readonly id: string }) => {},
    tell: (
      _,
      _params: { readonly id: string; readonly workflow: string; readonly event: { type: "TOLD" } },
    ) => {},
  },
}).createMachine({
  id: "errand",
  initial: "new",
  states: {
    new: { on: { GO: "asking" } },
    asking: { entry: { type: "ask", params: { id: "a" } }, on: { ASKED: "resting" } },
    resting: { after: { 60_000: "charging" } },
    charging: { invoke: { id: "bank", src: "charge", onDone: "watching" } },
    watching: { meta: { watches: ["post"] }, on: { SEEN: "talking" } },
    talking: {
      invoke: { id: "talk", src: "clerk", onDone: "done" },
      entry: sendTo("talk", { type: "HANG_UP" }),
    },
    done: { type: "final" },
  },
});

const errands = workflow(chart)({
  version: 1,
  effects: {
    ask: async () => ({
      event: { type: "ASKED" },
      starts: [{ workflow: helper, id: "helper", input: { id: "h" } }],
    }),
  },
  watches: { post: () => "letter" },
});
const helper = job(async () => "helper");

const causesOf = (history: readonly HistoryEntry[]): readonly (StepCause | null)[] =>
  history.map(({ cause }) => cause);

const { test, engine, pass } = engineTest("causes");

test("a caller, an effect, a timer, a promise, a watch, a message and a parent are each told beside their step", async () => {
  const watchers = {
    post: {
      intervalMs: 1_000,
      poll: async (watches: readonly { readonly instance: string }[]) =>
        watches.map(({ instance }) => ({ instance, event: { type: "SEEN" } })),
    },
  };
  const one = await engine({ workflows: [errands, helper], watchers });
  const commits: { readonly consumed: string | undefined; readonly causes: readonly (StepCause | null)[] }[] =
    [];
  one.subscribe(({ commit: { consumes, history = [] } }) => {
    const causes = history.map(({ cause, instance }) => causeFromText(cause, instance));
    commits.push({ consumed: consumes?.task, causes });
  });
  one.run();
  await one.start(errands, { id: "e 1", input: undefined });
  await one.send(errands, "e 1", { type: "GO" });
  await pass(5 * 60_000);
  expect(await one.read("e 1")).toMatchObject({ value: "done" });
  const stampsOf = async (id: string) => (await one.history(id)).map(({ stamp }) => stamp);
  const stamps = new Map([
    ["e 1", await stampsOf("e 1")],
    ["e 1/talk", await stampsOf("e 1/talk")],
  ]);
  const from = (step: number, instance = "e 1") => ({
    instance,
    step: stamps.get(instance)?.[step - 1] ?? "",
  });
  const task = (step: number, index: number, instance = "e 1"): string =>
    `${instance}:${from(step, instance).step}:${index}`;
  expect(causesOf(await one.history("e 1"))).toEqual([
    null,
    null,
    { kind: "effect", task: task(2, 0), from: from(2), name: "ask" },
    { kind: "timer", task: task(3, 0), from: from(3) },
    { kind: "invocation", task: task(4, 1), from: from(4) },
    { kind: "watch", watch: "post" },
    { kind: "message", task: task(2, 0, "e 1/talk"), from: from(2, "e 1/talk") },
  ]);
  expect(causesOf(await one.history("e 1/talk"))).toEqual([
    { kind: "parent", from: from(6) },
    { kind: "message", task: task(6, 0), from: from(6) },
  ]);
  expect((await one.history("helper"))[0]?.cause).toEqual({
    kind: "effect",
    task: task(2, 0),
    from: from(2),
  });
  // In the commit of each step: a row names the task that its commit ends.
  const ends = commits.filter(({ consumed, causes }) => consumed !== undefined && causes.length > 0);
  expect(ends.length).toBeGreaterThan(5);
  for (const { consumed, causes } of ends) {
    const others = causes.filter((cause) => cause?.kind !== "parent");
    for (const cause of others) expect(cause).toMatchObject({ task: consumed });
  }
});

test("a start is its id and its input: the object of a caller tells no cause", async () => {
  const one = await engine(helper);
  const body = { id: "h", input: { id: "h" }, cause: "watch post" };
  await one.start(helper, body);
  await one.commit({ starts: [{ ...body, id: "i", workflow: helper }] });
  for (const id of ["h", "i"]) expect(causesOf(await one.history(id))).toEqual([null]);
});

it("any id and name come back as they were written, and what is no cause is none", () => {
  const ids = ["a", "a b", "a:1:2", "a:b c", "effect", ":", "ü\n"];
  for (const instance of ids) {
    for (const sender of ids) {
      const task = `${sender}:7:2:sent:0:back`;
      const from = { instance: sender, step: "7" };
      const message = causeText({ id: task, kind: "message", name: "TOLD" }, instance);
      expect(causeFromText(message, instance)).toEqual({ kind: "message", task, from });
    }
    const own = causeText({ id: `${instance}:3:0`, kind: "effect", name: "say it :1" }, instance);
    expect(causeFromText(own, instance)).toEqual({
      kind: "effect",
      task: `${instance}:3:0`,
      from: { instance, step: "3" },
      name: "say it :1",
    });
  }
  const published = causeText({ id: "by-a-host", kind: "message", name: "X" }, "a");
  expect(causeFromText(published, "a")).toEqual({ kind: "message", task: "by-a-host", from: null });
  for (const none of [null, "", "effect", "someone", "parent a"]) expect(causeFromText(none, "a")).toBeNull();
});
