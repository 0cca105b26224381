/** An order: the card is charged, the parcel is booked, and the customer is given the money back where it cannot be. */
import { setTimeout } from "node:timers/promises";
import { assign, fromPromise, setup } from "xstate";
import { currentRun } from "paystate/engine";

export interface OrderInput {
  readonly card: string;
  /** In cents. */
  readonly amount: number;
}

/** Whether a body that came from outside is an order. */
export function isOrderInput(value: unknown): value is OrderInput {
  const { card, amount } = (value ?? {}) as Partial<Record<string, unknown>>;
  return typeof card === "string" && typeof amount === "number" && Number.isSafeInteger(amount) && amount > 0;
}

// These stand for calls of services. `signal` aborts when the state is left; the key is the same on every run.
const charge = fromPromise<string, OrderInput>(async ({ input, signal }) => {
  await setTimeout(300, undefined, { signal });
  if (input.card === "0000") throw new Error("the card was declined");
  return `charged ${input.amount} under ${currentRun().key}`;
});
const book = fromPromise<string, { amount: number }>(async ({ input, signal }) => {
  await setTimeout(100, undefined, { signal });
  if (input.amount > 100_000) throw new Error("no courier takes a parcel of this value");
  return "parcel-7";
});
const refund = fromPromise<void, { receipt: string | null }>(async () => {});

export const order = setup({
  types: {
    context: {} as OrderInput & { readonly receipt: string | null },
    input: {} as OrderInput,
    events: {} as { type: "CANCEL" },
  },
  actors: { charge, book, refund },
  delays: { patience: 30_000 },
}).createMachine({
  id: "order",
  context: ({ input }) => ({ ...input, receipt: null }),
  initial: "charging",
  states: {
    charging: {
      invoke: {
        src: "charge",
        input: ({ context }) => context,
        onDone: { target: "booking", actions: assign({ receipt: ({ event }) => event.output }) },
        onError: "declined",
      },
    },
    booking: {
      invoke: {
        src: "book",
        input: ({ context }) => context,
        onDone: "sent",
        onError: "refunding",
      },
      on: { CANCEL: "refunding" },
      after: { patience: "refunding" },
    },
    refunding: {
      invoke: { src: "refund", input: ({ context }) => context, onDone: "refunded" },
    },
    sent: { type: "final" },
    refunded: { type: "final" },
    declined: { type: "final" },
  },
});
