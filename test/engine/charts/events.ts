/** Charts without children that do what no random chart does: enqueue, emit, route, compute ids, keep what JSON loses. */
import {
  assign,
  cancel,
  createMachine,
  emit,
  enqueueActions,
  fromPromise,
  log,
  raise,
  sendTo,
  setup,
  stopChild,
} from "xstate";
import type { ChartCase } from "./chart-case.ts";

const selfSending: ChartCase = {
  name: "action bodies that send to their own chart",
  make: ({ note }) =>
    createMachine({
      id: "countdown",
      context: { left: 3 },
      initial: "counting",
      states: {
        counting: {
          entry: [
            ({ context }) => note(`${context["left"]}`),
            ({ context, self }) => self.send({ type: context["left"] > 0 ? "TICK" : "LAUNCH" }),
          ],
          on: {
            TICK: {
              target: "counting",
              reenter: true,
              actions: assign({ left: ({ context }) => context["left"] - 1 }),
            },
            LAUNCH: "launched",
          },
        },
        launched: { type: "final" },
      },
    }),
  script: [],
  ends: "launched",
};

const enqueued: ChartCase = {
  name: "enqueued actions that begin, tell and stop children, arm and cancel",
  make: ({ call, note }) =>
    setup({
      types: {
        context: {} as { round: number },
        events: {} as
          | { type: "ROUND" }
          | { type: "LATE"; of: number }
          | { type: `xstate.done.actor.${string}`; output: string },
      },
      actors: {
        greet: fromPromise<string, number>(({ input }) => call(`greet ${input}`, input)),
        listener: setup({ types: { input: {} as number, context: {} as { heard: number } } }).createMachine({
          id: "listener",
          context: ({ input }) => ({ heard: input }),
          on: { HEAR: { actions: ({ context }) => note(`listener ${context.heard}`) } },
          exit: ({ context }) => note(`listener ${context.heard} leaves`),
        }),
      },
      actions: { note: (_, { text }: { text: string }) => note(text) },
      guards: { isOdd: ({ context }) => context.round % 2 === 1 },
    }).createMachine({
      id: "rounds",
      context: { round: 0 },
      on: {
        ROUND: {
          actions: [
            assign({ round: ({ context }) => context.round + 1 }),
            enqueueActions(({ context: { round }, enqueue, check }) => {
              enqueue.cancel("late");
              if (check("isOdd")) {
                enqueue.spawnChild("listener", { id: `listener-${round}`, input: round });
                enqueue.spawnChild("greet", { id: `greet-${round}`, input: round });
                enqueue.sendTo(`listener-${round}`, { type: "HEAR" });
                enqueue.raise({ type: "LATE", of: round }, { id: "late", delay: 100 * round });
              } else {
                enqueue(stopChild(`listener-${round - 1}`));
                enqueue({ type: "note", params: { text: `even ${round}` } });
              }
            }),
          ],
        },
        LATE: { actions: ({ event }) => note(`late ${event.of}`) },
        "xstate.done.actor.*": {
          actions: ({ event }) => note(`done ${(event as unknown as { output?: string }).output}`),
        },
      },
    }),
  script: [
    "ROUND",
    100,
    "ROUND",
    "ROUND",
    { answer: "greet 1", with: "hello" },
    "ROUND",
    400,
    { answer: "greet 3", with: "again" },
  ],
  ends: {},
};

const routed: ChartCase = {
  name: "D86: routes: an event names the state to go to, if its guard lets it",
  make: ({ note }) =>
    setup({ types: { context: {} as { isPaid: boolean }, events: {} as { type: string } } }).createMachine({
      id: "checkout",
      initial: "cart",
      context: { isPaid: false },
      on: { PAID: { actions: assign({ isPaid: true }) } },
      states: {
        cart: { id: "cart", route: {} },
        address: { id: "address", route: {}, entry: () => note("an address is asked for") },
        thanks: { id: "thanks", route: { guard: ({ context }) => context.isPaid } },
      },
    }),
  script: [
    { type: "xstate.route", to: "#address" },
    { type: "xstate.route", to: "#thanks" },
    { type: "xstate.route", to: "#nowhere" },
    "PAID",
    { type: "xstate.route", to: "#cart" },
    { type: "xstate.route", to: "#thanks" },
  ],
  ends: "thanks",
};

