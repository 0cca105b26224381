/** A payment whose transaction the caller signed: it is broadcast as it is, and followed until the chain has decided. */
import { assign, setup } from "xstate";

/** What a transfer begins with. */
export interface WalletTransferInput {
  /** First signature of the caller's transaction: its identity on the chain. */
  readonly signature: string;
  /** How long a caller may still think better of it, in milliseconds. */
  readonly broadcastDelayMs: number;
  /** What is set aside for a swap until it has landed, is proved dead or was cancelled. */
  readonly reservations?: readonly string[];
}

/** What a transfer knows of itself: small, and whole after a trip through JSON. */
export interface WalletTransferContext extends WalletTransferInput {
  /** Why it failed, null while it has not. */
  readonly reason: string | null;
  /** Unix seconds of the block that finalized it. */
  readonly blockTime: number | null;
  /** Lamports paid, as a decimal string. */
  readonly fee: string | null;
}

/** What the chain says of the signature: levels, so that hearing one twice changes nothing. */
export type SignatureEvent =
  | { readonly type: "CONFIRMED" }
  | {
      readonly type: "FINALIZED";
      readonly slot: number;
      /** The chain's error, null when the transaction succeeded. */
      readonly error: string | null;
      readonly blockTime: number | null;
      readonly fee: string;
    }
  /** Proved: these bytes can never land any more. */
  | { readonly type: "EXPIRED" };

/** What a transfer reacts to: one command, and what the chain says. */
export type WalletTransferEvent = { readonly type: "CANCEL" } | SignatureEvent;

/** Webhooks are told this; CONTRACT section 4 says when. */
export interface AnnounceParams {
  readonly notice:
    "transaction.pending" | "transaction.confirmed" | "transaction.completed" | "transaction.failed";
}

/** What each state says of itself to those outside. */
export interface TransferMeta {
  /** The public status of this state. */
  readonly status: "pending" | "confirmed" | "processing" | "completed" | "failed" | "cancelled";
  readonly watches?: readonly string[];
}

/**
 * `accepted` → `broadcasting` is the point of no return: CANCEL is heard in `accepted` only, and the first byte leaves
 * after the commit into `broadcasting`. The watch `landing` follows our own broadcast and sends the same bytes again
 * until they land or are dead; `strayLanding` only looks, because a cancelled transaction is never sent by us, while
 * its caller still owns the bytes.
 */
export const walletTransfer = setup({
  types: {
    context: {} as WalletTransferContext,
    input: {} as WalletTransferInput,
    events: {} as WalletTransferEvent,
    meta: {} as TransferMeta,
  },
  actions: {
    broadcast: (_, _params: { signature: string }) => {},
    announce: (_, _params: AnnounceParams) => {},
  },
  guards: {
    succeeded: (_, params: { error: string | null }) => params.error === null,
  },
  delays: {
    broadcastDelay: ({ context }) => context.broadcastDelayMs,
  },
}).createMachine({
  id: "wallet-transfer",
  context: ({ input }) => ({ ...input, reason: null, blockTime: null, fee: null }),
  initial: "accepted",
  states: {
    accepted: {
      meta: { status: "pending" },
      after: { broadcastDelay: "broadcasting" },
      on: { CANCEL: "cancelled" },
    },
    broadcasting: {
      meta: { status: "pending", watches: ["landing"] },
      entry: [
        { type: "broadcast", params: ({ context }) => ({ signature: context.signature }) },
        { type: "announce", params: { notice: "transaction.pending" } },
      ],
      on: {
        CONFIRMED: "confirmed",
        FINALIZED: [
          {
            guard: { type: "succeeded", params: ({ event }) => ({ error: event.error }) },
            target: "completed",
            actions: [
              assign({ blockTime: ({ event }) => event.blockTime, fee: ({ event }) => event.fee }),
              { type: "announce", params: { notice: "transaction.confirmed" } },
            ],
          },
          {
            target: "failed",
            actions: assign({
              blockTime: ({ event }) => event.blockTime,
              fee: ({ event }) => event.fee,
              reason: "transaction_error",
            }),
          },
        ],
        EXPIRED: { target: "failed", actions: assign({ reason: "expired", fee: "0" }) },
      },
    },
    // Seen on a majority fork. Should that fork vanish, the same bytes are sent again: the status never goes back.
    confirmed: {
      meta: { status: "confirmed", watches: ["landing"] },
      entry: { type: "announce", params: { notice: "transaction.confirmed" } },
      on: {
        FINALIZED: [
          {
            guard: { type: "succeeded", params: ({ event }) => ({ error: event.error }) },
            target: "completed",
            actions: assign({ blockTime: ({ event }) => event.blockTime, fee: ({ event }) => event.fee }),
          },
          {
            target: "failed",
            actions: assign({
              blockTime: ({ event }) => event.blockTime,
              fee: ({ event }) => event.fee,
              reason: "transaction_error",
            }),
          },
        ],
        EXPIRED: { target: "failed", actions: assign({ reason: "expired", fee: "0" }) },
      },
    },
    completed: {
      type: "final",
      meta: { status: "completed" },
      entry: { type: "announce", params: { notice: "transaction.completed" } },
    },
    failed: {
      type: "final",
      meta: { status: "failed" },
      entry: { type: "announce", params: { notice: "transaction.failed" } },
    },
    cancelled: {
      meta: { status: "cancelled", watches: ["strayLanding"] },
      on: {
        FINALIZED: [
          {
            guard: { type: "succeeded", params: ({ event }) => ({ error: event.error }) },
            target: "landedAfterCancel",
          },
          { target: "cancelledForGood" },
        ],
        EXPIRED: "cancelledForGood",
      },
    },
    cancelledForGood: { type: "final", meta: { status: "cancelled" } },
    landedAfterCancel: { type: "final", meta: { status: "cancelled" } },
  },
});
