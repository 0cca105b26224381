/** A one-time deposit address: what comes in, what goes out, and everything that has to go back, long after its order. */
import { assign, setup } from "xstate";
import { accounted, holds, isDeposit, isNews, received, spend } from "./deposit-levels.ts";
import type { Amounts, DepositLevels, Reading } from "./deposit-levels.ts";
import type { DepositNews, Message, Movement, OrderOver, SpendingNews } from "./private-messages.ts";

/** What a deposit address begins with. */
export interface DepositAddressInput {
  readonly address: string;
  readonly order: string;
  /** Mint and base units of what is asked for. */
  readonly mint: string;
  readonly required: string;
  /** From what amount on money of each asset counts as a deposit, by mint. */
  readonly smallest: Amounts;
  /** The mint of what the network charges rent in, as `smallest` has it. */
  readonly rentMint: string;
  /** End of the deposit window, in milliseconds of the chain's clock. */
  readonly expiresAt: number;
  /** How long it is watched closely after the last thing that happened, and how long now and then after that. */
  readonly quietMs: number;
  readonly slowMs: number;
  /** Pause between two refunds, and before what failed is tried again. */
  readonly refundPauseMs: number;
  /** What all transactions of the order may cost the sponsor, in lamports; every release grants it once more. */
  readonly sponsorCap: string;
  /** Whether those who paid in are looked at before anything is paid out. */
  readonly isScreened: boolean;
}

/** What an address knows of itself. */
export interface DepositAddressContext extends DepositAddressInput, DepositLevels {
  /** Payments of this address that have landed. */
  readonly landed: number;
  /** The payment that is under way. */
  readonly underWay: string | null;
  /** Whether a finalized block past the deposit window has been seen. */
  readonly isPastWindow: boolean;
  /** Whether the order has said that it is over, and what it keeps of the deposit. */
  readonly isOver: boolean;
  readonly fee: string;
  /** Whether a refund was made since the last pause, and how many payments in a row have failed. */
  readonly hasRefunded: boolean;
  readonly losses: number;
  /** Where it rests next. */
  readonly lane: "resting" | "slowLane" | "closed";
  /** What the sponsor may spend on it, in lamports. */
  readonly allowance: string;
  /** Whether an operator has let its money pass. */
  readonly isReleased: boolean;
  /** Why an operator has to look. */
  readonly heldReason: string | null;
}

/** What an address reacts to. */
export type DepositAddressEvent =
  | ({ readonly type: "BALANCES_READ"; /** Milliseconds. */ readonly blockTime: number } & Reading)
  /** A token account of this owner that is not its associated one holds a deposit. */
  | { readonly type: "STRAY_SEEN" }
  /** Such accounts are being emptied into the associated one. */
  | { readonly type: "COLLECTION_PLANNED"; readonly payment: string }
  | { readonly type: "NOTHING_STRAY" }
  /** Whoever paid in may be served. */
  | { readonly type: "CLEARED" }
  | OrderOver
  | SpendingNews
  /** A payment back to the sender was planned and started. */
  | ({ readonly type: "REFUND_PLANNED"; readonly payment: string } & Reading)
  /** All that goes back has gone back; what is left is being swept. */
  | ({ readonly type: "SWEEP_PLANNED"; readonly payment: string } & Reading)
  /** An operator's word: what is there of another mint goes to this owner. */
  | { readonly type: "RETURN"; readonly mint: string; readonly to: string }
  /** It is on its way. */
  | ({ readonly type: "RETURN_PLANNED"; readonly payment: string } & Reading)
  | { readonly type: "NOTHING_TO_RETURN" }
  /** Something is to be refunded, but not so soon after the last refund. */
  | ({ readonly type: "MUST_WAIT" } & Reading)
  /** Nothing is left that could be sent anywhere. */
  | ({ readonly type: "AT_REST" } & Reading)
  /** Something that nobody can explain, or that only an operator may decide. */
  | { readonly type: "HELD"; readonly reason: string }
  /** An operator has looked. */
  | { readonly type: "RELEASE" };

