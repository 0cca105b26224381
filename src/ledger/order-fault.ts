/** Why a transaction of an order fails, as the chain says it: who is to blame is judged elsewhere, by a closed table. */
import type { Address } from "../core/address.ts";

/**
 * The instruction of a move: a marker is made by `allocate` and `fund`, a transfer of tokens is `create`, where it names a
 * payer for the account, and `pay`.
 */
export type FaultStep = "allocate" | "fund" | "create" | "pay" | "close" | "empty";

/**
 * The chain's verdict. `custom`: the number of a program's own error. `rent`: the transaction would leave `account` with less
 * than an account must hold. `fee`: `account`, the fee payer, cannot pay the network. `readonly_lamports`: nobody may pay
 * this account. `missing_account`: an account is not there, or is something else. `blockhash`: not alive, or not known yet.
 * `already_processed`: these very bytes have landed.
 */
export type FaultError =
  | { readonly custom: number }
  | "rent"
  | "fee"
  | "readonly_lamports"
  | "missing_account"
  | "blockhash"
  | "already_processed"
  | "other";

/** The error of a transaction, in terms of its plan. */
export interface OrderFault {
  /**
   * Where it failed: an index into the plan's moves, and the instruction. Null where no instruction did; for `rent`, the
   * move that makes the account, where it is a marker.
   */
  readonly at: { readonly move: number; readonly step: FaultStep } | null;
  /** The account with too few lamports, for `rent` and `fee`; else null: the move names its accounts. */
  readonly account: Address | null;
  readonly error: FaultError;
  /** The chain's error as JSON text. */
  readonly text: string;
}
