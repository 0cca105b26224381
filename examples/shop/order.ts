/** An order: it waits for its payment, is packed once, and the customer is given the money back where that is due. */
import { assign, fromPromise, setup } from "xstate";
import { currentRun } from "paystate/engine";
import type { Payment } from "./payments.ts";

export interface OrderInput {
  readonly id: string;
  readonly item: string;
  /** What it is paid in: USDC or SOL. */
  readonly asset: string;
  /** In whole units of the asset, as decimal text. */
  readonly price: string;
  /** The wallet that pays. Money goes back to no other. */
  readonly payer: string;
}

export interface Order extends OrderInput {
  /** The quote that the customer's wallet was last asked to sign for; null before the first. */
  readonly quoteId: string | null;
  /** Counts the refunds; it grows only when one is proved to have failed. */
  readonly refund: number;
}

/** What the payment service tells of the order's payments, and what the shop's staff decides. */
export type OrderEvent =
  | { readonly type: "PAID" | "NOT_PAID" | "RETURNED" | "REFUNDED" }
  | { readonly type: "QUOTED"; readonly quoteId: string }
  | { readonly type: "NOT_REFUNDED"; readonly reference: string };

/** The names under which the payment service knows what the customer pays, and what the customer gets back. */
export const paymentOf = ({ id }: Pick<Order, "id">): string => id;
export const refundOf = ({ id, refund }: Pick<Order, "id" | "refund">): string => `${id}/refund-${refund}`;

// Stands for the warehouse. It may run again after a crash, under the same key: so the warehouse packs once.
const pack = fromPromise<void, Order>(async ({ input }) => {
  if (input.item === "piano") throw new Error("no courier takes a piano");
  console.log(`packing a ${input.item} for ${input.id} under ${currentRun().key}`);
});

// Pays the customer back. The shop provides it, because it needs the shop's wallet.
const payBack = fromPromise<void, Payment>(() => Promise.reject(new Error("the shop provides this")));

export const order = setup({
  types: { context: {} as Order, input: {} as OrderInput, events: {} as OrderEvent },
  actors: { pack, payBack },
  guards: {
    // Webhooks come twice and out of order: of an earlier refund nothing is news.
    isThisRefund: ({ context, event }) =>
      event.type === "NOT_REFUNDED" && event.reference === refundOf(context),
  },
  actions: {
    keepQuote: assign(({ event }) => (event.type === "QUOTED" ? { quoteId: event.quoteId } : {})),
    countRefund: assign({ refund: ({ context }) => context.refund + 1 }),
  },
  delays: { returnPeriod: 14 * 24 * 60 * 60 * 1_000 },
}).createMachine({
  id: "order",
  context: ({ input }) => ({ ...input, quoteId: null, refund: 1 }),
  initial: "open",
  states: {
    open: { on: { QUOTED: { actions: "keepQuote" }, PAID: "packing", NOT_PAID: "unpaid" } },
    packing: {
      invoke: { src: "pack", input: ({ context }) => context, onDone: "sent", onError: "refunding" },
    },
    sent: { on: { RETURNED: "refunding" }, after: { returnPeriod: "kept" } },
    refunding: {
      invoke: {
        src: "payBack",
        input: ({ context: { payer, asset, price, ...rest } }) => ({
          reference: refundOf(rest),
          address: payer,
          asset,
          amount: price,
        }),
        onError: "owed",
      },
      on: {
        REFUNDED: "refunded",
        NOT_REFUNDED: { guard: "isThisRefund", target: "owed", actions: "countRefund" },
      },
    },
    // A person looks why, and says RETURNED once more. Should the refund be on its way all the same, it is found.
    owed: {
      on: {
        RETURNED: "refunding",
        REFUNDED: "refunded",
        NOT_REFUNDED: { guard: "isThisRefund", actions: "countRefund" },
      },
    },
    kept: { type: "final" },
    refunded: { type: "final" },
    unpaid: { type: "final" },
  },
});
