/**
 * Context, events and effects of a deposit address; and the changes that payments and operators make to the context.
 */
import { accounted, spend, type Amounts, type DepositTally, type Reading } from "./deposit-tally.ts";
import type { Movement, OrderOverEvent, SpendingEvent } from "./private-messages.ts";

/** The input of a deposit address. */
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
  /**
   * How long it is watched after its order: as closely as while it waited, until its markers may be closed, now and then,
   * and seldom.
   */
  readonly lingerMs: number;
  readonly agingMs: number;
  readonly quietMs: number;
  readonly slowMs: number;
  /** Pause between two refunds, and before what failed is tried again. */
  readonly refundPauseMs: number;
  /** The sponsor's highest cost for all transactions of the order, in lamports; every release grants it once more. */
  readonly sponsorCap: string;
  /** The most that a transaction of the order bids for its place in a block, in lamports; older orders reserved none. */
  readonly bidCeiling?: string;
  /** The part of it that the customer has paid for, in lamports; older orders do not tell. */
  readonly paidBid?: string;
  /** What a relay may be tipped for a transaction of the order, in lamports; older orders have reserved nothing for it. */
  readonly tip?: string;
  /** Whether those who paid in are looked at before anything is paid out. */
  readonly isScreened: boolean;
  /** Whether it was brought back from its order's id: it waits for an operator from the beginning. */
  readonly isRecovered?: boolean;
}

/**
 * The stages of a resting address, in this order, with growing pauses between looks; a closed address is not looked at.
 */
export type RestingState = "lingering" | "aging" | "resting" | "slowLane" | "closed";

/** The context of a deposit address. */
export interface DepositAddressContext extends DepositAddressInput, DepositTally {
  /** Payments of this address that have landed. */
  readonly landed: number;
  /** The payment that is under way. */
  readonly underWay: string | null;
  /** Whether a finalized block past the deposit window has been seen. */
  readonly isPastWindow: boolean;
  /** Whether the order has said that it is over, and the fee that it keeps. */
  readonly isOver: boolean;
  readonly fee: string;
  /** Whether a refund was made since the last pause, and how many payments in a row have failed. */
  readonly hasRefunded: boolean;
  readonly losses: number;
  /** The next stage of rest. */
  readonly lane: RestingState;
  /**
   * The height above which the markers may be closed, once every witness has finalized it; null until the address has
   * aged.
   */
  readonly closeAbove: number | null;
  /** The sponsor's allowance for the address, in lamports. */
  readonly allowance: string;
  /** Why an operator has to look. */
  readonly heldReason: string | null;
}

/** Events of a deposit address. */
export type DepositAddressEvent =
  | ({
      readonly type: "BALANCES_READ";
      /** Milliseconds. */
      readonly blockTime: number;
      /** An endpoint tells of a deposit that too few others show: the window stays open. */
      readonly isDisputed?: true;
    } & Reading)
  /** A token account of the address other than the associated one holds a deposit. */
  | { readonly type: "STRAY_SEEN" }
  /** Tokens of mints that are none of the assets: counted, and moved only by an operator. */
  | ({ readonly type: "OTHER_MINTS_READ" } & Reading)
  /** Such token accounts are being emptied into the associated account. */
  | { readonly type: "COLLECTION_PLANNED"; readonly payment: string }
  | { readonly type: "NOTHING_STRAY" }
  /** Another copy of the database has paid the recipients: the order plans to pay them, and meets the marker. */
  | { readonly type: "PAID_ELSEWHERE" }
  /** The payers may be served. */
  | { readonly type: "CLEARED" }
  | OrderOverEvent
  | SpendingEvent
  /** A payment back to the sender was planned and started. */
  | ({ readonly type: "REFUND_PLANNED"; readonly payment: string } & Reading)
  /** All refunds are done; the rest is being swept. */
  | ({ readonly type: "SWEEP_PLANNED"; readonly payment: string } & Reading)
  /** An operator's order: the tokens of a foreign mint go to this owner. */
  | ({ readonly type: "RETURN" } & Omit<ReturnParams, "settledSlot">)
  /** The return is on its way. */
  | ({ readonly type: "RETURN_PLANNED"; readonly payment: string } & Reading)
  | { readonly type: "NOTHING_TO_RETURN" }
  /** A refund is due, but not so soon after the last refund. */
  | ({ readonly type: "MUST_WAIT" } & Reading)
  /**
   * Nothing is left to send now. `isBound`: markers still hold lamports of the sponsor; `height` is the highest
   * finalized height that any node has answered since the last signing.
   */
  | ({ readonly type: "AT_REST"; readonly isBound: boolean; readonly height: number } & Reading)
  /** Something that cannot be explained, or that only an operator may decide. */
  | { readonly type: "HELD"; readonly reason: string }
  /** An operator has looked. */
  | { readonly type: "RELEASE" }
  /** An operator has looked: no recipient is paid, and what is there goes where the operator has said. */
  | { readonly type: "REDIRECT" };

