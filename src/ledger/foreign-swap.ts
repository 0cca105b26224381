/** A swap whose transaction a stranger has built, such as a market's: what is checked before a taker sees it. */
import type { Address } from "../core/address.ts";

/** The terms of a swap that a stranger's transaction must keep. */
export interface ForeignSwap {
  /** The wallet that gives, gets, pays the fee and signs alone. */
  readonly taker: Address;
  /** Null for SOL. */
  readonly give: Address | null;
  /** Null for SOL. */
  readonly get: Address | null;
  /** Base units of `give` that leave the taker at most. */
  readonly inputAmount: bigint;
  /** Base units of `get` that reach the taker at least. */
  readonly leastAmount: bigint;
}

/**
 * Why a stranger's transaction is refused.
 *
 * - `undecodable`: no transaction of a known version, or a lookup table that does not exist.
 * - `fee_payer`: another than the taker pays the fee.
 * - `signers`: another than the taker has to sign.
 * - `program`: an instruction that is not on the list: of an unknown program, or for nonce accounts, derived addresses, mints.
 * - `terms`: not exactly one swap instruction, or one that states another taker, another payee, a larger input or a
 *   smaller least output; or an account that is closed to another.
 * - `run`: the run failed.
 * - `takes_more`: after the run the taker has less than the terms say; or an account of the taker has another owner, a new
 * delegate, a close authority, or is gone.
 * - `blockhash`: not alive.
 */
export type ForeignSwapFault =
  "undecodable" | "fee_payer" | "signers" | "program" | "terms" | "run" | "takes_more" | "blockhash";
