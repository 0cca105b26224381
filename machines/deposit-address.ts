/** A one-time deposit address: deposits, payments, and all refunds, long after its order. */
import { assign, setup } from "xstate";
import {
  book,
  granted,
  hasDeposit,
  isRefund,
  released,
  rested,
  younger,
  type DepositAddressContext,
  type DepositAddressEvent,
  type DepositAddressInput,
  type RestingState,
  type ReturnParams,
  type SettlementParams,
} from "./deposit-address-context.ts";
import {
  accounted,
  areMoreOthers,
  holds,
  isDeposit,
  isNews,
  received,
  withOthers,
  type Reading,
} from "./deposit-tally.ts";
import type { DepositEvent, Message } from "./private-messages.ts";

/** The source of params. @inline */
interface ContextOnly {
  readonly context: DepositAddressContext;
}

/** After so many failures in a row, each pause twice as long as the one before, an operator must look: 21 hours. */
const MAX_LOSSES = 8;

const tellOrder = (event: DepositEvent) =>
  ({
    type: "tell",
    params: ({ context }: ContextOnly): Message => ({
      machine: "private-transfer",
      id: context.order,
      event,
    }),
  }) as const;

const planReturn = {
  type: "planReturn",
  params: ({
    context: { settledSlot },
    event: { mint, to, atMost },
  }: ContextOnly & { readonly event: Omit<ReturnParams, "settledSlot"> }): ReturnParams => ({
    mint,
    to,
    ...(atMost === undefined ? {} : { atMost }),
    settledSlot,
  }),
} as const;

/**
 * While the order lives, the address only counts; once it is OVER, what is neither paid out nor fee goes back to the
 * sender, one refund at a time, and what then remains is swept, so that the address ends at exactly nothing. Money that
 * comes later is refunded in the same way: `settling` looks at the chain again each time and plans the next step.
 * Tokens of any other mint stay until an operator orders their return.
 *
 * Only one payment of its own is under way at a time, and its news is recognised by its id, so that late news of
 * another payment changes only the sums.
 */
