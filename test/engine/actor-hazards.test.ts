/** D53, D84: addresses where much goes on at once: crowds of children, ids that are taken, bodies of customers, what a host holds. */
import { expect, it } from "vitest";
import { assign, createMachine, enqueueActions, fromPromise, sendTo, setup, type AnyActorRef } from "xstate";
import { workflow, type Logger } from "paystate/engine";
import { revivedActor } from "../../src/workflow/actor-address.ts";
import { openChart } from "../../src/workflow/xstate/open-chart.ts";
import { keeper, speaker } from "./actor-charts.ts";
import { engineTest } from "../kit/engine-test.ts";

interface AnyEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}
type Actors = readonly AnyActorRef[];

/** Counts what it hears, and greets whom its input names as soon as it begins. */
const greeter = setup({
  types: { context: {} as { to: Actors; heard: number }, input: {} as { to: Actors } },
}).createMachine({
  id: "greeter",
  context: ({ input }) => ({ to: input.to, heard: 0 }),
  entry: enqueueActions(({ enqueue, context }) => {
    for (const each of context.to) enqueue.sendTo(each, { type: "HI" });
  }),
  on: { HI: { actions: assign({ heard: ({ context }) => context.heard + 1 }) } },
});

/** More than begin in one commit. */
const CROWD = 260;
const crowdOf = (parent: string): string[] => Array.from({ length: CROWD }, (_, n) => `${parent}/s${n}`);

/** Keeps the addresses of a crowd, of which the first two greet the last, and tells who asks for one more of the last ones. */
const crowd = setup({
  types: { context: {} as { refs: Actors }, events: {} as AnyEvent },
  actors: { greeter },
}).createMachine({
  id: "crowd",
  context: { refs: [] },
  on: {
    GO: {
      actions: [
        assign({
          refs: ({ spawn }): Actors => {
            const others = Array.from({ length: CROWD - 2 }, (_, n) =>
              spawn("greeter", { id: `s${n + 2}`, input: { to: [] } }),
            );
            const to = others.at(-1) as AnyActorRef;
            return [...["s0", "s1"].map((id) => spawn("greeter", { id, input: { to: [to] } })), ...others];
          },
        }),
        sendTo(
          ({ event }) => event["sender"] as AnyActorRef,
          ({ context }) => ({ type: "GREET", who: context.refs.at(-2) }) as never,
        ),
      ],
    },
    ALL: {
      actions: enqueueActions(({ enqueue, context }) => {
        for (const ref of context.refs) enqueue.sendTo(ref, { type: "HI" });
      }),
    },
  },
});

/** Has a crowd, and greets whom it is told to. */
const host = setup({
  types: { context: {} as { seen: unknown }, events: {} as AnyEvent },
  actors: { crowd, speaker },
}).createMachine({
  id: "host",
  context: { seen: null },
  invoke: [
    { id: "crowd", src: "crowd" },
    { id: "kid", src: "speaker" },
  ],
  on: {
    GO: { actions: sendTo("crowd", ({ self }) => ({ type: "GO", sender: self }) as never) },
    GREET: { actions: sendTo(({ event }) => event["who"] as AnyActorRef, { type: "HI" }) },
    SPREAD: {
      actions: sendTo("kid", ({ event }) => ({ type: "NEWS", ...(event["body"] as object) }) as never),
    },
    LATER: {
      actions: sendTo("kid", ({ event }) => ({ type: "NEWS", ...(event["body"] as object) }) as never, {
        delay: 10,
      }),
    },
    SAY: { actions: sendTo("kid", { type: "SAY" }) },
    SAID: { actions: assign({ seen: ({ event }) => event["sender"] }) },
    ASK: { actions: sendTo("kid", ({ self }) => ({ type: "ANSWER", sender: self }) as never) },
    ANSWERED: { actions: assign({ seen: "answered" }) },
    SAME: {
      actions: assign({
        seen: ({ context, self }) => {
          const { children } = self.getSnapshot() as { children: Record<string, unknown> };
          return context.seen === children["kid"];
        },
      }),
    },
    TRY: {
      actions: assign({
        seen: ({ self }) => {
          const { children } = self.getSnapshot() as { children: Record<string, AnyActorRef> };
          try {
            return children["kid"]?.sessionId;
          } catch {
            return "nothing";
          }
        },
      }),
    },
  },
});

const keepers = workflow(keeper)({ version: 1 });
const hosts = workflow(host)({ version: 1 });
const crowds = workflow(crowd)({ version: 1 });

class Lines {
  readonly dropped: unknown[] = [];
  readonly logger = {
    debug() {},
    info() {},
    error() {},
    warn: (fields: object, message: string): void => {
      if (message.startsWith("an event was dropped")) this.dropped.push(fields);
    },
  } as unknown as Logger;
}

const { test, running, settled, awaitsOutside } = engineTest("actor hazards");