/** What the next step of settling an address depends on, besides the chain. */
export interface SettlementParams {
  /** A reading from before this slot does not show all that went out. */
  readonly settledSlot: number;
  /** How many payments this address has been told of: a reading may show one more. */
  readonly landed: number;
  /** What the order keeps, in base units of the expected asset. */
  readonly fee: string;
  readonly mayRefund: boolean;
  readonly isReleased: boolean;
}

/** What of another mint goes where, by an operator's word. */
export interface ReturnParams {
  readonly mint: string;
  readonly to: string;
  /** A reading from before this slot does not show all that went out. */
  readonly settledSlot: number;
}

interface ContextOnly {
  readonly context: DepositAddressContext;
}

/** After so many failures in a row, each pause twice as long as the one before, an operator must look: 21 hours. */
const MOST_LOSSES = 8;

const tellOrder = (event: DepositNews) =>
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
    event: { mint, to },
  }: ContextOnly & { readonly event: Omit<ReturnParams, "settledSlot"> }): ReturnParams => ({
    ...{ mint, to, settledSlot },
  }),
} as const;

/**
 * While the order lives, the address only counts; once it is OVER, whatever is neither paid out nor fee goes back to
 * the sender, one refund at a time, and what then remains is swept, so that the address ends at exactly nothing. Money
 * that comes later is refunded in the same way: `settling` looks at the chain anew each time and plans the next step.
 * Tokens of any other mint stay until an operator says where they go.
 *
 * One payment of its own is under way at a time, and what comes of it is heard by its id, so that late news of another
 * changes nothing but the sums.
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
    isWindowOver: ({ context }, reading: Reading & { blockTime: number }) =>
      reading.slot >= context.settledSlot && reading.blockTime > context.expiresAt,
    isDeposit: ({ context }, reading: Reading) => isNews(context, reading) && isDeposit(context, reading),
    isNews: ({ context }, reading: Reading) => isNews(context, reading),
    isUnderWay: ({ context }, params: { payment: string }) => params.payment === context.underWay,
    isUnderWayAndOver: ({ context }, params: { payment: string }) =>
      params.payment === context.underWay && context.isOver,
    isLastLoss: ({ context }, params: { payment: string }) =>
      params.payment === context.underWay && context.losses + 1 >= MOST_LOSSES,
    isOver: ({ context }) => context.isOver,
    isPastWindow: ({ context }) => context.isPastWindow,
    hasRefunded: ({ context }) => context.hasRefunded,
    goesToSlowLane: ({ context }) => context.lane === "slowLane",
    isToBeClosed: ({ context }) => context.lane === "closed",
  },
  delays: {
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
    isOver: false,
    fee: "0",
    hasRefunded: false,
    losses: 0,
    lane: "resting",
    allowance: input.sponsorCap,
    isReleased: false,
    heldReason: null,
  }),
  initial: "waiting",
  on: {
    PAYMENT_LANDED: { actions: assign(({ context, event }) => book(context, event)) },
    OVER: { actions: assign({ isOver: true, fee: ({ event }) => event.fee }) },
    RELEASE: { actions: assign(({ context }) => released(context)) },
  },
  states: {
    waiting: {
      meta: { watches: ["deposits"] },
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
        OVER: {
          target: "settling",
          actions: assign({ isOver: true, fee: ({ event }) => event.fee }),
        },
      },
    },
    // Money that came to another token account than the associated one is brought there, where all of it is counted.
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
      },
    },
    // The order pays out; it says when it is done.
    spending: {
      on: {
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
        params: ({ context: { settledSlot, landed, fee, hasRefunded, isReleased } }) => ({
          settledSlot,
          landed,
          fee,
          mayRefund: !hasRefunded,
          isReleased,
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
        AT_REST: [
          {
            guard: "hasRefunded",
            target: "cooling",
            actions: [
              assign(({ context, event }) => accounted(context, event)),
              tellOrder({ type: "SETTLED" }),
            ],
          },
          {
            guard: "goesToSlowLane",
            target: "slowLane",
            actions: [
              assign(({ context, event }) => accounted(context, event)),
              tellOrder({ type: "SETTLED" }),
            ],
          },
          {
            guard: "isToBeClosed",
            target: "closed",
            actions: [
              assign(({ context, event }) => accounted(context, event)),
              tellOrder({ type: "SETTLED" }),
            ],
          },
          {
            target: "resting",
            actions: [
              assign(({ context, event }) => accounted(context, event)),
              tellOrder({ type: "SETTLED" }),
            ],
          },
        ],
        HELD: {
          target: "held",
          actions: [assign({ heldReason: ({ event }) => event.reason }), tellOrder({ type: "SETTLED" })],
        },
      },
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
            received: received(context, event),
            underWay: event.payment,
          })),
        },
        NOTHING_TO_RETURN: "settling",
        HELD: { target: "held", actions: assign({ heldReason: ({ event }) => event.reason }) },
      },
    },
    // At most one refund in this time, and whatever failed is not tried again sooner.
    cooling: {
      after: { pause: { target: "settling", actions: assign({ hasRefunded: false }) } },
    },
    // Each lane ends with one more look at everything, since the watch sees associated accounts only.
    resting: {
      meta: { watches: ["lateDeposits"] },
      after: { quiet: { target: "settling", actions: assign({ lane: "slowLane" }) } },
      on: {
        BALANCES_READ: { guard: { type: "isNews", params: ({ event }) => event }, target: "settling" },
        RELEASE: { target: "settling", actions: assign(({ context }) => released(context)) },
        RETURN: { target: "returning", actions: [assign(({ context }) => granted(context)), planReturn] },
      },
    },
    slowLane: {
      meta: { watches: ["slowDeposits"] },
      after: { slow: { target: "settling", actions: assign({ lane: "closed" }) } },
      on: {
        BALANCES_READ: { guard: { type: "isNews", params: ({ event }) => event }, target: "settling" },
        RELEASE: { target: "settling", actions: assign(({ context }) => released(context)) },
        RETURN: { target: "returning", actions: [assign(({ context }) => granted(context)), planReturn] },
      },
    },
    held: {
      meta: { waitsFor: "operator" },
      on: { RELEASE: { target: "settling", actions: assign(({ context }) => released(context)) } },
    },
    // Nobody looks any more, and nothing is lost: the operator can have it settled for ever.
    closed: {
      meta: { waitsFor: "operator" },
      on: {
        RELEASE: { target: "settling", actions: assign(({ context }) => released(context)) },
        RETURN: { target: "returning", actions: [assign(({ context }) => granted(context)), planReturn] },
      },
    },
  },
});

/** One payment more has landed. */
function book(
  context: DepositAddressContext,
  { payment, slot, movements }: { payment: string; slot: number; movements: readonly Movement[] },
): Pick<DepositAddressContext, "spent" | "settledSlot" | "landed" | "underWay"> {
  return {
    spent: spend(context.spent, movements),
    settledSlot: Math.max(context.settledSlot, slot),
    landed: context.landed + 1,
    underWay: payment === context.underWay ? null : context.underWay,
  };
}

/** Whether the sender was paid back by itself: what an operator returns is of no mint that is counted here. */
function isRefund({ smallest }: DepositAddressContext, { kind, mint }: Movement): boolean {
  return kind === "refund" && smallest[mint] !== undefined;
}

/** Every word of an operator lets the sponsor spend as much again. */
function granted({
  allowance,
  sponsorCap,
}: DepositAddressContext): Pick<DepositAddressContext, "allowance" | "losses"> {
  return { allowance: String(BigInt(allowance) + BigInt(sponsorCap)), losses: 0 };
}

function released(
  context: DepositAddressContext,
): Pick<DepositAddressContext, "isReleased" | "allowance" | "losses" | "heldReason"> {
  return {
    ...granted(context),
    isReleased: true,
    heldReason: null,
  };
}

/** Whether as much came of any asset as counts as a deposit. */
function hasDeposit({ received: all, smallest }: DepositAddressContext): boolean {
  return Object.entries(smallest).some(([mint, least]) => BigInt(all[mint] ?? "0") >= BigInt(least));
}