/**
 * Parameters of the next step of settling an address. Landings are read when the step is planned, since they still
 * arrive meanwhile.
 */
export interface SettlementParams {
  /** The fee that the order keeps, in base units of the expected asset. */
  readonly fee: string;
  readonly mayRefund: boolean;
  /** Above which height its markers may be closed, null while they may not. */
  readonly closeAbove: number | null;
}

/** The foreign mint to return, and the receiver, by an operator's word. */
export interface ReturnParams {
  readonly mint: string;
  readonly to: string;
  /** Raw units that the operator has named: no more goes. A word of an earlier version names none. */
  readonly atMost?: string;
  /** A reading from before this slot does not show all that went out. */
  readonly settledSlot: number;
}

/** Books a landed payment. */
export function book(
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

/** Whether the payment was a refund to the sender: an operator's return is of a mint that is not counted here. */
export function isRefund({ smallest }: DepositAddressContext, { kind, mint }: Movement): boolean {
  return kind === "refund" && smallest[mint] !== undefined;
}

/**
 * The life of signed bytes in blocks, plus one: while they may still land, the marker that refuses them must stand.
 * Source: a blockhash is accepted for 150 blocks, and by one more.
 */
export const BLOCKS_OF_SIGNED_BYTES = 151;

/**
 * The context of an address at rest. If the markers have aged and still stand, a node was far ahead of the others when
 * the aging began: the markers age once more, by the nodes' present heights.
 */
export function rested(
  context: DepositAddressContext,
  event: Reading & { readonly isBound: boolean; readonly height: number },
): Pick<DepositAddressContext, "received" | "spent" | "lane" | "closeAbove"> {
  const { closeAbove } = context;
  const lane = event.isBound && context.lane !== "lingering" ? "aging" : context.lane;
  return {
    ...accounted(context, event),
    lane,
    closeAbove: lane === "aging" ? event.height + BLOCKS_OF_SIGNED_BYTES : closeAbove,
  };
}

/** Bytes that make a marker are about to be signed: its age counts from the end of that. */
export function younger({ lane }: DepositAddressContext): Pick<DepositAddressContext, "lane" | "closeAbove"> {
  return { lane: lane === "lingering" ? lane : "aging", closeAbove: null };
}

/** Every word of an operator lets the sponsor spend as much again. */
export function granted({
  allowance,
  sponsorCap,
}: DepositAddressContext): Pick<DepositAddressContext, "allowance" | "losses"> {
  return { allowance: String(BigInt(allowance) + BigInt(sponsorCap)), losses: 0 };
}

/** An operator lets what is there pass. What else comes is for the next look to judge. */
export function released(
  context: DepositAddressContext,
): Pick<DepositAddressContext, "allowance" | "losses" | "heldReason"> {
  return { ...granted(context), heldReason: null };
}

/** Whether the money received of any asset counts as a deposit. */
export function hasDeposit({ received: all, smallest }: DepositAddressContext): boolean {
  return Object.entries(smallest).some(([mint, least]) => BigInt(all[mint] ?? "0") >= BigInt(least));
}
