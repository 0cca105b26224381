/** Charts with children: spawned, forwarded to, stopped, found by computed ids and by the system; failing as they begin. */
import {
  assign,
  createMachine,
  forwardTo,
  fromPromise,
  sendParent,
  sendTo,
  setup,
  spawnChild,
  stopChild,
} from "xstate";
import { clientAndServer } from "../actor-charts.ts";
import type { ChartCase, Outside } from "./chart-case.ts";

const paymentOf = ({ call, note }: Outside) =>
  setup({
    types: {
      context: {} as { amount: number; receipt: string | null },
      input: {} as { amount: number },
      output: {} as { receipt: string | null },
    },
    actors: { charge: fromPromise<string, number>(({ input }) => call("charge", input)) },
  }).createMachine({
    id: "payment",
    context: ({ input }) => ({ amount: input.amount, receipt: null }),
    initial: "charging",
    states: {
      charging: {
        entry: ({ context }) => note(`charging ${context.amount}`),
        invoke: {
          src: "charge",
          input: ({ context }) => context.amount,
          onDone: { target: "paid", actions: assign({ receipt: ({ event }) => event.output }) },
          onError: "waiting",
        },
      },
      waiting: { after: { 1_000: "charging" } },
      paid: { type: "final" },
    },
    output: ({ context }) => ({ receipt: context.receipt }),
  });

const childPerItem: ChartCase = {
  name: "a child per item",
  make: (outside) =>
    setup({
      types: {
        context: {} as { open: number; done: string[]; items: readonly string[] },
        input: {} as { items: readonly string[] },
        events: {} as { type: "ITEM_DONE"; item: string },
      },
      actors: {
        item: setup({
          types: { context: {} as { item: string }, input: {} as { item: string } },
          actors: { work: fromPromise<string, string>(({ input }) => outside.call(`work ${input}`)) },
        }).createMachine({
          id: "item",
          context: ({ input }) => input,
          initial: "working",
          states: {
            working: { invoke: { src: "work", input: ({ context }) => context.item, onDone: "done" } },
            done: {
              type: "final",
              entry: sendParent(({ context }) => ({ type: "ITEM_DONE", item: context.item })),
            },
          },
        }),
      },
    }).createMachine({
      id: "batch",
      context: ({ input }) => ({ open: input.items.length, done: [], items: input.items }),
      initial: "working",
      entry: ["a", "b", "c"].map((item) => spawnChild("item", { id: `item-${item}`, input: { item } })),
      states: {
        working: {
          on: {
            ITEM_DONE: {
              actions: assign({
                open: ({ context }) => context.open - 1,
                done: ({ context, event }) => [...context.done, event.item],
              }),
            },
          },
          always: { guard: ({ context }) => context.open === 0, target: "finished" },
        },
        // Not final: XState warns of the last child's end where its parent is gone.
        finished: {},
      },
    }),
  input: { items: ["a", "b", "c"] },
  script: [{ answer: "work b" }, { answer: "work a" }, { answer: "work c" }],
  ends: "finished",
};

const stopped: ChartCase = {
  name: "children that are stopped by name",
  make: (outside) =>
    setup({
      actors: { payment: paymentOf(outside), ask: fromPromise<string>(() => outside.call("ask")) },
    }).createMachine({
      id: "stopping",
      context: {},
      initial: "here",
      entry: [
        spawnChild("payment", { id: "first", input: { amount: 5 } }),
        spawnChild("ask", { id: "asked" }),
      ],
      on: {
        DROP: { actions: [stopChild("first"), stopChild("asked")] },
        "xstate.done.actor.asked": ".there",
        END: ".there",
      },
      states: { here: {}, there: { type: "final" } },
    }),
  script: ["DROP", "END"],
  ends: "there",
};

const addresses: ChartCase = {
  name: "XState's client and server",
  make: () => clientAndServer,
  script: ["AUTH", 1_000],
  ends: "authorized",
};