export const depositAddress = setup({
  types: {
    context: {} as DepositAddressContext,
    input: {} as DepositAddressInput,
    events: {} as DepositAddressEvent,
  },
  actions: {
    /** Looks for deposits beside the associated token account, in a block not older than this slot. */
    planCollection: (_, _params: { fromSlot: number }) => {},
    screen: () => {},
    planSettlement: (_, _params: SettlementParams) => {},
    planReturn: (_, _params: ReturnParams) => {},
    tell: (_, _params: Message) => {},
  },
  guards: {
    isFunded: ({ context }, reading: Reading) => holds(context, reading, context.required),
    isFundedUnscreened: ({ context }, reading: Reading) =>
      !context.isScreened && holds(context, reading, context.required),
    isWindowOver: ({ context }, reading: Reading & { blockTime: number; isDisputed?: true }) =>
      reading.slot >= context.settledSlot &&
      reading.blockTime > context.expiresAt &&
      reading.isDisputed !== true,
    isDeposit: ({ context }, reading: Reading) => isNews(context, reading) && isDeposit(context, reading),
    isNews: ({ context }, reading: Reading) => isNews(context, reading),
    areMoreOthers: ({ context }, reading: Reading) => areMoreOthers(context, reading),
    isUnderWay: ({ context }, params: { payment: string }) => params.payment === context.underWay,
    isUnderWayAndOver: ({ context }, params: { payment: string }) =>
      params.payment === context.underWay && context.isOver,
    isLastLoss: ({ context }, params: { payment: string }) =>
      params.payment === context.underWay && context.losses + 1 >= MAX_LOSSES,
    isOver: ({ context }) => context.isOver,
    isRecovered: ({ context }) => context.isRecovered === true,
    isPastWindow: ({ context }) => context.isPastWindow,
    hasRefunded: ({ context }) => context.hasRefunded,
    isIn: ({ context }, params: { lane: RestingState }) => params.lane === context.lane,
  },
  delays: {
    linger: ({ context }) => context.lingerMs,
    age: ({ context }) => context.agingMs,
    quiet: ({ context }) => context.quietMs,
    slow: ({ context }) => context.slowMs,
    pause: ({ context: { refundPauseMs, losses } }) => refundPauseMs * 2 ** Math.max(0, losses - 1),
  },
}).createMachine({
  id: "deposit-address",
  context: ({ input }) => ({
    ...input,
    received: {},
    spent: {},
    settledSlot: 0,
    landed: 0,
    underWay: null,
    isPastWindow: false,
    isOver: input.isRecovered === true,
    fee: "0",
    hasRefunded: false,
    losses: 0,
    lane: "lingering",
    closeAbove: null,
    allowance: input.sponsorCap,
    heldReason: input.isRecovered === true ? "recovered" : null,
  }),
  initial: "waiting",
  on: {
    PAYMENT_LANDED: { actions: assign(({ context, event }) => book(context, event)) },
    OVER: { actions: assign({ isOver: true, fee: ({ event }) => event.fee }) },
    RELEASE: { actions: assign(({ context }) => released(context)) },
    OTHER_MINTS_READ: {
      guard: { type: "areMoreOthers", params: ({ event }) => event },
      actions: assign({ received: ({ context, event }) => withOthers(context, event) }),
    },
  },
  states: {
    waiting: {
      meta: { watches: ["deposits"] },
      always: { guard: "isRecovered", target: "held" },
      on: {
        BALANCES_READ: [
          {
            guard: { type: "isFundedUnscreened", params: ({ event }) => event },
            target: "spending",
            actions: [
              assign({ received: ({ context, event }) => received(context, event) }),
              tellOrder({ type: "FUNDED" }),
            ],
          },
          {
            guard: { type: "isFunded", params: ({ event }) => event },
            target: "screening",
            actions: [
              assign({ received: ({ context, event }) => received(context, event) }),
              tellOrder({ type: "DEPOSIT_FINALIZED" }),
            ],
          },
          {
            guard: { type: "isWindowOver", params: ({ event }) => event },
            target: "collecting",
            actions: assign({
              received: ({ context, event }) => received(context, event),
              settledSlot: ({ event }) => event.slot,
              isPastWindow: true,
            }),
          },
          {
            guard: { type: "isDeposit", params: ({ event }) => event },
            actions: [
              assign({ received: ({ context, event }) => received(context, event) }),
              tellOrder({ type: "DEPOSIT_SEEN" }),
            ],
          },
          {
            guard: { type: "isNews", params: ({ event }) => event },
            actions: assign({ received: ({ context, event }) => received(context, event) }),
          },
        ],
        STRAY_SEEN: "collecting",
        REDIRECT: { target: "declining", actions: assign(({ context }) => released(context)) },
        OVER: {
          target: "settling",
          actions: assign({ isOver: true, fee: ({ event }) => event.fee }),
        },
      },
    },
    // Money in token accounts other than the associated one is moved to the associated account, where all money is
    // counted.
    collecting: {
      initial: "looking",
      states: {
        looking: {
          entry: {
            type: "planCollection",
            params: ({ context }) => ({ fromSlot: context.settledSlot }),
          },
          on: {
            COLLECTION_PLANNED: {
              target: "moving",
              actions: [
                assign({ underWay: ({ event }) => event.payment }),
                tellOrder({ type: "DEPOSIT_SEEN" }),
              ],
            },
            NOTHING_STRAY: "looked",
            PAID_ELSEWHERE: [
              { guard: "isOver", target: "looked" },
              { target: "#deposit-address.spending", actions: tellOrder({ type: "FUNDED" }) },
            ],
          },
        },
        moving: {
          on: {
            PAYMENT_LANDED: [
              {
                guard: { type: "isUnderWayAndOver", params: ({ event }) => event },
                target: "#deposit-address.settling",
                actions: assign(({ context, event }) => book(context, event)),
              },
              {
                guard: { type: "isUnderWay", params: ({ event }) => event },
                // The next reading counts it, and when the window has ended asks once more what else there is.
                target: "#deposit-address.waiting",
                actions: assign(({ context, event }) => ({ ...book(context, event), isPastWindow: false })),
              },
              { actions: assign(({ context, event }) => book(context, event)) },
            ],
            PAYMENT_LOST: {
              guard: { type: "isUnderWay", params: ({ event }) => event },
              target: "looked",
            },
          },
        },
        looked: {
          always: [
            { guard: "isOver", target: "#deposit-address.settling" },
            { guard: "isPastWindow", target: "#deposit-address.closing" },
            { target: "#deposit-address.waiting" },
          ],
        },
      },
    },
    screening: {
      entry: "screen",
      on: {
        CLEARED: [
          { guard: "isOver", target: "settling" },
          { target: "spending", actions: tellOrder({ type: "FUNDED" }) },
        ],
        HELD: { target: "heldBack", actions: assign({ heldReason: ({ event }) => event.reason }) },
      },
    },
    heldBack: {
      meta: { waitsFor: "operator" },
      on: {
        RELEASE: [
          {
            guard: "isOver",
            target: "settling",
            actions: assign(({ context }) => released(context)),
          },
          {
            target: "spending",
            actions: [assign(({ context }) => released(context)), tellOrder({ type: "FUNDED" })],
          },
        ],
        REDIRECT: [
          {
            guard: "isOver",
            target: "settling",
            actions: assign(({ context }) => released(context)),
          },
          { target: "declining", actions: assign(({ context }) => released(context)) },
        ],
      },
    },
    // The order ends without paying anybody; it says when it has.
    declining: {
      entry: tellOrder({ type: "DECLINED", reason: "REFUNDED_BY_OPERATOR" }),
      on: {
        OVER: { target: "settling", actions: assign({ isOver: true, fee: ({ event }) => event.fee }) },
      },
    },
    // The order pays out; it says when it is done.
    spending: {
      on: {
        REDIRECT: { target: "declining", actions: assign(({ context }) => released(context)) },
        OVER: { target: "settling", actions: assign({ isOver: true, fee: ({ event }) => event.fee }) },
      },
    },
    closing: {
      entry: {
        type: "tell",
        params: ({ context }): Message => ({
          machine: "private-transfer",
          id: context.order,
          event: { type: "WINDOW_CLOSED", received: hasDeposit(context) },
        }),
      },
      on: {
        OVER: { target: "settling", actions: assign({ isOver: true, fee: ({ event }) => event.fee }) },
      },
    },
    settling: {
      entry: {
        type: "planSettlement",
        params: ({ context: { fee, hasRefunded, closeAbove, lane } }): SettlementParams => ({
          fee,
          mayRefund: !hasRefunded,
          closeAbove: lane === "lingering" || lane === "aging" ? null : closeAbove,
        }),
      },
      on: {
        COLLECTION_PLANNED: {
          target: "moving",
          actions: assign({ underWay: ({ event }) => event.payment }),
        },
        REFUND_PLANNED: {
          target: "moving",
          actions: assign(({ context, event }) => ({
            ...accounted(context, event),
            ...younger(context),
            underWay: event.payment,
          })),
        },
        SWEEP_PLANNED: {
          target: "moving",
          actions: [
            assign(({ context, event }) => ({ ...accounted(context, event), underWay: event.payment })),
            tellOrder({ type: "SETTLED" }),
          ],
        },
        MUST_WAIT: {
          target: "cooling",
          actions: assign(({ context, event }) => accounted(context, event)),
        },
        AT_REST: {
          target: "settled",
          actions: [assign(({ context, event }) => rested(context, event)), tellOrder({ type: "SETTLED" })],
        },
        HELD: {
          target: "held",
          actions: [assign({ heldReason: ({ event }) => event.reason }), tellOrder({ type: "SETTLED" })],
        },
      },
    },
    settled: {
      always: [
        { guard: "hasRefunded", target: "cooling" },
        { guard: { type: "isIn", params: { lane: "lingering" } }, target: "atRest.lingering" },
        { guard: { type: "isIn", params: { lane: "aging" } }, target: "atRest.aging" },
        { guard: { type: "isIn", params: { lane: "slowLane" } }, target: "atRest.slowLane" },
        { guard: { type: "isIn", params: { lane: "closed" } }, target: "atRest.closed" },
        { target: "atRest.resting" },
      ],
    },
    // One payment at a time is under way.
    moving: {
      on: {
        PAYMENT_LANDED: [
          {
            guard: { type: "isUnderWay", params: ({ event }) => event },
            target: "settling",
            actions: assign(({ context, event }) => ({
              ...book(context, event),
              losses: 0,
              hasRefunded: context.hasRefunded || event.movements.some((each) => isRefund(context, each)),
            })),
          },
          { actions: assign(({ context, event }) => book(context, event)) },
        ],
        PAYMENT_LOST: [
          {
            guard: { type: "isLastLoss", params: ({ event }) => event },
            target: "held",
            actions: [
              assign({ underWay: null, heldReason: "payment_fails" }),
              tellOrder({ type: "SETTLED" }),
            ],
          },
          {
            guard: { type: "isUnderWay", params: ({ event }) => event },
            target: "cooling",
            actions: assign({
              underWay: null,
              hasRefunded: true,
              losses: ({ context }) => context.losses + 1,
            }),
          },
        ],
      },
    },
    returning: {
      on: {
        RETURN_PLANNED: {
          target: "moving",
          actions: assign(({ context, event }) => ({
            ...younger(context),
            received: received(context, event),
            underWay: event.payment,
          })),
        },
        NOTHING_TO_RETURN: "settling",
        HELD: { target: "held", actions: assign({ heldReason: ({ event }) => event.reason }) },
      },
    },
    // At most one refund in this time, and what failed is not tried again sooner.
    cooling: {
      after: { pause: { target: "settling", actions: assign({ hasRefunded: false }) } },
    },
    // Each lane ends with one more look at everything, since the watch sees associated accounts only.
    atRest: {
      initial: "resting",
      on: {
        BALANCES_READ: { guard: { type: "isNews", params: ({ event }) => event }, target: "settling" },
        RELEASE: { target: "settling", actions: assign(({ context }) => released(context)) },
        REDIRECT: {
          target: "settling",
          actions: assign(({ context }) => released(context)),
        },
        RETURN: { target: "returning", actions: [assign(({ context }) => granted(context)), planReturn] },
      },
      states: {
        lingering: {
          meta: { watches: ["recentDeposits"] },
          after: { linger: { target: "#deposit-address.settling", actions: assign({ lane: "aging" }) } },
        },
        // The markers stay until the bytes that they refuse are dead.
        aging: {
          meta: { watches: ["lateDeposits"] },
          after: { age: { target: "#deposit-address.settling", actions: assign({ lane: "resting" }) } },
        },
        resting: {
          meta: { watches: ["lateDeposits"] },
          after: { quiet: { target: "#deposit-address.settling", actions: assign({ lane: "slowLane" }) } },
        },
        slowLane: {
          meta: { watches: ["slowDeposits"] },
          after: { slow: { target: "#deposit-address.settling", actions: assign({ lane: "closed" }) } },
        },
        // It is not watched any more. An operator can still have it settled at any time.
        closed: { meta: { waitsFor: "operator" } },
      },
    },
    held: {
      meta: { waitsFor: "operator" },
      on: {
        RELEASE: { target: "settling", actions: assign(({ context }) => released(context)) },
        REDIRECT: {
          target: "settling",
          actions: assign(({ context }) => released(context)),
        },
      },
    },
  },
});