class NotPlain extends Error {}

const values: ChartCase = {
  name: "values that JSON loses",
  make: () =>
    createMachine({
      id: "values",
      context: {
        at: new Date(86_400_000),
        seen: new Set(["a"]),
        counts: new Map<string, unknown>([["a", { n: 1n }]]),
        nothing: undefined,
        odd: [Number.NaN, -0, Infinity],
        where: new URL("https://example.com/a?b=c"),
        bytes: new Uint8Array([1, 2, 255]),
        error: new RangeError("far", { cause: new NotPlain("inner") }),
      },
      initial: "first",
      states: {
        first: {
          on: {
            NEXT: {
              target: "second",
              actions: assign({
                at: ({ context, event }: never) =>
                  new Date((context as { at: Date }).at.getTime() + (event as { by: number }).by),
                counts: ({ context }: never) =>
                  new Map((context as { counts: Map<string, number> }).counts).set("b", 2),
              }),
            },
          },
        },
        second: { type: "final" },
      },
      output: ({ context }: { context: { counts: unknown } }) => context.counts,
    } as never),
  script: [{ type: "NEXT", by: 5 }],
  ends: "second",
};

const computedIds: ChartCase = {
  name: "delayed events to itself, cancelled by a computed id",
  make: ({ note }) =>
    setup({
      types: {
        context: {} as { asked: number },
        events: {} as
          | { type: "ASK"; topic: string }
          | { type: "DROP"; topic: string }
          | { type: "REMIND"; topic: string },
      },
      delays: { growing: ({ context }) => context.asked * 100 },
    }).createMachine({
      id: "reminders",
      context: { asked: 0 },
      on: {
        ASK: {
          actions: [
            assign({ asked: ({ context }) => context.asked + 1 }),
            sendTo(
              ({ self }) => self,
              ({ event }) => ({ type: "REMIND", topic: event.topic }),
              { id: "self", delay: 50 },
            ),
            enqueueActions(({ enqueue, event: { topic } }) => {
              enqueue.raise({ type: "REMIND", topic: `${topic}, raised` }, { id: topic, delay: "growing" });
            }),
          ],
        },
        DROP: { actions: [cancel(({ event }) => event.topic), cancel("unknown")] },
        REMIND: { actions: ({ event }) => note(`remind of ${event.topic}`) },
      },
    }),
  script: [
    { type: "ASK", topic: "milk" },
    60,
    { type: "ASK", topic: "bread" },
    { type: "DROP", topic: "milk" },
    100,
    40,
    60,
    { type: "DROP", topic: "bread" },
  ],
  ends: {},
};

const order: ChartCase = {
  name: "order with raised and emitted events",
  make: ({ note }) =>
    setup({
      types: {
        context: {} as { total: bigint; paid: bigint },
        events: {} as { type: "ADD"; price: bigint } | { type: "PAY"; amount: bigint } | { type: "SETTLED" },
        emitted: {} as { type: "paid"; amount: bigint },
      },
      actions: { thank: () => note("thank you") },
      guards: { covers: ({ context }) => context.paid >= context.total },
    }).createMachine({
      id: "order",
      context: { total: 0n, paid: 0n },
      initial: "open",
      states: {
        open: {
          on: {
            ADD: { actions: assign({ total: ({ context, event }) => context.total + event.price }) },
            PAY: {
              actions: enqueueActions(({ enqueue, context, event, check }) => {
                enqueue.assign({ paid: context.paid + event.amount });
                enqueue(emit({ type: "paid", amount: event.amount }));
                enqueue(log("a payment"));
                enqueue("thank");
                const isCovered = check(() => context.paid + event.amount >= context.total);
                if (isCovered) enqueue(raise({ type: "SETTLED" }));
              }),
            },
            SETTLED: "settled",
          },
        },
        settled: { type: "final" },
      },
      output: ({ context }) => context.paid - context.total,
    }),
  script: [
    { type: "ADD", price: 10n ** 20n },
    { type: "PAY", amount: 1n },
    { type: "PAY", amount: 10n ** 20n },
  ],
  ends: "settled",
};

export const events: readonly ChartCase[] = [selfSending, enqueued, routed, values, computedIds, order];