const byComputedIds: ChartCase = {
  name: "children begun, told and stopped by computed ids, known to the system by name",
  make: ({ note }) =>
    setup({
      types: {
        context: {} as { open: string[] },
        events: {} as
          | { type: "JOIN"; who: string }
          | { type: "SAY"; to: string; text: string }
          | { type: "LEAVE"; who: string }
          | { type: "ANNOUNCE"; text: string },
      },
      actors: {
        guest: setup({
          types: { context: {} as { name: string; heard: number }, input: {} as { name: string } },
        }).createMachine({
          id: "guest",
          context: ({ input }) => ({ ...input, heard: 0 }),
          on: {
            HEAR: {
              actions: [
                assign({ heard: ({ context }) => context.heard + 1 }),
                ({ context, event }) =>
                  note(
                    `${context.name} hears ${(event as unknown as { text: string }).text} (${context.heard})`,
                  ),
              ],
            },
          },
        }),
        board: createMachine({
          id: "board",
          on: { POST: { actions: ({ event }) => note(`board: ${event["text"]}`) } },
        }),
      },
    }).createMachine({
      id: "room",
      context: { open: [] },
      invoke: { id: "board", src: "board", systemId: "the-board" },
      on: {
        JOIN: {
          actions: [
            spawnChild("guest", {
              id: ({ event }) => event.who,
              input: ({ event }) => ({ name: (event as { who: string }).who }),
            }),
            assign({ open: ({ context, event }) => [...context.open, event.who] }),
          ],
        },
        SAY: {
          actions: sendTo(
            ({ event }) => event.to,
            ({ event }) => ({ type: "HEAR", text: event.text }) as never,
          ),
        },
        ANNOUNCE: {
          actions: sendTo(
            ({ system }) => system.get("the-board") as never,
            ({ event }) => ({ type: "POST", text: event.text }) as never,
          ),
        },
        LEAVE: {
          actions: [
            stopChild(({ event }) => (event as { who: string }).who),
            assign({ open: ({ context, event }) => context.open.filter((name) => name !== event.who) }),
          ],
        },
      },
    }),
  script: [
    { type: "JOIN", who: "ada" },
    { type: "JOIN", who: "bob" },
    { type: "SAY", to: "bob", text: "hello" },
    { type: "ANNOUNCE", text: "tea" },
    { type: "LEAVE", who: "ada" },
    { type: "SAY", to: "bob", text: "you there?" },
    { type: "JOIN", who: "ada" },
    { type: "SAY", to: "ada", text: "welcome back" },
  ],
  ends: {},
};

const notBegun: ChartCase = {
  name: "a child that cannot begin, and its successor that can",
  make: ({ note }) =>
    setup({
      types: { context: {} as { size: number; reason: string | null } },
      actors: {
        picky: setup({
          types: {
            context: {} as { size: number },
            input: {} as { size: number },
            output: {} as { size: number },
          },
        }).createMachine({
          id: "picky",
          context: ({ input }) => {
            if (input.size < 2) throw new RangeError(`${input.size} is too small`);
            return input;
          },
          initial: "content",
          states: { content: { type: "final" } },
          output: ({ context }) => context,
        }),
      },
    }).createMachine({
      id: "trying",
      context: { size: 0, reason: null },
      initial: "asking",
      states: {
        asking: {
          invoke: {
            src: "picky",
            input: ({ context }) => ({ size: context.size }),
            onDone: { target: "found", actions: ({ event }) => note(`found ${event.output.size}`) },
            onError: {
              target: "growing",
              actions: assign({ reason: ({ event }) => (event.error as Error).message }),
            },
          },
        },
        growing: {
          after: { 10: { target: "asking", actions: assign({ size: ({ context }) => context.size + 1 }) } },
        },
        found: { type: "final" },
      },
      output: ({ context }) => context.reason,
    }),
  script: [10, 10],
  ends: "found",
};

const cart: ChartCase = {
  name: "a cart whose items are machines that take what is forwarded",
  make: ({ note }) =>
    setup({
      types: {
        context: {} as { total: number },
        events: {} as { type: "ADD" } | { type: "PRICE"; is: number } | { type: "CHECK_OUT" },
      },
      actors: {
        item: createMachine({
          id: "item",
          context: { count: 0 },
          initial: "idle",
          states: {
            idle: {
              on: {
                ADD: { target: "priced", actions: assign({ count: ({ context }) => context.count + 1 }) },
              },
            },
            priced: {
              entry: sendParent(({ context }) => ({ type: "PRICE", is: context.count * 5 })),
              always: { guard: ({ context }) => context.count < 3, target: "idle" },
            },
          },
        }),
      },
    }).createMachine({
      id: "cart",
      context: { total: 0 },
      initial: "open",
      states: {
        open: {
          invoke: { id: "item", src: "item" },
          on: {
            ADD: { actions: forwardTo("item") },
            PRICE: { actions: assign({ total: ({ context, event }) => context.total + event.is }) },
            CHECK_OUT: [
              { guard: ({ context }) => context.total > 20, target: "paid" },
              { actions: () => note("too little") },
            ],
          },
        },
        paid: { type: "final" },
      },
      output: ({ context }) => context.total,
    }),
  script: ["ADD", "CHECK_OUT", "ADD", "ADD", "ADD", "CHECK_OUT"],
  ends: "paid",
};

export const families: readonly ChartCase[] = [
  childPerItem,
  stopped,
  addresses,
  byComputedIds,
  notBegun,
  cart,
];
