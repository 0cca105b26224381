/** Thousands of children in one step: they begin in slices, and their ends are worked off in runs. */
import { expect, it } from "vitest";
import { assign, createMachine, enqueueActions, sendTo, setup, type EventObject } from "xstate";
import { workflow } from "paystate/engine";
import { flow } from "../../examples/patterns/fan-out.ts";
import { adapters } from "../kit/adapters.ts";
import { inWorld } from "../kit/engine-world.ts";
import { byDepth } from "../kit/thorough.ts";
import { engineTest } from "../kit/engine-test.ts";

/** Ends when it is told to, at once where it is told so in its input; one cannot begin. */
const part = setup({ types: { events: {} as { type: "GO" }, input: {} as { n: number } } }).createMachine({
  id: "part",
  context: ({ input }) => {
    if (input.n === 7) throw new Error("this one cannot begin");
    return { n: input.n };
  },
  initial: "waiting",
  states: { waiting: { on: { GO: "over" } }, over: { type: "final" } },
  output: ({ context }) => context,
});

interface Whole {
  readonly ended: readonly number[];
  readonly failed: number;
  readonly stopped: boolean;
}

type Told = { readonly type: "SPREAD"; readonly ids: readonly string[]; readonly go: boolean };

/** Begins as many parts as it is told to, and hears of the end of each. */
const whole = workflow(
  setup({
    types: { context: {} as Whole, events: {} as Told | { type: "GO"; id: string } | { type: "HALT" } },
    actors: { part },
  }).createMachine({
    id: "whole",
    context: { ended: [], failed: 0, stopped: false },
    on: {
      SPREAD: {
        actions: enqueueActions(({ enqueue, event: { ids, go } }) => {
          for (const [n, id] of ids.entries()) {
            enqueue.spawnChild("part", { id, input: { n } });
            if (go) enqueue.sendTo(id, { type: "GO" });
          }
        }),
      },
      GO: { actions: sendTo(({ event }) => event.id, { type: "GO" }) },
      HALT: ".halted",
      "*": [
        {
          guard: ({ event }: { event: EventObject }) => event.type.startsWith("xstate.done.actor."),
          actions: assign({
            ended: ({ context, event }) => [
              ...context.ended,
              (event as unknown as { output: { n: number } }).output.n,
            ],
          }),
        },
        {
          guard: ({ event }: { event: EventObject }) => event.type.startsWith("xstate.error.actor."),
          actions: assign({ failed: ({ context }) => context.failed + 1 }),
        },
      ],
    },
    initial: "open",
    states: { open: {}, halted: { type: "final" } },
  }),
)({ version: 1 });

const named = (count: number): string[] => Array.from({ length: count }, (_, index) => `part-${index}`);
const heard = (context: Readonly<Record<string, unknown>> = {}): number[] => context["ended"] as number[];
const MOST = 256;

/** Counts what it is told, in a snapshot so long that messages to it are worked off in runs. */
const tally = setup({
  types: { context: {} as { count: number; pad: string }, events: {} as { type: "N" } | { type: "X" } },
}).createMachine({
  id: "tally",
  context: { count: 0, pad: "x".repeat(20_000) },
  on: {
    N: { actions: assign({ count: ({ context }) => context.count + 1 }) },
    X: { actions: assign({ pad: ({ context }) => `${context.pad}x` }) },
  },
});
const TOLD = 60;
const tellers = workflow(
  setup({ types: { events: {} as { type: "GO" } }, actors: { tally } }).createMachine({
    id: "teller",
    invoke: { id: "t", src: "tally" },
    on: { GO: { actions: Array.from({ length: TOLD }, () => sendTo("t", { type: "N" })) } },
  }),
)({ version: 1 });

const { test, engine, running, log, open, settled, awaitsOutside } = engineTest("many children");

test("D18: a run of messages that loses each race to another process gets shorter, and comes through", async () => {
  const rival = await engine(tellers);
  const losing = await open((real) => ({
    async commit(items: Parameters<typeof real.commit>[0]) {
      const isLong = items.some(({ behind = [] }) => behind.length > 3);
      if (isLong) await rival.send(tellers.child("tally"), "p/t", { type: "X" });
      return real.commit(items);
    },
  }));
  const one = await running({ workflows: [tellers], storage: losing }, "p");
  await one.send(tellers, "p", { type: "GO" });
  await settled();
  expect(await one.read("p/t")).toMatchObject({ context: { count: TOLD } });
  expect(await one.failingTasks()).toEqual([]);
  awaitsOutside("p", "p/t");
});

test("D18: a step of many children that loses each race to another process begins fewer, and comes through", async () => {
  const rival = await engine(whole);
  const storage = await open();
  let lost = 0;
  const commit: typeof storage.commit = async (items) => {
    const isLong = items.some(({ step, starts = [] }) => step !== undefined && starts.length > 3);
    if (isLong && (lost += 1) < 40) await rival.send(whole, "w", { type: "GO", id: "nobody" });
    return storage.commit(items);
  };
  const one = await running({ workflows: [whole], storage: { ...storage, commit } }, "w");
  await one.send(whole, "w", { type: "SPREAD", ids: named(60), go: true });
  await settled();
  expect(lost).toBeLessThan(40);
  const { context } = (await one.read("w")) ?? {};
  expect(heard(context)).toHaveLength(59);
  awaitsOutside("w");
});

