/**
 * The chart of a payment: an on-chain transaction that the service itself signs, from its plan to the chain's decision.
 */
import { assign, setup } from "xstate";
import type { Message, Movement, PaymentFault, PaymentRole, PayoutEvent } from "./private-messages.ts";

/** The input of a payment. */
export interface PaymentInput {
  readonly paymentId: string;
  /** The deposit address that pays, whose ledger counts the landing. */
  readonly address: string;
  /** The order that the address belongs to. */
  readonly order: string;
  readonly role: PaymentRole;
  /** The recipients of the order that it pays itself. */
  readonly indexes: readonly number[];
  /** How many recipients depend on it: for a plan, the recipients that its payments will pay or leave out. */
  readonly recipients: number;
  readonly movements: readonly Movement[];
  /** Pause before another attempt or another reading of the marker, in milliseconds. */
  readonly retryPauseMs: number;
  /** Reservations of a swap until it has landed or failed. */
  readonly reservations?: readonly string[];
}

/** The context of a payment: neither bytes nor keys. */
export interface PaymentContext extends PaymentInput {
  /** Attempts signed so far. A new one is signed only when the last one can land no more. */
  readonly attempts: number;
  /** Signature of the newest attempt. */
  readonly signature: string | null;
  readonly wasConfirmed: boolean;
  /** Whether the payments that a plan names have been started. */
  readonly hasLeaves: boolean;
  readonly slot: number;
  readonly blockTime: number | null;
  /** The chain's error of the newest attempt, as JSON text, null when none was reported. */
  readonly error: string | null;
  readonly fault: PaymentFault | null;
}

/** Another payment of the same marker that turned out to have landed. */
export interface RivalPayment {
  readonly payment: string;
  /** The recipients that it paid, empty for a refund or a plan. */
  readonly indexes: readonly number[];
  /** How many recipients more, or fewer where negative, the order has to count as unpaid. */
  readonly unpaid: number;
  readonly movements: readonly Movement[];
  readonly signature: string | null;
  readonly slot: number;
  readonly blockTime: number | null;
}

/** Events of a payment. */
export type PaymentEvent =
  /** Bytes, signature and last valid height are stored; no byte has been sent yet. */
  | { readonly type: "SIGNED"; readonly signature: string }
  /** The simulation fails; nothing was signed. */
  | { readonly type: "REFUSED"; readonly fault: PaymentFault }
  /** The simulation fails because the marker exists; nothing was signed. */
  | { readonly type: "MARKED" }
  | { readonly type: "BROADCAST" }
  /** Enough endpoints show the signature `about` as confirmed. */
  | { readonly type: "CONFIRMED"; readonly about: string }
  /** A node reports `about` as finalized. Only a reason to read the marker. */
  | { readonly type: "REPORTED"; readonly about: string; readonly error: string | null }
  /** A node reports a height above the last valid height of `about`. Only a reason to read the marker. */
  | { readonly type: "EXPIRED"; readonly about: string }
  /** The marker proves that this payment landed. */
  | {
      readonly type: "MADE";
      readonly signature: string | null;
      readonly slot: number;
      readonly blockTime: number | null;
      /**
       * The movements of another copy of the database, when that copy made the payment; they replace the planned
       * movements.
       */
      readonly movements?: readonly Movement[];
    }
  /**
   * The marker is not made. `isDead`: no attempt can make the marker any more, by the heights of enough witnesses.
   * `isPresumed`: fewer endpoints tell so, because one is stuck or contradicts. A presumed death permits a new signature and
   * explains no error.
   */
  | { readonly type: "UNMADE"; readonly isDead: boolean; readonly isPresumed?: boolean }
  /** The marker proves that a rival payment landed; the chain refuses this payment. */
  | ({ readonly type: "OVERTAKEN" } & RivalPayment)
  | { readonly type: "EXPLAINED"; readonly fault: PaymentFault }
  /** The payments of a plan are started; `unpaid` recipients are left out of it. */
  | { readonly type: "LEAVES_STARTED"; readonly payouts: number; readonly unpaid: number };

/** The newest attempt's fate, by a reading of the marker. @inline */
type Death = Pick<Extract<PaymentEvent, { readonly type: "UNMADE" }>, "isDead" | "isPresumed">;

/** The source of params. @inline */
interface ContextOnly {
  readonly context: PaymentContext;
}

/** An attempt that landed with an error cost the sponsor a fee: after this many, an operator must look. */
const MAX_ATTEMPTS = 5;
/** A dead attempt has cost nothing, if the nodes are right: after this many, the nodes are no longer believed. */
const MAX_DEAD_ATTEMPTS = 20;

const tellOrder = (type: "PAYOUT_CONFIRMED" | "PAYOUT_FINALIZED" | "PAYOUT_FAILED") =>
  ({
    type: "tell",
    params: ({ context }: ContextOnly): Message => {
      const { paymentId: payment, indexes, signature, blockTime, wasConfirmed, fault, order } = context;
      const event: PayoutEvent = { type, payment, indexes, signature, blockTime, wasConfirmed, fault };
      return { machine: "private-transfer", id: order, event };
    },
  }) as const;

