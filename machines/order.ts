/** An order of private mode: it waits for its deposit, has the chain decide who is paid, and gives back what is left. */
import { assign, setup } from "xstate";
import type {
  ChunkGoneEvent,
  GoEvent,
  LastPayout,
  OrderContext,
  OrderEnd,
  OrderEvent,
  OrderInput,
} from "./order-context.ts";
import { chunkTransfer, type OrderMessage } from "./order-messages.ts";
import type { AnnounceParams } from "./wallet-transfer.ts";

/** The source of params. @inline */
interface ContextOnly {
  readonly context: OrderContext;
}

const announce = (notice: AnnounceParams["notice"]) => ({ type: "announce", params: { notice } }) as const;

const refuseChunk0 = {
  type: "tell",
  params: ({ context }: ContextOnly) => toTransfer(context, 0, { type: "WANT_NOBODY" }),
} as const;

const foreclose = {
  type: "tell",
  params: ({ context, event }: ContextOnly & { readonly event: { readonly chunk: number } }) =>
    toTransfer(context, event.chunk, { type: "WANT_NOBODY" }),
} as const;

const makeAgain = {
  type: "tell",
  params: ({ context, event: { chunk, ...event } }: ContextOnly & { readonly event: ChunkGoneEvent }) =>
    toTransfer(context, chunk, event),
} as const;

/** A payout that was confirmed, and that no block has made final. */
const NO_PAYOUT: LastPayout = { signature: null, blockTime: null };

const REFUSED = { decision: "refused", charged: "0" } as const;

const MINUTE_MS = 60_000;

/**
 * The chain decides: chunk 0's marker is a go or a no-go, whatever this copy wanted or told, and wherever none was known, it is
 * heard of. An event that a state does not name changes nothing. An end that no marker decides is two commits, because a
 * database that is set back must not forget it: between them `closing` writes the journal, and nothing else counts. `over`
 * hears of markers and of late money for ever, and tells callers nothing new.
 */
