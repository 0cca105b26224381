/** A payment whose transaction the caller signed: it is broadcast as it is, and followed until the chain has decided. */
import { assign, setup } from "xstate";
import type { StatusEvent } from "./notice-events.ts";

/** The input of a transfer. */
export interface WalletTransferInput {
  /** First signature of the caller's transaction: its identity on the chain. */
  readonly signature: string;
  /** How long a caller may still think better of it, in milliseconds. */
  readonly broadcastDelayMs: number;
  /** Reservations of a swap until it has landed, is proved dead or was cancelled. */
  readonly reservations?: readonly string[];
  /** The payment that this one refunds; absent where it refunds none. */
  readonly refundOf?: string;
}

/** The context of a transfer: small, and whole after a trip through JSON. */
export interface WalletTransferContext extends WalletTransferInput {
  /** Why it failed, null while it has not. */
  readonly reason: string | null;
  /** Unix seconds of the block that finalized it. */
  readonly blockTime: number | null;
  /** Lamports paid, as a decimal string. */
  readonly fee: string | null;
  /** The signature under which the message landed, when the sender signed the same message again; else null. */
  readonly landedSignature: string | null;
}

/** The chain's report about the signature. Events are levels, so a repeated event changes nothing. */
export type SignatureEvent =
  | { readonly type: "CONFIRMED" }
  | {
      readonly type: "FINALIZED";
      readonly slot: number;
      /** The chain's error, null when the transaction succeeded. */
      readonly error: string | null;
      readonly blockTime: number | null;
      readonly fee: string;
      /** The signature under which the message landed, when it differs from the attempt's signature. */
      readonly signature?: string;
    }
  /** Proved: these bytes can never land. */
  | { readonly type: "EXPIRED" };

/** Events of a transfer: one command, and the reports of the chain. */
export type WalletTransferEvent =
  | { readonly type: "CANCEL" }
  | SignatureEvent
  /** Past the last valid block, without evidence of a landing or of a death. */
  | { readonly type: "UNPROVABLE" };

/** The notice that a step announces to webhooks. */
export interface AnnounceParams {
  readonly notice: StatusEvent;
}

/** Public description of each state. */
export interface TransferMeta {
  /** The public status of this state. */
  readonly status: "pending" | "confirmed" | "processing" | "completed" | "failed" | "cancelled";
  readonly watches?: readonly string[];
  /** Why the transaction needs an operator. */
  readonly attention?: "unprovable";
}

/** Context fields of a landing. */
const asLanded = {
  blockTime: ({ event }: { event: { readonly blockTime: number | null } }) => event.blockTime,
  fee: ({ event }: { event: { readonly fee: string } }) => event.fee,
  landedSignature: ({ event }: { event: { readonly signature?: string } }) => event.signature ?? null,
};

/**
 * `accepted` → `broadcasting` is the point of no return: CANCEL is heard in `accepted` only, and the first byte leaves
 * after the commit into `broadcasting`. The watch `landing` follows our own broadcast and sends the same bytes again
 * until they land or are dead; `strayLanding` only looks, because a cancelled transaction is never sent by us, while
 * its caller still owns the bytes. Where no evidence tells any more whether they landed, `unprovable` asks at a slower
 * pace: a node with that history may be added, or an operator may name the landing. `expired` looks for a day whether bytes
 * that were judged dead have landed all the same.
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
    reportUnprovable: (_, _params: { signature: string }) => {},
  },
  guards: {
    succeeded: (_, params: { error: string | null }) => params.error === null,
  },
  delays: {
    broadcastDelay: ({ context }) => context.broadcastDelayMs,
    secondLook: 24 * 60 * 60 * 1_000,
  },
}).createMachine({
  id: "wallet-transfer",
  context: ({ input }) => ({ ...input, reason: null, blockTime: null, fee: null, landedSignature: null }),
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
            actions: [assign(asLanded), { type: "announce", params: { notice: "transaction.confirmed" } }],
          },
          { target: "failed", actions: assign({ ...asLanded, reason: "transaction_error" }) },
        ],
        EXPIRED: "expired",
        UNPROVABLE: "unprovable",
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
            actions: assign(asLanded),
          },
          { target: "failed", actions: assign({ ...asLanded, reason: "transaction_error" }) },
        ],
        EXPIRED: "expired",
        UNPROVABLE: "confirmedUnprovable",
      },
    },
    // No deadline ends it: unknown is not failed. CONFIRMED is not heard, since by now it would be final.
    unprovable: {
      meta: { status: "pending", watches: ["unprovable"], attention: "unprovable" },
      entry: { type: "reportUnprovable", params: ({ context }) => ({ signature: context.signature }) },
      on: {
        FINALIZED: [
          {
            guard: { type: "succeeded", params: ({ event }) => ({ error: event.error }) },
            target: "completed",
            actions: [assign(asLanded), { type: "announce", params: { notice: "transaction.confirmed" } }],
          },
          { target: "failed", actions: assign({ ...asLanded, reason: "transaction_error" }) },
        ],
        EXPIRED: "expired",
      },
    },
    confirmedUnprovable: {
      meta: { status: "confirmed", watches: ["unprovable"], attention: "unprovable" },
      entry: { type: "reportUnprovable", params: ({ context }) => ({ signature: context.signature }) },
      on: {
        FINALIZED: [
          {
            guard: { type: "succeeded", params: ({ event }) => ({ error: event.error }) },
            target: "completed",
            actions: assign(asLanded),
          },
          { target: "failed", actions: assign({ ...asLanded, reason: "transaction_error" }) },
        ],
        EXPIRED: "expired",
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
    // That bytes are dead is a judgement. Failed for its caller; looked for once more in case every node was wrong.
    expired: {
      meta: { status: "failed", watches: ["expired"] },
      entry: [
        assign({ reason: "expired", fee: "0" }),
        { type: "announce", params: { notice: "transaction.failed" } },
      ],
      after: { secondLook: "expiredForGood" },
      on: {
        FINALIZED: [
          {
            guard: { type: "succeeded", params: ({ event }) => ({ error: event.error }) },
            target: "landedAfterExpiry",
            actions: assign(asLanded),
          },
          { target: "expiredForGood", actions: assign(asLanded) },
        ],
      },
    },
    expiredForGood: { type: "final", meta: { status: "failed" } },
    landedAfterExpiry: { type: "final", meta: { status: "failed" } },
    cancelled: {
      meta: { status: "cancelled", watches: ["strayLanding"] },
      on: {
        FINALIZED: [
          {
            guard: { type: "succeeded", params: ({ event }) => ({ error: event.error }) },
            target: "landedAfterCancel",
            actions: assign({ landedSignature: asLanded.landedSignature }),
          },
          { target: "cancelledForGood" },
        ],
        EXPIRED: "cancelledForGood",
        UNPROVABLE: "cancelledUnprovable",
      },
    },
    cancelledUnprovable: {
      meta: { status: "cancelled", watches: ["unprovable"], attention: "unprovable" },
      entry: { type: "reportUnprovable", params: ({ context }) => ({ signature: context.signature }) },
      on: {
        FINALIZED: [
          {
            guard: { type: "succeeded", params: ({ event }) => ({ error: event.error }) },
            target: "landedAfterCancel",
            actions: assign({ landedSignature: asLanded.landedSignature }),
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
