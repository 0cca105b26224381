/** Messages between the three charts of private mode: the order, its deposit address, and its payments. */

/** A line in the ledger of a deposit address. A `loan` comes in, everything else goes out. */
export interface Movement {
  readonly kind: "loan" | "payout" | "refund" | "fee" | "dust" | "repayment";
  readonly mint: string;
  /** Base units as a decimal string. */
  readonly amount: string;
}

/** Why a transaction of ours cannot be done, in the ledger's words; `move` is the index of the move that fails. */
export interface PaymentFault {
  readonly kind:
    | "payee"
    | "marked"
    | "unplanned"
    | "source"
    | "fee_payer"
    | "blockhash"
    | "already_processed"
    | "other"
    /** A second payment made the marker, or replaced a marker that this payment depends on. */
    | "superseded";
  readonly move: number | null;
}

/** From a deposit address to its order: what has come in. */
export type DepositEvent =
  /** At least 0.001 of the expected asset is there, but less than asked for. */
  | { readonly type: "DEPOSIT_SEEN" }
  /** The whole deposit is finalized; its payers are still being checked. */
  | { readonly type: "DEPOSIT_FINALIZED" }
  /** All that was asked for is finalized, and may be paid out. */
  | { readonly type: "FUNDED" }
  /** A finalized block past the deposit window has not got it; `received` tells whether any deposit came at all. */
  | { readonly type: "WINDOW_CLOSED"; readonly received: boolean }
  /** An operator has decided: no recipient is paid out of what came. */
  | { readonly type: "DECLINED"; readonly reason: string }
  /** Everything that was to go back has gone back, or waits for an operator. */
  | { readonly type: "SETTLED" };

/** From an order to its deposit address: nothing more is paid out; keep `fee` (base units), send the rest back. */
export type OrderOverEvent = { readonly type: "OVER"; readonly fee: string };

/**
 * The role of a payment in its order. `payout`: pays recipients. `plan`: records on the chain which payouts replace a
 * payout. `own`: belongs to the deposit address itself, and no order waits for it.
 */
export type PaymentRole = "payout" | "plan" | "own";

/** From a payment to its order: a rival payment with the same marker landed, so this payment never will. */
export interface PayoutOvertakenEvent {
  readonly type: "PAYOUT_OVERTAKEN";
  readonly role: PaymentRole;
  /** Whether PAYOUT_CONFIRMED was sent before, and whether a plan's payouts were counted. */
  readonly wasConfirmed: boolean;
  readonly hasLeaves: boolean;
  /** How many recipients the other payment paid, and by how much the number of unpaid ones changes. */
  readonly paid: number;
  readonly unpaid: number;
  readonly signature: string | null;
  readonly blockTime: number | null;
}

/** From a plan to its order: so many payouts were started, so many recipients are left out. */
export interface RoutedEvent {
  readonly type: "ROUTED";
  readonly payouts: number;
  readonly unpaid: number;
  readonly reason?: string;
}

/** From a payment to the order that waits for it. */
export interface PayoutEvent {
  readonly type: "PAYOUT_CONFIRMED" | "PAYOUT_FINALIZED" | "PAYOUT_FAILED";
  readonly payment: string;
  /** Indexes of the recipients that the payment pays. */
  readonly indexes: readonly number[];
  readonly signature: string | null;
  readonly blockTime: number | null;
  /** Whether PAYOUT_CONFIRMED was sent before. */
  readonly wasConfirmed: boolean;
  readonly fault: PaymentFault | null;
}

/** From a payment to the deposit address it was paid out of. */
export type SpendingEvent =
  | {
      readonly type: "PAYMENT_LANDED";
      readonly payment: string;
      /** From this slot on, balances show it. */
      readonly slot: number;
      readonly signature: string | null;
      readonly movements: readonly Movement[];
    }
  | { readonly type: "PAYMENT_LOST"; readonly payment: string; readonly fault: PaymentFault | null };

/** A message to another instance: the params of the engine's own action `tell`. */
export type Message =
  | {
      readonly machine: "deposit-address";
      readonly id: string;
      readonly event: OrderOverEvent | SpendingEvent;
    }
  | {
      readonly machine: "private-transfer";
      readonly id: string;
      readonly event: DepositEvent | PayoutEvent | PayoutOvertakenEvent | RoutedEvent;
    };