export const order = setup({
  types: {
    context: {} as OrderContext,
    input: {} as OrderInput,
    events: {} as OrderEvent,
  },
  actions: {
    /**
     * One whole reading, and the event that follows from it; it is asked for again until none does. Never an event that the
     * state does not hear, for its rows would be committed all the same. Without an answer of the nodes it tells nothing where a
     * timer asks again, and else is tried again.
     */
    look: () => {},
    /** Writes the line, unless one stands. Tells LINE_STANDS of the line that does. */
    writeLine: (_, _params: { readonly ends: OrderEnd | null }) => {},
    announce: (_, _params: AnnounceParams) => {},
    tell: (_, _params: OrderMessage) => {},
  },
  guards: {
    isOpen: ({ context }) => context.decision === "open",
    isGo: ({ context }) => context.decision === "go",
    isSettled: ({ context }) => context.decision === "decided" || context.decision === "refused",
    isConfirmed: ({ context }) => context.status === "confirmed",
    isRefused: (_, params: { isRefused: boolean }) => params.isRefused,
    isCancelled: (_, params: OrderEnd) => params.status === "cancelled",
    /** Behind no go, or of everybody but nobody behind a no-go. */
    isContradicted: ({ context: { decision } }, { paid: who }: { paid: string }) =>
      decision === "open" || (decision === "refused" && who !== "none"),
    isPartial: (_, { paid: who }: { paid: string }) => who !== "all",
    isMissed: ({ context }, params: { chunk: number }) => isKnown(context, params.chunk),
    isRefusalMissed: ({ context }, { chunk, isNobodyWanted }: { chunk: number; isNobodyWanted: boolean }) =>
      chunk === 0 && isNobodyWanted && isKnown(context, chunk),
  },
  delays: {
    /** For what nobody tells, such as a price or the marker of another copy: sooner while a caller waits. */
    soon: MINUTE_MS,
    later: 10 * MINUTE_MS,
    /** How long an address is watched as closely as an open one, now and then, and seldom. */
    recent: 15 * MINUTE_MS,
    late: 24 * 60 * MINUTE_MS,
    slow: 60 * 24 * 60 * MINUTE_MS,
  },
}).createMachine({
  id: "private-order",
  context: ({ input }) => ({
    ...input,
    status: "pending",
    reason: null,
    decision: "open",
    ends: null,
    signature: null,
    blockTime: null,
    charged: null,
  }),
  initial: "undecided",
  on: {
    CHANGED: { actions: "look" },
    LOOK: { actions: "look" },
    NOTED: { actions: [assign(({ event }) => corrected(event)), "look"] },
  },
  states: {
    undecided: {
      initial: "waiting",
      on: {
        GO: {
          target: "paying",
          actions: assign(({ context, event }) => ({
            ...going(event),
            ...processing(context),
            reason: null,
          })),
        },
        NO_GO: {
          target: "over.resting",
          actions: [
            assign(({ context }) => ({
              ...REFUSED,
              ...NO_PAYOUT,
              status: "failed",
              reason: context.reason ?? "REFUSED",
            })),
            announce("transaction.failed"),
          ],
        },
        LINE_STANDS: [
          {
            guard: { type: "isCancelled", params: ({ event }) => event },
            target: "over.idle",
            actions: assign(({ event }) => written(event)),
          },
          {
            target: "over.idle",
            actions: [assign(({ event }) => written(event)), announce("transaction.failed")],
          },
        ],
      },
      states: {
        waiting: {
          meta: { watches: ["orders"] },
          entry: announce("transaction.pending"),
          on: {
            FUNDED: { target: "deciding", actions: assign({ status: "processing" }) },
            CANCEL: { target: "closing", actions: assign({ ends: { status: "cancelled", reason: null } }) },
            WINDOW_OVER: [
              {
                guard: { type: "isRefused", params: ({ event }) => event },
                target: "refusing",
                actions: assign({ status: "processing", reason: ({ event }) => event.reason }),
              },
              {
                target: "closing",
                actions: assign({ ends: ({ event }) => ({ status: "failed", reason: event.reason }) }),
              },
            ],
          },
        },
        deciding: {
          meta: { watches: ["activeOrders"] },
          entry: "look",
          after: { soon: { target: "deciding", reenter: true } },
          on: {
            CONFIRMED: [
              { guard: "isConfirmed" },
              {
                target: "deciding",
                reenter: true,
                actions: [assign(({ event }) => confirmed(event)), announce("transaction.confirmed")],
              },
            ],
            DECLINE: { target: "refusing", actions: [assign({ reason: "DECLINED" }), refuseChunk0] },
            CULPRITS: { target: "refusing", actions: [assign({ reason: "PAYOUT_FAILED" }), refuseChunk0] },
            BELOW: {
              target: "refusing",
              actions: [assign({ reason: ({ event }) => event.reason }), refuseChunk0],
            },
          },
        },
        // A go that was signed before may still win.
        refusing: {
          meta: { watches: ["activeOrders"] },
          entry: "look",
          after: { soon: { target: "refusing", reenter: true } },
          on: {
            BELOW_COST: {
              target: "closing",
              actions: assign({ ends: ({ context }) => ({ status: "failed", reason: context.reason }) }),
            },
          },
        },
        closing: {
          entry: { type: "writeLine", params: ({ context }) => ({ ends: context.ends }) },
          on: { CHANGED: {}, LOOK: {}, NOTED: {}, GO: {}, NO_GO: {} },
        },
      },
    },
    paying: {
      meta: { watches: ["activeOrders"] },
      entry: "look",
      after: { soon: { target: "paying", reenter: true } },
      on: {
        GO: {
          guard: "isOpen",
          target: "paying",
          reenter: true,
          actions: assign(({ event }) => going(event)),
        },
        NO_GO: { guard: "isOpen", target: "paying", reenter: true, actions: assign(REFUSED) },
        MARKS: { target: "paying", reenter: true, actions: assign(({ event }) => paid(event)) },
        GONE: {
          guard: { type: "isMissed", params: ({ event }) => event },
          target: "paying",
          reenter: true,
          actions: [assign(({ event }) => gone(event)), makeAgain],
        },
        FORECLOSE: { target: "paying", reenter: true, actions: foreclose },
        // The go is gone, and a person does not want it made again.
        DECLINE: {
          guard: "isOpen",
          target: "undecided.refusing",
          actions: [assign({ reason: "DECLINED" }), refuseChunk0],
        },
        CONFIRMED: [
          { guard: "isConfirmed" },
          {
            target: "paying",
            reenter: true,
            actions: [assign(({ event }) => confirmed(event)), announce("transaction.confirmed")],
          },
        ],
        DECIDED: [
          { guard: { type: "isContradicted", params: ({ event }) => event } },
          {
            guard: { type: "isPartial", params: ({ event }) => event },
            target: "over.resting",
            actions: [
              assign(({ context, event }) => unpaid(context, event.paid)),
              announce("transaction.failed"),
            ],
          },
          {
            guard: "isConfirmed",
            target: "over.resting",
            actions: [
              assign({ status: "completed", decision: "decided" }),
              announce("transaction.completed"),
            ],
          },
          {
            target: "over.resting",
            actions: [
              assign({ status: "completed", decision: "decided" }),
              announce("transaction.confirmed"),
              announce("transaction.completed"),
            ],
          },
        ],
      },
    },
    over: {
      initial: "idle",
      on: {
        GO: { guard: "isOpen", target: ".paying", actions: assign(({ event }) => going(event)) },
        NO_GO: { guard: "isOpen", target: ".resting", actions: assign(REFUSED) },
        GONE: [
          {
            guard: { type: "isRefusalMissed", params: ({ event }) => event },
            target: ".refusing",
            actions: [assign(({ event }) => gone(event)), makeAgain],
          },
          {
            guard: { type: "isMissed", params: ({ event }) => event },
            target: ".paying",
            actions: [assign(({ event }) => gone(event)), makeAgain],
          },
        ],
      },
      states: {
        idle: {
          initial: "recent",
          on: {
            LATE: [
              { guard: "isSettled", target: "resting" },
              { target: "refusing", actions: refuseChunk0 },
            ],
          },
          // Each stage begins with a look at everything, since a watch sees associated accounts only.
          states: {
            recent: { meta: { watches: ["activeOrders"] }, entry: "look", after: { recent: "late" } },
            late: { meta: { watches: ["lateOrders"] }, entry: "look", after: { late: "slow" } },
            slow: { meta: { watches: ["slowOrders"] }, entry: "look", after: { slow: "closed" } },
            closed: { meta: { waitsFor: "operator" }, entry: "look" },
          },
        },
        refusing: {
          entry: "look",
          after: { later: { target: "refusing", reenter: true } },
          on: { EMPTY: "idle", BELOW_COST: "idle" },
        },
        paying: {
          entry: "look",
          after: { later: { target: "paying", reenter: true } },
          on: {
            MARKS: { target: "paying", reenter: true, actions: assign(({ event }) => paid(event)) },
            FORECLOSE: { target: "paying", reenter: true, actions: foreclose },
            DECLINE: { guard: "isOpen", target: "refusing", actions: refuseChunk0 },
            DECIDED: { guard: "isGo", target: "resting", actions: assign({ decision: "decided" }) },
          },
        },
        resting: {
          entry: "look",
          after: { later: { target: "resting", reenter: true } },
          on: { EMPTY: "idle", BELOW_COST: "idle" },
        },
      },
    },
  },
});