const tellOrderRouted = {
  type: "tell",
  params: ({
    context,
    event,
  }: ContextOnly & { readonly event: { readonly payouts: number; readonly unpaid: number } }): Message => {
    const { payouts, unpaid } = event;
    return { machine: "private-transfer", id: context.order, event: { type: "ROUTED", payouts, unpaid } };
  },
} as const;

const ofAnother = {
  type: "isOfAnother",
  params: ({ event }: { readonly event: { readonly about: string } }) => ({ about: event.about }),
} as const;

/**
 * `planned` → `inFlight` is where bytes come to exist: the bytes are committed before the first byte leaves. What nodes
 * report of a signature only leads to `reading`, and the marker on the chain decides: this payment made the marker, a
 * rival payment did, or nobody did. The chain takes one set of bytes for a marker, so a second signature is safe,
 * whatever nodes have reported. A payment that has `failed` paid nothing: who planned it decides what comes next.
 */
export const payment = setup({
  types: {
    context: {} as PaymentContext,
    input: {} as PaymentInput,
    events: {} as PaymentEvent,
  },
  actions: {
    sign: (_, _params: { paymentId: string; attempt: number }) => {},
    broadcast: (_, _params: { signature: string }) => {},
    readMarker: (_, _params: { paymentId: string; error: string | null }) => {},
    explain: (_, _params: { paymentId: string }) => {},
    /** Holds the deposit address until an operator releases it. */
    hold: (_, _params: { paymentId: string }) => {},
    startLeaves: (_, _params: { paymentId: string }) => {},
    tell: (_, _params: Message) => {},
  },
  guards: {
    isPayout: ({ context }) => context.role === "payout",
    needsLeaves: ({ context }) => context.role === "plan" && !context.hasLeaves,
    isPayoutToldFirst: ({ context }) => context.role === "payout" && !context.wasConfirmed,
    isDead: (_, { isDead }: Death) => isDead,
    isLastDead: ({ context }, { isDead, isPresumed = false }: Death) =>
      isDead && !isPresumed && context.attempts > 0 && context.attempts % MAX_DEAD_ATTEMPTS === 0,
    isDeadWithError: ({ context }, { isDead, isPresumed = false }: Death) =>
      isDead && !isPresumed && context.error !== null,
    mayPass: ({ context }, { kind }: PaymentFault) =>
      kind !== "payee" && kind !== "source" && context.attempts % MAX_ATTEMPTS !== 0,
    isDecided: (_, { kind }: PaymentFault) => kind === "payee" || kind === "source",
    isOfAnother: ({ context }, params: { about: string }) => params.about !== context.signature,
  },
  delays: {
    retryPause: ({ context }) => context.retryPauseMs,
  },
}).createMachine({
  id: "payment",
  context: ({ input }) => ({
    ...input,
    attempts: 0,
    signature: null,
    wasConfirmed: false,
    hasLeaves: false,
    slot: 0,
    blockTime: null,
    error: null,
    fault: null,
  }),
  initial: "planned",
  states: {
    planned: {
      entry: {
        type: "sign",
        params: ({ context }) => ({ paymentId: context.paymentId, attempt: context.attempts + 1 }),
      },
      on: {
        SIGNED: {
          target: "inFlight",
          actions: assign({
            signature: ({ event }) => event.signature,
            attempts: ({ context }) => context.attempts + 1,
            error: null,
          }),
        },
        REFUSED: { target: "lost", actions: assign({ fault: ({ event }) => event.fault }) },
        MARKED: "reading",
      },
    },
    inFlight: {
      meta: { watches: ["attempts"] },
      initial: "signed",
      on: {
        CONFIRMED: [
          { guard: ofAnother },
          {
            guard: "isPayoutToldFirst",
            target: ".confirmed",
            actions: [tellOrder("PAYOUT_CONFIRMED"), assign({ wasConfirmed: true })],
          },
          { guard: "needsLeaves", target: ".following" },
          { target: ".confirmed" },
        ],
        REPORTED: [
          { guard: ofAnother },
          { target: "reading", actions: assign({ error: ({ event }) => event.error }) },
        ],
        EXPIRED: [{ guard: ofAnother }, { target: "reading" }],
      },
      states: {
        signed: {
          entry: { type: "broadcast", params: ({ context }) => ({ signature: context.signature ?? "" }) },
          on: { BROADCAST: "broadcast" },
        },
        broadcast: {},
        // The chain refuses the payments of a plan that is not made, so they need not wait until it is final.
        following: {
          entry: { type: "startLeaves", params: ({ context }) => ({ paymentId: context.paymentId }) },
          // Nothing is concluded before they are started: what becomes of the plan is counted together with them.
          on: {
            CONFIRMED: {},
            REPORTED: {},
            EXPIRED: {},
            LEAVES_STARTED: {
              target: "confirmed",
              actions: [assign({ hasLeaves: true }), tellOrderRouted],
            },
          },
        },
        // If its fork vanishes, the same bytes are sent again.
        confirmed: { on: { CONFIRMED: {} } },
      },
    },
    reading: {
      entry: {
        type: "readMarker",
        params: ({ context }) => ({ paymentId: context.paymentId, error: context.error }),
      },
      on: {
        MADE: {
          target: "landed",
          actions: assign({
            signature: ({ context, event }) => event.signature ?? context.signature,
            slot: ({ event }) => event.slot,
            blockTime: ({ event }) => event.blockTime,
            movements: ({ context, event }) => event.movements ?? context.movements,
          }),
        },
        OVERTAKEN: {
          target: "overtaken",
          actions: [
            {
              type: "tell",
              params: ({ context, event }): Message => {
                const { payment: rival, slot, signature, movements } = event;
                const news = { type: "PAYMENT_LANDED", payment: rival, slot, signature, movements } as const;
                return { machine: "deposit-address", id: context.address, event: news };
              },
            },
            {
              type: "tell",
              params: ({ context, event }): Message => {
                const { order, role, wasConfirmed, hasLeaves } = context;
                const { indexes, unpaid, signature, blockTime } = event;
                const counts = { role, wasConfirmed, hasLeaves, paid: indexes.length, unpaid };
                const news = { type: "PAYOUT_OVERTAKEN", ...counts, signature, blockTime } as const;
                return { machine: "private-transfer", id: order, event: news };
              },
            },
          ],
        },
        // The other payment is booked already, or is one of another copy of the database.
        REFUSED: { target: "lost", actions: assign({ fault: ({ event }) => event.fault }) },
        UNMADE: [
          {
            guard: { type: "isDeadWithError", params: ({ event }) => event },
            target: "explaining",
          },
          {
            guard: { type: "isLastDead", params: ({ event }) => event },
            target: "pausing",
            actions: { type: "hold", params: ({ context }) => ({ paymentId: context.paymentId }) },
          },
          { guard: { type: "isDead", params: ({ event }) => event }, target: "planned" },
          { target: "doubting" },
        ],
      },
    },
    // The bytes may still land: they are neither given up nor replaced.
    doubting: { after: { retryPause: "reading" } },
    explaining: {
      entry: {
        type: "explain",
        params: ({ context }) => ({ paymentId: context.paymentId }),
      },
      on: {
        EXPLAINED: [
          { guard: { type: "mayPass", params: ({ event }) => event.fault }, target: "pausing" },
          {
            guard: { type: "isDecided", params: ({ event }) => event.fault },
            target: "lost",
            actions: assign({ fault: ({ event }) => event.fault }),
          },
          {
            target: "pausing",
            actions: { type: "hold", params: ({ context }) => ({ paymentId: context.paymentId }) },
          },
        ],
      },
    },
    pausing: { after: { retryPause: "planned" } },
    landed: {
      entry: {
        type: "tell",
        params: ({ context }): Message => {
          const { paymentId, slot, signature, movements } = context;
          const event = { type: "PAYMENT_LANDED" as const, payment: paymentId, slot, signature, movements };
          return { machine: "deposit-address", id: context.address, event };
        },
      },
      always: [
        { guard: "isPayout", target: "finalized", actions: tellOrder("PAYOUT_FINALIZED") },
        { guard: "needsLeaves", target: "succeeding" },
        { target: "finalized" },
      ],
    },
    succeeding: {
      entry: { type: "startLeaves", params: ({ context }) => ({ paymentId: context.paymentId }) },
      on: {
        LEAVES_STARTED: {
          target: "finalized",
          actions: [assign({ hasLeaves: true }), tellOrderRouted],
        },
      },
    },
    overtaken: {
      entry: {
        type: "tell",
        params: ({ context: { address, paymentId } }): Message => ({
          machine: "deposit-address",
          id: address,
          event: { type: "PAYMENT_LOST", payment: paymentId, fault: { kind: "superseded", move: null } },
        }),
      },
      always: "failed",
    },
    lost: {
      entry: {
        type: "tell",
        params: ({ context: { address, paymentId, fault } }): Message => ({
          machine: "deposit-address",
          id: address,
          event: { type: "PAYMENT_LOST", payment: paymentId, fault },
        }),
      },
      always: [
        { guard: "isPayout", target: "failed", actions: tellOrder("PAYOUT_FAILED") },
        // A plan that has started its payments leaves the counting to those payments.
        {
          guard: "needsLeaves",
          target: "failed",
          actions: {
            type: "tell",
            params: ({ context }): Message => ({
              machine: "private-transfer",
              id: context.order,
              event: { type: "ROUTED", payouts: 0, unpaid: context.recipients },
            }),
          },
        },
        { target: "failed" },
      ],
    },
    finalized: { type: "final" },
    failed: { type: "final" },
  },
});
