/** One on-chain transaction that the service itself signs, followed from its plan until the chain has decided. */
import { assign, setup } from "xstate";
import type { Message, Movement, PaymentFault, PayoutNews } from "./private-messages.ts";
import type { SignatureEvent } from "./wallet-transfer.ts";

/** What a payment begins with. */
export interface PaymentInput {
  readonly paymentId: string;
  /** The deposit address it is paid from, whose ledger is told when it lands. */
  readonly address: string;
  /** The order that waits for it, null for a refund or a sweep. */
  readonly order: string | null;
  /** Which recipients of the order it pays. */
  readonly indexes: readonly number[];
  readonly movements: readonly Movement[];
  /** Pause before another attempt after one that landed with an error, in milliseconds. */
  readonly retryPauseMs: number;
  /** What is set aside for an exchange until it has landed or has failed for good. */
  readonly reservations?: readonly string[];
}

/** What a payment knows of itself: neither bytes nor keys. */
export interface PaymentContext extends PaymentInput {
  /** Attempts signed so far; a new one only after the last one is proved dead, or has landed with an error. */
  readonly attempts: number;
  /** That of the newest attempt. */
  readonly signature: string | null;
  readonly wasConfirmed: boolean;
  readonly slot: number;
  readonly blockTime: number | null;
  /** The chain's error of an attempt that landed without paying, as JSON text. */
  readonly error: string | null;
  readonly fault: PaymentFault | null;
}

/** What a payment reacts to. */
export type PaymentEvent =
  /** The bytes, their signature and their last valid height are stored; nothing has left yet. */
  | { readonly type: "SIGNED"; readonly signature: string }
  /** Tried out, it would fail; nothing was signed. */
  | { readonly type: "REFUSED"; readonly fault: PaymentFault }
  /** Tried out, its marker turned out to exist for good; nothing was signed. */
  | { readonly type: "MARKED" }
  | { readonly type: "BROADCAST" }
  /** `about` is the signature that it is said of: news of an attempt before this one comes too late. */
  | (SignatureEvent & { readonly about: string })
  | { readonly type: "EXPLAINED"; readonly fault: PaymentFault }
  /** After the proof of death: the marker is not on the chain, so nothing was paid. */
  | { readonly type: "MARK_ABSENT" }
  /** The marker was made by this transaction of the address itself, so the payment has landed after all. */
  | {
      readonly type: "MARK_PAID";
      readonly signature: string;
      readonly slot: number;
      readonly blockTime: number | null;
    }
  /** Somebody else made the marker, and nothing was paid. */
  | { readonly type: "MARK_TAKEN" };

interface ContextOnly {
  readonly context: PaymentContext;
}

/** An attempt that landed with an error cost the sponsor a fee: after so many an operator must look. */
const MOST_ATTEMPTS = 5;

const tellOrder = (type: PayoutNews["type"]) =>
  ({
    type: "tell",
    params: ({ context }: ContextOnly): Message => {
      const { paymentId: payment, indexes, signature, blockTime, wasConfirmed, fault, order } = context;
      const event = { type, payment, indexes, signature, blockTime, wasConfirmed, fault };
      return { machine: "private-transfer", id: order ?? "", event };
    },
  }) as const;

const ofAnother = {
  type: "isOfAnother",
  params: ({ event }: { readonly event: { readonly about: string } }) => ({ about: event.about }),
} as const;

/**
 * `planned` → `inFlight` is where bytes come to exist: they are committed before the first one leaves. From there only
 * the chain leads on: landed, or proved dead, and then the marker has the last word. A payment that has `failed` paid
 * nothing and never will; whoever planned it decides what comes next.
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
    explain: (_, _params: { paymentId: string; error: string }) => {},
    lookForMark: (_, _params: { paymentId: string }) => {},
    tell: (_, _params: Message) => {},
  },
  guards: {
    hasOrder: ({ context }) => context.order !== null,
    wasToldBefore: ({ context }) => context.order === null || context.wasConfirmed,
    succeeded: (_, params: { error: string | null }) => params.error === null,
    mayPass: ({ context }, { kind }: PaymentFault) =>
      kind !== "payee" && kind !== "marked" && kind !== "source" && context.attempts < MOST_ATTEMPTS,
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
          }),
        },
        REFUSED: { target: "lost", actions: assign({ fault: ({ event }) => event.fault }) },
        MARKED: "proving",
      },
    },
    inFlight: {
      meta: { watches: ["attempts"] },
      initial: "signed",
      on: {
        CONFIRMED: [
          { guard: ofAnother },
          { guard: "wasToldBefore", target: ".confirmed" },
          { target: ".confirmed", actions: [tellOrder("PAYOUT_CONFIRMED"), assign({ wasConfirmed: true })] },
        ],
        FINALIZED: [
          { guard: ofAnother },
          {
            guard: { type: "succeeded", params: ({ event }) => ({ error: event.error }) },
            target: "landed",
            actions: assign({ blockTime: ({ event }) => event.blockTime, slot: ({ event }) => event.slot }),
          },
          { target: "explaining", actions: assign({ error: ({ event }) => event.error }) },
        ],
        EXPIRED: [{ guard: ofAnother }, { target: "proving" }],
      },
      states: {
        signed: {
          entry: { type: "broadcast", params: ({ context }) => ({ signature: context.signature ?? "" }) },
          on: { BROADCAST: "broadcast" },
        },
        broadcast: {},
        // Should the fork it was seen on vanish, the same bytes are sent again.
        confirmed: { on: { CONFIRMED: {} } },
      },
    },
    explaining: {
      entry: {
        type: "explain",
        params: ({ context }) => ({ paymentId: context.paymentId, error: context.error ?? "" }),
      },
      on: {
        EXPLAINED: [
          { guard: { type: "mayPass", params: ({ event }) => event.fault }, target: "pausing" },
          { target: "lost", actions: assign({ fault: ({ event }) => event.fault }) },
        ],
      },
    },
    pausing: { after: { retryPause: "planned" } },
    proving: {
      entry: { type: "lookForMark", params: ({ context }) => ({ paymentId: context.paymentId }) },
      on: {
        MARK_ABSENT: "planned",
        MARK_PAID: {
          target: "landed",
          actions: assign({
            signature: ({ event }) => event.signature,
            slot: ({ event }) => event.slot,
            blockTime: ({ event }) => event.blockTime,
          }),
        },
        MARK_TAKEN: { target: "lost", actions: assign({ fault: { kind: "marked", move: 0 } }) },
      },
    },
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
        { guard: "hasOrder", target: "finalized", actions: tellOrder("PAYOUT_FINALIZED") },
        { target: "finalized" },
      ],
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
        { guard: "hasOrder", target: "failed", actions: tellOrder("PAYOUT_FAILED") },
        { target: "failed" },
      ],
    },
    finalized: { type: "final" },
    failed: { type: "final" },
  },
});
