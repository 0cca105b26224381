/** An instruction of a plan's transaction, and the move that it belongs to. */
import type { TransactionInstruction } from "@solana/web3.js";

/**
 * The part of an instruction in its move. A marker is made by `allocate`, `fund` and `open` in this order; `replace`
 * does so twice, with `approve` between. A `transfer` of tokens is `create`, where it names a payer for the account,
 * before `pay`.
 */
export type Step =
  "allocate" | "fund" | "open" | "approve" | "revoke" | "unmark" | "create" | "pay" | "close";

/** An instruction of a move. */
export type StepInstruction = readonly [Step, TransactionInstruction];

/** An instruction of a transaction, a tip's included. */
export interface StepOfTransaction {
  readonly step: Step;
  readonly instruction: TransactionInstruction;
}

/** An instruction, and where in the plan it comes from. */
export interface PlannedInstruction extends StepOfTransaction {
  /** Index into the plan's moves. */
  readonly move: number;
}
