/** A transfer of private mode: one thing to send out of an order's address, with its signed attempts. */
import { assign, setup } from "xstate";
import type { MarkerGoneEvent, OrderMessage, WantNobodyEvent } from "./order-messages.ts";

/**
 * The kinds of a transfer. A `chunk` pays recipients under the chunk's marker, or makes that marker without paying; any copy's
 * marker ends it. A `rest` goes to the sender, a `collect` into an account that counts. `redirect` and `foreign` are acts that a
 * person has approved, under a marker of their own.
 */
export type TransferKind = "chunk" | "rest" | "redirect" | "collect" | "foreign";

/** The input of a transfer. */
export interface TransferInput {
  readonly order: string;
  readonly kind: TransferKind;
}

/** The context of a transfer. Bytes, outcomes, legs and holds are rows. */
export interface TransferContext extends TransferInput {
  /** Pause before it is tried again, in milliseconds. */
  readonly pauseMs: number;
  /** Whether its chunk is to pay nobody. */
  readonly isNobodyWanted: boolean;
  /** Signature of the newest attempt. Older ones may still land. */
  readonly signature: string | null;
  /** Why it was not signed the last time it was tried. */
  readonly reason: string | null;
  /** How often in a row it was not signed. */
  readonly refusals: number;
  /** Attempts that landed with an error, since a person last had it tried. */
  readonly errors: number;
}

/**
 * Events of a transfer. `sign` tells of one reading, `conclude` of one or of receipts: both by finalized evidence, together
 * with their rows, and under the version of the instance from which it was concluded. In `out` an event is told of an attempt
 * once: CULPRIT, HELD and NOT_NOW say that it landed with an error, which its row then has.
 */
export type TransferEvent =
  /** Bytes and last valid height are in the rows of the same commit; none has left yet. */
  | { readonly type: "SIGNED"; readonly signature: string }
  /** The chunk's marker stands, of this length. */
  | { readonly type: "MARK"; readonly length: number }
  /** Some payees cannot take the money: the chunk's row wants another outcome now, which may be to pay nobody. */
  | { readonly type: "CULPRIT"; readonly isNobodyWanted: boolean }
  /** The receiver or a payer must not be served: a hold is in the rows. */
  | { readonly type: "HELD"; readonly reason: string }
  /** A cause that passes, such as `low_purse`; `pauseMs` null where nothing tells how long. */
  | { readonly type: "NOT_NOW"; readonly reason: string; readonly pauseMs: number | null }
  /** The finalized height is past every attempt, and none has landed. */
  | { readonly type: "EXPIRED" }
  /** This attempt landed without an error; it is booked in the same commit. */
  | { readonly type: "OWN_SIGNATURE"; readonly signature: string }
  /** The act's marker stands with its mint and receiver. */
  | { readonly type: "SAME_ACT" }
  /** The act's marker stands with others: a person is asked anew. */
  | { readonly type: "STANDS" }
  /** The act was approved a day ago. */
  | { readonly type: "DAY" }
  /** The funds at the address are not worth sending. */
  | { readonly type: "NOTHING_LEFT" }
  /** A watch: enough endpoints show the newest attempt at `confirmed`. */
  | { readonly type: "CONFIRMED" }
  /** A watch: an attempt may be final, or past its last height. */
  | { readonly type: "REPORTED" }
  /** A person: try it at once. */
  | { readonly type: "RETRY" }
  | WantNobodyEvent
  | MarkerGoneEvent;

/** The source of params. @inline */
interface ContextOnly {
  readonly context: TransferContext;
}

const tellOrder = {
  type: "tell",
  params: ({ context }: ContextOnly): OrderMessage => ({
    machine: "private-order",
    id: context.order,
    event: { type: "LOOK" },
  }),
} as const;

/** Pauses while nobody knows how long a cause lasts: each twice as long as the one before, up to a minute. */
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 60_000;
/** After this many landed errors it is tried once an hour (K14): each time costs the sponsor a fee. */
const MOST_ERRORS = 3;
const HOUR_MS = 60 * 60_000;

/**
 * `planned` is signed after a pause, and again whenever it comes back; bytes exist from the commit into `out` on, and old bytes
 * stay good. A chunk ends with its marker alone, which any copy may have made, and is made again if that is gone. Everything
 * else ends with its own signature, or without one.
 */