test("D84: an event to a child that its parent's commit had no room for waits for it, whoever sends it", async () => {
  const lines = new Lines();
  const one = await running({ workflows: [hosts], logger: lines.logger }, "h");
  await one.send(hosts, "h", { type: "GO" });
  await settled();
  // Two siblings have greeted the last one, and the parent of their parent the one before.
  expect(await one.read(`h/crowd/s${CROWD - 1}`)).toMatchObject({ context: { heard: 2 } });
  expect(await one.read(`h/crowd/s${CROWD - 2}`)).toMatchObject({ context: { heard: 1 } });
  expect(lines.dropped).toEqual([]);
  awaitsOutside("h", "h/kid", "h/crowd", ...crowdOf("h/crowd"));
});

test("D84: the addresses of a crowd whose ids are taken lead to those that have begun under other ids", async () => {
  const lines = new Lines();
  const one = await running({ workflows: [crowds, keepers], logger: lines.logger });
  await one.start(keepers, { id: "k", input: undefined });
  for (const id of crowdOf("c")) await one.start(keepers, { id, input: undefined });
  await one.start(crowds, { id: "c", input: undefined });
  const { life } = (await one.read("k")) as { life: string };
  const sender = revivedActor({ instance: "k", life, workflow: "keeper" });
  await one.send(crowds, "c", { type: "GO", sender });
  await one.send(crowds, "c", { type: "ALL" });
  await settled();
  expect(await one.read(`c/s${CROWD - 1}~2`)).toMatchObject({ context: { heard: 3 } });
  expect(await one.read("c/s5~2")).toMatchObject({ context: { heard: 1 } });
  expect(lines.dropped).toEqual([]);
  awaitsOutside("k", "c", ...crowdOf("c"), ...crowdOf("c").map((id) => `${id}~2`));
});

test("D84: what a parent sends to a child that has ended is dropped, with a line where it keeps the address", async () => {
  const lines = new Lines();
  const one = await running({ workflows: [hosts], logger: lines.logger }, "h");
  await one.send(hosts, "h", { type: "SAY" });
  await settled();
  await one.send(hosts, "h", { type: "SAME" });
  await one.send(hosts.child("speaker"), "h/kid", { type: "END" });
  await settled();
  await one.send(hosts, "h", { type: "SAY" });
  await settled();
  expect(lines.dropped).toMatchObject([{ instance: "h/kid", event: "SAY" }]);
  awaitsOutside("h", "h/crowd");
});

test("D53: a promise that is given an address learns how to tell its chart, and can give it back", async () => {
  const parents = setup({
    types: { context: {} as { seen: readonly unknown[] } },
    actors: {
      sends: fromPromise<void, { parent: AnyActorRef }>(async ({ input }) => {
        input.parent.send({ type: "DONE" });
      }),
      returns: fromPromise<unknown, { parent: AnyActorRef }>(async ({ input }) => input.parent),
    },
  }).createMachine({
    id: "parents",
    context: { seen: [] },
    initial: "first",
    states: {
      first: {
        invoke: {
          src: "sends",
          input: ({ self }) => ({ parent: self }),
          onError: {
            target: "second",
            actions: assign({ seen: ({ event }) => [(event.error as Error).message] }),
          },
        },
      },
      second: {
        invoke: {
          src: "returns",
          input: ({ self }) => ({ parent: self }),
          onDone: {
            target: "third",
            actions: assign({ seen: ({ context, event, self }) => [...context.seen, event.output === self] }),
          },
        },
      },
      third: {},
    },
  });
  const charts = workflow(parents)({ version: 1 });
  const one = await running(charts, "p");
  await settled();
  expect(await one.read("p")).toMatchObject({
    value: "third",
    context: { seen: [expect.stringContaining("use engine.send"), true] },
  });
  awaitsOutside("p");
});

it("D53: an assign that begins one child more does not look at those that are there", () => {
  const idle = createMachine({ id: "idle" });
  const chart = openChart(
    setup({ types: { context: {} as { refs: Actors } }, actors: { idle } }).createMachine({
      id: "many",
      context: { refs: [] },
      on: { GO: { actions: assign({ refs: ({ spawn }): Actors => [spawn("idle", { id: "one-more" })] }) } },
    }),
  );
  const { after } = chart.start(undefined);
  let looks = 0;
  const links = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, n) => [`k${n}`, { src: "idle", run: 1, isSpawned: true } as const]),
  );
  const children = new Proxy(links, {
    ownKeys: (target) => {
      looks += 1;
      return Reflect.ownKeys(target);
    },
  });
  const step = chart.step({ ...after, children, runs: {} }, { type: "GO" }, { isOwn: true });
  expect(Object.hasOwn(step?.after.children ?? {}, "one-more")).toBe(true);
  expect(looks).toBe(0);
});
