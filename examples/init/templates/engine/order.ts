/** An order: charged, given a day to be cancelled, and sent. */
import { setTimeout } from "node:timers/promises";
import { assign, fromPromise, setup } from "xstate";
import { currentRun, workflow } from "paystate/engine";

export interface OrderInput {
  readonly card: string;
  /** How long the customer may cancel, in milliseconds. */
  readonly patienceMs: number;
}

export interface Order extends OrderInput {
  readonly receipt: string | null;
}

// In place of a provider's API. The key is the same on every run, so that the provider charges once.
const charge = fromPromise<string, { card: string }>(async ({ input, signal }) => {
  console.log(`charging ${input.card}`);
  await setTimeout(1_000, undefined, { signal });
  return `receipt ${currentRun().key}`;
});

/** The chart, as XState's users write it. */
export const order = setup({
  types: {
    context: {} as Order,
    input: {} as OrderInput,
    events: {} as { type: "CANCEL" },
  },
  actors: { charge },
  delays: { patience: ({ context }) => context.patienceMs },
}).createMachine({
  id: "order",
  context: ({ input }) => ({ ...input, receipt: null }),
  initial: "charging",
  states: {
    charging: {
      invoke: {
        src: "charge",
        input: ({ context }) => ({ card: context.card }),
        onDone: { target: "waiting", actions: assign({ receipt: ({ event }) => event.output }) },
        onError: "declined",
      },
    },
    waiting: { on: { CANCEL: "cancelled" }, after: { patience: "sent" } },
    sent: { type: "final" },
    cancelled: { type: "final" },
    declined: { type: "final" },
  },
});

/** This line makes the chart durable. A charge that throws is tried three times more before `onError` hears of it. */
export const orders = workflow(order)({ version: 1, actors: { charge: { retry: { atMost: 3 } } } });