export const transfer = setup({
  types: {
    context: {} as TransferContext,
    input: {} as TransferInput,
    events: {} as TransferEvent,
  },
  actions: {
    /** Looks, asks every gate, builds, simulates and signs. Tells what came of it, unless it is no longer to be signed. */
    sign: () => {},
    /** Reads what became of the attempts; tells nothing while that is open. */
    conclude: () => {},
    tell: (_, _params: OrderMessage) => {},
  },
  guards: {
    isOfChunk: ({ context }) => isOfChunk(context),
    isOfNoChunk: ({ context }) => !isOfChunk(context),
    isAct: ({ context: { kind } }) => kind === "redirect" || kind === "foreign",
    paysSomebody: ({ context }) => isOfChunk(context) && !context.isNobodyWanted,
  },
  delays: {
    notBefore: ({ context }) => context.pauseMs,
    /** Endpoints differ about what is final for a few seconds. */
    again: 10_000,
  },
}).createMachine({
  id: "order-transfer",
  context: ({ input }) => ({
    ...input,
    pauseMs: 0,
    isNobodyWanted: false,
    signature: null,
    reason: null,
    refusals: 0,
    errors: 0,
  }),
  initial: "planned",
  states: {
    planned: {
      initial: "pausing",
      on: {
        MARK: { guard: "isOfChunk", target: "done" },
        WANT_NOBODY: {
          guard: "isOfChunk",
          target: "planned",
          reenter: true,
          actions: assign({ isNobodyWanted: true, pauseMs: 0, errors: 0 }),
        },
        OWN_SIGNATURE: {
          guard: "isOfNoChunk",
          target: "done",
          actions: assign({ signature: ({ event }) => event.signature }),
        },
        SAME_ACT: { guard: "isAct", target: "done" },
        STANDS: { guard: "isAct", target: "ended" },
        DAY: { guard: "isAct", target: "ended" },
        NOTHING_LEFT: { guard: "isOfNoChunk", target: "ended" },
        RETRY: { target: "planned", reenter: true, actions: assign({ pauseMs: 0, errors: 0 }) },
      },
      states: {
        pausing: { after: { notBefore: "signing" } },
        signing: {
          entry: "sign",
          on: {
            SIGNED: {
              target: "#order-transfer.out",
              actions: assign({ signature: ({ event }) => event.signature, reason: null, refusals: 0 }),
            },
            CULPRIT: {
              guard: "paysSomebody",
              target: "pausing",
              actions: [assign(({ context, event }) => leftOut(context, event)), tellOrder],
            },
            HELD: {
              target: "pausing",
              actions: assign(({ context, event }) => refused(context, event.reason, LONGEST_PAUSE_MS)),
            },
            NOT_NOW: {
              target: "pausing",
              actions: assign(({ context, event }) => refused(context, event.reason, event.pauseMs)),
            },
          },
        },
      },
    },
    out: {
      meta: { watches: ["attempts"] },
      initial: "sent",
      on: {
        MARK: { guard: "isOfChunk", target: "done" },
        WANT_NOBODY: {
          guard: "paysSomebody",
          target: "planned",
          actions: assign({ isNobodyWanted: true, pauseMs: 0, errors: 0 }),
        },
        OWN_SIGNATURE: {
          guard: "isOfNoChunk",
          target: "done",
          actions: assign({ signature: ({ event }) => event.signature }),
        },
        SAME_ACT: { guard: "isAct", target: "done" },
        CULPRIT: {
          guard: "paysSomebody",
          target: "planned",
          actions: [assign(({ context, event }) => leftOut(failed(context), event)), tellOrder],
        },
        HELD: {
          target: "planned",
          actions: [
            assign(({ context, event }) => refused(failed(context), event.reason, LONGEST_PAUSE_MS)),
            tellOrder,
          ],
        },
        NOT_NOW: {
          target: "planned",
          actions: [
            assign(({ context, event }) => refused(failed(context), event.reason, event.pauseMs)),
            tellOrder,
          ],
        },
        EXPIRED: { target: "planned", actions: [assign(({ context }) => paused(context, 0)), tellOrder] },
        REPORTED: ".concluding",
      },
      states: {
        // Callers are shown a payout once it is confirmed, and a refund once it is final.
        sent: {
          on: {
            CONFIRMED: [
              { guard: "isOfChunk", target: "confirmed", actions: tellOrder },
              { target: "confirmed" },
            ],
          },
        },
        // Should its fork vanish, the same bytes are sent again.
        confirmed: {},
        concluding: {
          entry: "conclude",
          after: { again: { target: "concluding", reenter: true } },
          on: { REPORTED: {} },
        },
      },
    },
    done: {
      meta: { waitsFor: "order" },
      entry: tellOrder,
      always: { guard: "isOfNoChunk", target: "booked" },
      on: {
        GONE: {
          target: "planned",
          actions: assign(({ context, event }) => leftOut({ ...context, errors: 0 }, event)),
        },
      },
    },
    booked: { type: "final" },
    ended: { type: "final", entry: tellOrder },
  },
});

function isOfChunk({ kind }: TransferContext): boolean {
  return kind === "chunk";
}

function failed(context: TransferContext): TransferContext {
  return { ...context, errors: context.errors + 1 };
}

function paused(context: TransferContext, pauseMs: number): TransferContext {
  return { ...context, pauseMs: context.errors < MOST_ERRORS ? pauseMs : Math.max(pauseMs, HOUR_MS) };
}

/** Signed at once. Where nobody was wanted, nobody is from then on. */
function leftOut(
  context: TransferContext,
  { isNobodyWanted }: Pick<TransferContext, "isNobodyWanted">,
): TransferContext {
  return { ...paused(context, 0), isNobodyWanted: context.isNobodyWanted || isNobodyWanted };
}

function refused(context: TransferContext, reason: string, pauseMs: number | null): TransferContext {
  const { refusals } = context;
  const growing = Math.min(FIRST_PAUSE_MS * 2 ** refusals, LONGEST_PAUSE_MS);
  return { ...paused(context, pauseMs ?? growing), reason, refusals: refusals + 1 };
}