function toTransfer(
  { order: id }: OrderContext,
  chunk: number,
  event: Extract<OrderMessage, { machine: "order-transfer" }>["event"],
): OrderMessage {
  return { machine: "order-transfer", id: chunkTransfer(id, chunk), event };
}

function going({ charged, signature, blockTime }: GoEvent): Partial<OrderContext> {
  return { decision: "go", charged, signature, blockTime };
}

function confirmed({ signature }: Pick<LastPayout, "signature">): Partial<OrderContext> {
  return { status: "confirmed", signature };
}

function corrected({ charged }: { readonly charged?: string }): Partial<OrderContext> {
  return charged === undefined ? {} : { charged };
}

function paid({ signature, blockTime }: LastPayout): LastPayout {
  return { signature, blockTime };
}

function processing({ status }: OrderContext): Pick<OrderContext, "status"> {
  return { status: status === "confirmed" ? status : "processing" };
}

/** Whether a row has the marker of this chunk: of a later one only behind a go. */
function isKnown({ decision }: OrderContext, chunk: number): boolean {
  return decision !== "open" && (chunk === 0 || decision !== "refused");
}

function gone({ chunk }: ChunkGoneEvent): Pick<OrderContext, "decision"> {
  return { decision: chunk === 0 ? "open" : "go" };
}

function unpaid({ decision }: OrderContext, who: "all" | "some" | "none"): Partial<OrderContext> {
  return {
    status: "failed",
    reason: who === "some" ? "PARTIAL_PAYOUT" : "PAYOUT_FAILED",
    decision: decision === "refused" ? decision : "decided",
  };
}

function written({ status, reason }: OrderEnd): Partial<OrderContext> {
  return { ...NO_PAYOUT, status, reason, charged: "0" };
}
