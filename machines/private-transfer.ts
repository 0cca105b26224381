/** A payment order of private mode: it waits for its deposit, pays the recipients, and says how it went. */
import { assign, setup } from "xstate";
import type {
  DepositEvent,
  Message,
  PayoutOvertakenEvent,
  PaymentFault,
  PayoutEvent,
  RoutedEvent,
} from "./private-messages.ts";
import type { AnnounceParams, TransferMeta } from "./wallet-transfer.ts";

/** The input of an order. */
export interface PrivateTransferInput {
  readonly depositAddress: string;
  /**
   * The fee kept from the deposit when a recipient was paid: base units of the deposited asset, as a decimal string.
   */
  readonly fee: string;
}

/** The context of an order: counts, never the list of its recipients. */
export interface PrivateTransferContext extends PrivateTransferInput {
  /** Plans of payouts that are being made, the first one included. */
  readonly planning: number;
  /** Payouts that are not confirmed, and not finalized, yet. */
  readonly toConfirm: number;
  readonly toFinalize: number;
  readonly paid: number;
  /** Recipients that cannot be paid. */
  readonly unpaid: number;
  readonly reason: string | null;
  /** The signature of the last payout. */
  readonly signature: string | null;
  readonly blockTime: number | null;
  /** Base units kept, once that is final. */
  readonly charged: string | null;
}

/** Events of an order. */
export type PrivateTransferEvent =
  | { readonly type: "CANCEL" }
  | DepositEvent
  /** Payouts that have been started; recipients who cannot be paid, and the reason if known. */
  | RoutedEvent
  | PayoutOvertakenEvent
  /** A swap has no price that is good enough at this moment: it is asked for again. */
  | { readonly type: "NOT_NOW" }
  | (PayoutEvent & { readonly type: "PAYOUT_CONFIRMED" })
  | (PayoutEvent & { readonly type: "PAYOUT_FINALIZED" })
  | (PayoutEvent & { readonly type: "PAYOUT_FAILED" });

/** The source of params. @inline */
interface ContextOnly {
  readonly context: PrivateTransferContext;
}

const settleAddress = {
  type: "tell",
  params: ({ context }: ContextOnly): Message => ({
    machine: "deposit-address",
    id: context.depositAddress,
    event: { type: "OVER", fee: context.paid > 0 ? context.fee : "0" },
  }),
} as const;

/**
 * Only `awaitingDeposit` hears CANCEL, and only FUNDED leads to `routing`, where payouts are planned: an order is
 * cancelled or routed and never both. When it is over it sends a message to its deposit address, which owns every refund.
 * A status never goes back: an order that was confirmed does not return to `refunding`.
 */
