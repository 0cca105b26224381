/** An order: placed, reminded of until it is paid or forgotten, packed, and on its way. Opens in XState's own viewers. */
import { assign, setup } from "xstate";

export interface OrderInput {
  readonly orderId: string;
  /** How long a customer is left in peace before each reminder, in milliseconds. */
  readonly patienceMs: number;
}

export type OrderEvent =
  | { readonly type: "PAY" }
  | { readonly type: "PACKED"; readonly parcel: string }
  | { readonly type: "CANCEL" };

const MAX_REMINDERS = 3;

export const order = setup({
  types: {
    context: {} as OrderInput & { readonly reminders: number; readonly parcel: string | null },
    input: {} as OrderInput,
    events: {} as OrderEvent,
  },
  // Effects have a name and params here, and a body where the workflow is registered.
  actions: {
    remind: (_, _params: { readonly orderId: string; readonly number: number }) => {},
    pack: (_, _params: { readonly orderId: string }) => {},
    thank: (_, _params: { readonly orderId: string; readonly parcel: string }) => {},
  },
  guards: {
    isForgotten: ({ context }) => context.reminders >= MAX_REMINDERS,
  },
  delays: {
    patience: ({ context }) => context.patienceMs,
  },
}).createMachine({
  id: "order",
  context: ({ input }) => ({ ...input, reminders: 0, parcel: null }),
  initial: "unpaid",
  states: {
    unpaid: {
      on: { PAY: "packing", CANCEL: "cancelled" },
      after: {
        patience: [
          { guard: "isForgotten", target: "forgotten" },
          {
            target: "unpaid",
            reenter: true,
            actions: [
              assign({ reminders: ({ context }) => context.reminders + 1 }),
              {
                type: "remind",
                params: ({ context }) => ({ orderId: context.orderId, number: context.reminders }),
              },
            ],
          },
        ],
      },
    },
    packing: {
      entry: { type: "pack", params: ({ context }) => ({ orderId: context.orderId }) },
      on: {
        PACKED: {
          target: "sent",
          actions: [
            assign({ parcel: ({ event }) => event.parcel }),
            {
              type: "thank",
              params: ({ context, event }) => ({ orderId: context.orderId, parcel: event.parcel }),
            },
          ],
        },
      },
    },
    sent: { type: "final" },
    cancelled: { type: "final" },
    forgotten: { type: "final" },
  },
});