test("D18: children that one commit has no room for begin right behind it, and take what was sent to them", async () => {
  const one = await running(whole, "w");
  await one.send(whole, "w", { type: "SPREAD", ids: named(300), go: true });
  await settled();
  const { context } = (await one.read("w")) ?? {};
  expect(context).toMatchObject({ failed: 1 });
  expect(heard(context).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 300 }, (_, n) => n).filter((n) => n !== 7),
  );
  const born = log.commits.map(({ commit }) => commit.starts?.length ?? 0).filter((count) => count > 1);
  expect(born).toEqual([MOST - 1, 300 - MOST]);
  expect((await one.pending("w")).tasks).toEqual([]);
  expect((await one.read("w"))?.children ?? {}).toEqual({});
  awaitsOutside("w");
});

test("D18: an engine that stops before all have begun leaves the rest to the next one", async () => {
  const one = await engine(whole, "w");
  await one.send(whole, "w", { type: "SPREAD", ids: named(300), go: false });
  await one.stop();
  const two = await running(whole);
  await settled();
  expect(await two.read("w/part-299")).toMatchObject({ status: "active" });
  await two.send(whole, "w", { type: "HALT" });
  await settled();
  awaitsOutside("w");
});

const runs = [
  ["in their order", (n: number) => n, 600],
  ["and one that throws alone is left over", (n: number) => (n === 400 ? Number.NaN : n), 400],
] as const;
test.each(runs)(
  "D18: messages that wait for one with a long snapshot make steps of one commit, %s",
  async (_, of, taken) => {
    const ledger = workflow(
      setup({
        types: {
          context: {} as { filling: string; sum: readonly number[] },
          events: {} as { type: "ADD"; n: number } | { type: "TELL"; count: number },
        },
      }).createMachine({
        id: "ledger",
        context: { filling: "x".repeat(20_000), sum: [] },
        on: {
          ADD: {
            actions: assign({
              sum: ({ context, event }) => {
                if (Number.isNaN(event.n)) throw new Error("no number");
                return [...context.sum, event.n];
              },
            }),
          },
        },
      }),
    )({ version: 1 });
    const sender = workflow(
      setup({ actors: { part }, actions: { tell: () => {} } }).createMachine({
        id: "sender",
        entry: enqueueActions(({ enqueue }) => {
          for (let n = 0; n < 600; n++) {
            const event = { type: "ADD", n: of(n) };
            enqueue({ type: "tell", params: { machine: "ledger", id: "l", event } } as never);
          }
        }),
      }),
    )({ version: 1, effects: {} });
    const one = await running({ workflows: [ledger, sender] }, "l");
    await one.start(sender, { id: "s", input: undefined });
    await settled();
    const sum = (await one.read("l"))?.context["sum"] as number[];
    expect(sum).toEqual(Array.from({ length: taken }, (_each, n) => n));
    const rows = await one.history("l", { limit: 1_000 });
    expect(rows.map(({ version }) => version)).toEqual(rows.map((_row, index) => index + 1));
    expect(new Set(rows.slice(1).map(({ cause }) => cause?.kind))).toEqual(new Set(["message"]));
    const commits = log.commits.filter(({ commit }) => commit.step?.id === "l");
    expect(commits.length).toBeLessThanOrEqual(Math.ceil(taken / 256) + 2);
    awaitsOutside("l", "s");
  },
);

const onSqlite = {
  make:
    adapters.find(({ name }) => name === "SQLite")?.make ?? (() => Promise.reject(new Error("no adapter"))),
};

const COUNT = byDepth({ quick: 400, ci: 1_500, long: 10_000 });

it(
  `D18: children by the thousand begin and are joined, in few commits of their parent`,
  { timeout: 300_000 },
  () =>
    inWorld(onSqlite, async (world) => {
      const { running, settled, log, awaitsOutside } = world;
      const brief = createMachine({ id: "brief", initial: "over", states: { over: { type: "final" } } });
      const host = workflow(
        setup({ types: { context: {} as { ended: number } }, actors: { brief } }).createMachine({
          id: "host",
          context: { ended: 0 },
          on: {
            GO: {
              actions: enqueueActions(({ enqueue }) => {
                for (let n = 0; n < COUNT; n++) enqueue.spawnChild("brief", { id: `c${n}` });
              }),
            },
            "*": { actions: assign({ ended: ({ context }) => context.ended + 1 }) },
          },
        }),
      )({ version: 1 });
      const one = await running(host, "h");
      await one.send(host, "h", { type: "GO" });
      await settled();
      expect(await one.read("h")).toMatchObject({ context: { ended: COUNT } });
      const most = Math.max(...log.commits.map(({ commit }) => commit.history?.length ?? 0));
      expect(most).toBeLessThanOrEqual(2 * MOST);
      // Where the list of those that are left is short, each end is a commit of its own.
      const commits = log.commits.filter(({ commit }) => commit.step?.id === "h");
      expect(commits.length).toBeLessThan(COUNT / 10 + 1_000);
      awaitsOutside("h");
    }),
);

it(
  "F12: children by the thousand in a window of a hundred are joined, and the snapshot of their parent stays under 10 kB",
  { timeout: 300_000 },
  () =>
    inWorld(onSqlite, async (world) => {
      const { running, settled, log } = world;
      const one = await running(flow);
      await one.start(flow, { id: "m", input: { mails: COUNT } });
      await settled();
      expect(await one.read("m")).toMatchObject({ status: "done", context: { begun: COUNT, sent: COUNT } });
      const largest = Math.max(...log.commits.map(({ commit }) => commit.step?.snapshot.length ?? 0));
      expect(largest).toBeLessThan(10_000);
    }),
);
