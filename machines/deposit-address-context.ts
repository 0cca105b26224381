/** What a deposit address knows, hears and asks for; and what payments and operators change in what it knows. */
import { accounted, spend, type Amounts, type DepositTally, type Reading } from "./deposit-tally.ts";
import type { Movement, OrderOverEvent, SpendingEvent } from "./private-messages.ts";

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
  /** What all transactions of the order may cost the sponsor, in lamports; every release grants it once more. */
  readonly sponsorCap: string;
  /** Whether those who paid in are looked at before anything is paid out. */
  readonly isScreened: boolean;
  /** Whether it was brought back from its order's id: it waits for an operator from the beginning. */
  readonly isRecovered?: boolean;
}

/** Where an address rests, in this order, each with a longer pause between two looks; a closed one is not looked at. */
export type RestingState = "lingering" | "aging" | "resting" | "slowLane" | "closed";

/** What an address knows of itself. */
export interface DepositAddressContext extends DepositAddressInput, DepositTally {
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
  readonly lane: RestingState;
  /** Its markers may be closed once every witness's finalized height is above this; null until it has aged. */
  readonly closeAbove: number | null;
  /** What the sponsor may spend on it, in lamports. */
  readonly allowance: string;
  /** Why an operator has to look. */
  readonly heldReason: string | null;
}

/** What an address reacts to. */
export type DepositAddressEvent =
  | ({
      readonly type: "BALANCES_READ";
      /** Milliseconds. */
      readonly blockTime: number;
      /** An endpoint tells of a deposit that too few others show: the window stays open. */
      readonly isDisputed?: true;
    } & Reading)
  /** A token account of this owner that is not its associated one holds a deposit. */
  | { readonly type: "STRAY_SEEN" }
  /** Such accounts are being emptied into the associated one. */
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
  /** All that goes back has gone back; what is left is being swept. */
  | ({ readonly type: "SWEEP_PLANNED"; readonly payment: string } & Reading)
  /** An operator's word: what is there of another mint goes to this owner. */
  | ({ readonly type: "RETURN" } & Omit<ReturnParams, "settledSlot">)
  /** It is on its way. */
  | ({ readonly type: "RETURN_PLANNED"; readonly payment: string } & Reading)
  | { readonly type: "NOTHING_TO_RETURN" }
  /** Something is to be refunded, but not so soon after the last refund. */
  | ({ readonly type: "MUST_WAIT" } & Reading)
  /**
   * Nothing is left that could be sent anywhere now. `isBound`: markers stand, and with them lamports of the sponsor;
   * `height` is the highest finalized height that any node has answered since the last signing.
   */
  | ({ readonly type: "AT_REST"; readonly isBound: boolean; readonly height: number } & Reading)
  /** Something that cannot be explained, or that only an operator may decide. */
  | { readonly type: "HELD"; readonly reason: string }
  /** An operator has looked. */
  | { readonly type: "RELEASE" }
  /** An operator has looked: no recipient is paid, and what is there goes where the operator has said. */
  | { readonly type: "REDIRECT" };

/**
 * What the next step of settling an address depends on, besides the chain and the landings that it has heard of: those
 * still come in while a step is planned, and are read then.
 */
export interface SettlementParams {
  /** What the order keeps, in base units of the expected asset. */
  readonly fee: string;
  readonly mayRefund: boolean;
  /** Above which height its markers may be closed, null while they may not. */
  readonly closeAbove: number | null;
}

/** What of another mint goes where, by an operator's word. */
export interface ReturnParams {
  readonly mint: string;
  readonly to: string;
  /** Raw units that the operator has named: no more goes. A word of an earlier version names none. */
  readonly atMost?: string;
  /** A reading from before this slot does not show all that went out. */
  readonly settledSlot: number;
}

/** One payment more has landed. */
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

/** Whether the sender was paid back by itself: what an operator returns is of no mint that is counted here. */
export function isRefund({ smallest }: DepositAddressContext, { kind, mint }: Movement): boolean {
  return kind === "refund" && smallest[mint] !== undefined;
}

/**
 * The life of signed bytes in blocks, plus one: while they may still land, the marker that refuses them must stand.
 * Source: a blockhash is accepted for 150 blocks, and by one more.
 */
export const BLOCKS_OF_SIGNED_BYTES = 151;

/**
 * It has nothing to do now. Where its markers have aged and stand all the same, a node was far ahead of the others when
 * they began to: they age once more, by what the nodes tell now.
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

/** Whether as much came of any asset as counts as a deposit. */
export function hasDeposit({ received: all, smallest }: DepositAddressContext): boolean {
  return Object.entries(smallest).some(([mint, least]) => BigInt(all[mint] ?? "0") >= BigInt(least));
}