export const privateTransfer = setup({
  types: {
    context: {} as PrivateTransferContext,
    input: {} as PrivateTransferInput,
    events: {} as PrivateTransferEvent,
    meta: {} as TransferMeta,
  },
  actions: {
    /** Plans the payouts of all recipients and starts them. */
    route: () => {},
    /** Plans again what a failed payout was to pay; a payee it failed for is left out or left alone. */
    reroute: (_, _params: { payment: string; fault: PaymentFault | null }) => {},
    announce: (_, _params: AnnounceParams) => {},
    tell: (_, _params: Message) => {},
  },
  guards: {
    anythingCame: (_, params: { received: boolean }) => params.received,
    isEverybodyPaid: ({ context }) => isThrough(context) && context.unpaid === 0 && context.paid > 0,
    isThrough: ({ context }) => isThrough(context),
    isEverybodyConfirmed: ({ context }) =>
      context.planning === 0 && context.toConfirm === 0 && context.unpaid === 0,
  },
  delays: {
    /** Long enough for prices and liquidity to have changed, short enough for the one who waits. */
    pricePause: 10_000,
  },
}).createMachine({
  id: "private-transfer",
  context: ({ input }) => ({
    ...input,
    planning: 1,
    toConfirm: 0,
    toFinalize: 0,
    paid: 0,
    unpaid: 0,
    reason: null,
    signature: null,
    blockTime: null,
    charged: null,
  }),
  initial: "awaitingDeposit",
  on: {
    // The counts; where they lead to is said by the states that wait for them.
    ROUTED: {
      actions: assign({
        planning: ({ context }) => context.planning - 1,
        toConfirm: ({ context, event }) => context.toConfirm + event.payouts,
        toFinalize: ({ context, event }) => context.toFinalize + event.payouts,
        unpaid: ({ context, event }) => context.unpaid + event.unpaid,
        reason: ({ context, event }) => event.reason ?? context.reason,
      }),
    },
    PAYOUT_CONFIRMED: {
      actions: assign({
        toConfirm: ({ context }) => context.toConfirm - 1,
        signature: ({ event }) => event.signature,
      }),
    },
    PAYOUT_FINALIZED: {
      actions: assign({
        toConfirm: ({ context, event }) => context.toConfirm - (event.wasConfirmed ? 0 : 1),
        toFinalize: ({ context }) => context.toFinalize - 1,
        paid: ({ context, event }) => context.paid + event.indexes.length,
        signature: ({ event }) => event.signature,
        blockTime: ({ context, event }) => latest(context.blockTime, event.blockTime),
      }),
    },
    PAYOUT_FAILED: {
      actions: [
        assign({
          planning: ({ context }) => context.planning + 1,
          toConfirm: ({ context, event }) => context.toConfirm - (event.wasConfirmed ? 0 : 1),
          toFinalize: ({ context }) => context.toFinalize - 1,
        }),
        {
          type: "reroute",
          params: ({ event }) => ({ payment: event.payment, fault: event.fault }),
        },
      ],
    },
    PAYOUT_OVERTAKEN: { actions: assign(({ context, event }) => overtaken(context, event)) },
  },
  states: {
    awaitingDeposit: {
      meta: { status: "pending" },
      entry: { type: "announce", params: { notice: "transaction.pending" } },
      on: {
        CANCEL: { target: "cancelled", actions: settleAddress },
        DEPOSIT_SEEN: "depositDetected",
        DEPOSIT_FINALIZED: "checking",
        FUNDED: "routing",
        DECLINED: { target: "refunding", actions: assign({ reason: ({ event }) => event.reason }) },
        WINDOW_CLOSED: [
          {
            guard: { type: "anythingCame", params: ({ event }) => ({ received: event.received }) },
            target: "refunding",
            actions: assign({ reason: "INCOMPLETE_DEPOSIT" }),
          },
          { target: "failed", actions: [assign({ reason: "DEPOSIT_TIMEOUT", charged: "0" }), settleAddress] },
        ],
      },
    },
    depositDetected: {
      meta: { status: "pending" },
      on: {
        DEPOSIT_FINALIZED: "checking",
        FUNDED: "routing",
        DECLINED: { target: "refunding", actions: assign({ reason: ({ event }) => event.reason }) },
        WINDOW_CLOSED: [
          {
            guard: { type: "anythingCame", params: ({ event }) => ({ received: event.received }) },
            target: "refunding",
            actions: assign({ reason: "INCOMPLETE_DEPOSIT" }),
          },
          // The deposit that was seen has vanished with its fork.
          { target: "failed", actions: [assign({ reason: "DEPOSIT_TIMEOUT", charged: "0" }), settleAddress] },
        ],
      },
    },
    // The money is there for good; nothing is paid before the host's screening lets it pass.
    checking: {
      meta: { status: "processing" },
      on: {
        FUNDED: "routing",
        DECLINED: { target: "refunding", actions: assign({ reason: ({ event }) => event.reason }) },
      },
    },
    routing: {
      meta: { status: "processing" },
      entry: "route",
      always: [
        {
          guard: "isEverybodyPaid",
          target: "completed",
          actions: { type: "announce", params: { notice: "transaction.confirmed" } },
        },
        {
          guard: "isThrough",
          target: "refunding",
          actions: assign({ reason: ({ context }) => partialReason(context) }),
        },
        { guard: "isEverybodyConfirmed", target: "settling" },
      ],
      on: {
        NOT_NOW: "waitingForPrice",
        DECLINED: { target: "refunding", actions: assign({ reason: ({ event }) => event.reason }) },
      },
    },
    // Only swaps come here.
    waitingForPrice: {
      meta: { status: "processing" },
      after: { pricePause: "routing" },
      on: {
        DECLINED: { target: "refunding", actions: assign({ reason: ({ event }) => event.reason }) },
      },
    },
    // Every payout is confirmed; the last ones become final.
    settling: {
      meta: { status: "confirmed" },
      entry: { type: "announce", params: { notice: "transaction.confirmed" } },
      always: [
        { guard: "isEverybodyPaid", target: "completed" },
        {
          guard: "isThrough",
          target: "failed",
          actions: [
            assign({
              reason: ({ context }) => partialReason(context),
              charged: ({ context }) => (context.paid > 0 ? context.fee : "0"),
            }),
            settleAddress,
          ],
        },
      ],
    },
    refunding: {
      meta: { status: "processing" },
      entry: settleAddress,
      on: {
        SETTLED: [
          {
            guard: "isEverybodyPaid",
            target: "completed",
            actions: { type: "announce", params: { notice: "transaction.confirmed" } },
          },
          {
            target: "failed",
            actions: assign({
              charged: ({ context }) => (context.paid > 0 ? context.fee : "0"),
              reason: ({ context }) => partialReason(context),
            }),
          },
        ],
        // The refund met a payout that had landed: the fee is due after all.
        PAYOUT_OVERTAKEN: {
          actions: [assign(({ context, event }) => overtaken(context, event)), settleAddress],
        },
      },
    },
    completed: {
      type: "final",
      meta: { status: "completed" },
      entry: [
        // Whatever was wrong for a while.
        assign({ charged: ({ context }) => context.fee, reason: null }),
        { type: "announce", params: { notice: "transaction.completed" } },
        settleAddress,
      ],
    },
    failed: {
      type: "final",
      meta: { status: "failed" },
      entry: { type: "announce", params: { notice: "transaction.failed" } },
    },
    cancelled: { type: "final", meta: { status: "cancelled" } },
  },
});

function isThrough({ planning, toFinalize }: PrivateTransferContext): boolean {
  return planning === 0 && toFinalize === 0;
}

function partialReason({ paid, reason }: PrivateTransferContext): string {
  return paid > 0 ? "PARTIAL_PAYOUT" : (reason ?? "PAYOUT_FAILED");
}

/** The counts after another payment of the same marker has landed in the place of one that was counted. */
function overtaken(
  context: PrivateTransferContext,
  event: PayoutOvertakenEvent,
): Partial<PrivateTransferContext> {
  const { role, wasConfirmed, hasLeaves, paid, unpaid, signature, blockTime } = event;
  const isPayout = role === "payout";
  return {
    planning: context.planning - (role === "plan" && !hasLeaves ? 1 : 0),
    toConfirm: context.toConfirm - (isPayout && !wasConfirmed ? 1 : 0),
    toFinalize: context.toFinalize - (isPayout ? 1 : 0),
    paid: context.paid + paid,
    unpaid: Math.max(0, context.unpaid + unpaid),
    signature: paid > 0 ? signature : context.signature,
    blockTime: paid > 0 ? latest(context.blockTime, blockTime) : context.blockTime,
  };
}

function latest(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}
