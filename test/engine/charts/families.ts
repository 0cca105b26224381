/** Charts with children: invoked machines, spawned ones, messages between them. */
import {
  assign,
  cancel,
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

const invokedMachine: ChartCase = {
  name: "an invoked machine, left and entered again",
  make: (outside) =>
    setup({
      types: { context: {} as { receipts: unknown[] } },
      actors: { payment: paymentOf(outside) },
    }).createMachine({
      id: "checkout",
      context: { receipts: [] },
      initial: "paying",
      states: {
        paying: {
          invoke: {
            id: "pay",
            src: "payment",
            input: ({ context }) => ({ amount: context.receipts.length + 1 }),
            onDone: {
              target: "paid",
              actions: assign({ receipts: ({ context, event }) => [...context.receipts, event.output] }),
            },
          },
          on: { LEAVE: "away" },
        },
        away: { on: { BACK: "paying" } },
        paid: {
          on: { MORE: "paying" },
          always: { guard: ({ context }) => context.receipts.length > 1, target: "end" },
        },
        end: { type: "final" },
      },
      output: ({ context }) => context.receipts,
    }),
  script: [
    "LEAVE",
    "BACK",
    { fail: "charge", with: "declined" },
    1_000,
    { answer: "charge", with: "r1" },
    "MORE",
    { answer: "charge", with: "r2" },
  ],
  ends: "end",
};

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

const conversation: ChartCase = {
  name: "parent and child that send to each other, with delays",
  make: ({ note }) =>
    setup({
      types: {
        context: {} as { pongs: number },
        events: {} as { type: "PING" } | { type: "PONG" } | { type: "STOP" } | { type: "HUSH" },
      },
      actors: {
        ponger: setup({
          types: { context: {} as { pings: number }, events: {} as { type: "PING" } | { type: "HUSH" } },
        }).createMachine({
          id: "ponger",
          context: { pings: 0 },
          on: {
            PING: {
              actions: [
                assign({ pings: ({ context }) => context.pings + 1 }),
                ({ context }) => note(`ping ${context.pings}`),
                sendParent({ type: "PONG" }, { delay: 500, id: "pong" }),
              ],
            },
            HUSH: { actions: cancel("pong") },
          },
        }),
      },
    }).createMachine({
      id: "pinger",
      context: { pongs: 0 },
      initial: "playing",
      states: {
        playing: {
          invoke: { id: "ponger", src: "ponger" },
          entry: sendTo("ponger", { type: "PING" }),
          on: {
            PONG: {
              actions: [
                assign({ pongs: ({ context }) => context.pongs + 1 }),
                sendTo("ponger", { type: "PING" }, { delay: 250 }),
              ],
            },
            HUSH: { actions: forwardTo("ponger") },
            STOP: "over",
          },
        },
        over: { type: "final" },
      },
      output: ({ context }) => context.pongs,
    }),
  script: [500, 250, "HUSH", 500, "STOP"],
  ends: "over",
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

export const families: readonly ChartCase[] = [
  invokedMachine,
  childPerItem,
  conversation,
  stopped,
  addresses,
];
