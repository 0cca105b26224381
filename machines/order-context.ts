/** Context and events of an order of private mode. */
import type { LookEvent, MarkerGoneEvent } from "./order-messages.ts";
import type { TransferMeta } from "./wallet-transfer.ts";

/** The input of an order: its own id. */
export interface OrderInput {
  readonly order: string;
}

/** Why an order fails: the window (nothing of the expected asset came, or too little), the payees, a swap's price, a person, another copy. */
export type OrderReason =
  | "DEPOSIT_TIMEOUT"
  | "INCOMPLETE_DEPOSIT"
  | "PARTIAL_PAYOUT"
  | "PAYOUT_FAILED"
  | "SLIPPAGE_EXCEEDED"
  | "LIQUIDITY_UNAVAILABLE"
  | "DECLINED"
  | "REFUSED";

/** An end that no marker decides. A reason only where it failed. */
export interface OrderEnd {
  readonly status: "failed" | "cancelled";
  readonly reason: OrderReason | null;
}

/** The last payout of those that are final. */
export interface LastPayout {
  readonly signature: string | null;
  /** Unix seconds. */
  readonly blockTime: number | null;
}

/** The context of an order: a few facts. Its recipients, chunks, levels, deposits, holds and transfers are rows. */
export interface OrderContext extends OrderInput, LastPayout {
  /** The status that callers read. A status never goes back, and nothing in `over` changes it. */
  readonly status: TransferMeta["status"];
  /** Why it has failed, or is being refused. */
  readonly reason: OrderReason | null;
  /** The markers of the committed rows: nothing, chunk 0's go alone, the go and all other chunks, or the no-go. */
  readonly decision: "open" | "go" | "decided" | "refused";
  /** The end of an order that is closing. */
  readonly ends: OrderEnd | null;
  /** The fee that was taken, in base units of the deposited asset; null while that is open. */
  readonly charged: string | null;
}

/**
 * Chunk 0's marker is a go, which took `charged` base units as the fee; null while the history of a marker that another copy
 * made is missing. Transfers of the later chunks are started.
 */
export type GoEvent = { readonly type: "GO"; readonly charged: string | null } & LastPayout;

/**
 * The marker that a row has is missing in two readings; of a later chunk only while the go stands. The row has none now. The
 * chunk's transfer is started if there is none.
 */
export type ChunkGoneEvent = { readonly chunk: number } & MarkerGoneEvent;

/**
 * Events of an order. The effect `look` alone tells the events from GO to NOTED: of one reading the first that applies, in
 * this order; committed with all rows of the reading and under the version of the instance that it read. Finalized evidence
 * is their ground; that of CONFIRMED is confirmed.
 */
export type OrderEvent =
  /** A watch: something at the order's address has changed, or its window may be over. */
  | { readonly type: "CHANGED" }
  | LookEvent
  | GoEvent
  /** Chunk 0's marker is a no-go: no recipient of any chunk is paid. */
  | { readonly type: "NO_GO" }
  /** Markers of later chunks stand that no row had. */
  | ({ readonly type: "MARKS" } & LastPayout)
  | ChunkGoneEvent
  /** The deposit is there. Chunk 0's transfer is started. */
  | { readonly type: "FUNDED" }
  /** A block is past the window. To be refused if what came is worth its refund, or no price tells: then chunk 0's no-go is started. */
  | {
      readonly type: "WINDOW_OVER";
      readonly reason: "DEPOSIT_TIMEOUT" | "INCOMPLETE_DEPOSIT";
      readonly isRefused: boolean;
    }
  /** No payee of the only chunk can take the money. */
  | { readonly type: "CULPRITS" }
  /** A swap has had no price that is good enough for ten minutes, and no hold was the cause. */
  | { readonly type: "BELOW"; readonly reason: "SLIPPAGE_EXCEEDED" | "LIQUIDITY_UNAVAILABLE" }
  /** Every chunk is paid, its last one by this signature. */
  | { readonly type: "CONFIRMED"; readonly signature: string | null }
  /** The rows have every chunk's marker, or the no-go. */
  | { readonly type: "DECIDED"; readonly paid: "all" | "some" | "none" }
  /**
   * The funds at the address are worth their return. If nothing is decided, chunk 0's no-go is started unless the chunk has a
   * transfer.
   */
  | { readonly type: "LATE" }
  /** Nothing is left, neither loan nor account. */
  | { readonly type: "EMPTY" }
  /**
   * The remaining funds are not worth their return. Before any decision, every go has expired too: this copy's, and another's
   * from before this process began or the order was refused.
   */
  | { readonly type: "BELOW_COST" }
  /**
   * Rows that lead nowhere by themselves: a level, a deposit, a shortage, a marker missed once, a rest that is started; or the
   * fee that a go took after all, in base units.
   */
  | { readonly type: "NOTED"; readonly charged?: string }
  /** The caller, after a fresh read that shows neither deposit nor marker. */
  | { readonly type: "CANCEL" }
  /** A person refuses the order: no recipient is paid. */
  | { readonly type: "DECLINE" }
  /** A person gives up this later chunk: no recipient of it is paid. */
  | { readonly type: "FORECLOSE"; readonly chunk: number }
  /** The journal has this line: `writeLine` has written it, or a start has found it. */
  | ({ readonly type: "LINE_STANDS" } & OrderEnd);
