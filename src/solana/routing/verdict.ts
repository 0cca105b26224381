/** What is known of a failed plan while its error is being explained. */
import type { TransactionFault } from "../../ledger/routing.ts";

/** Why it failed, and at which move. */
export type MoveFault = Omit<TransactionFault, "error">;

/**
 * What the error leaves open. `which_end`: the token account that the transfer pays from or the one that it pays to.
 * `which_payee`: an owner paid for token accounts until too little was left for itself; those of `moves` may have been
 * among them.
 */
export type UnclearFault =
  | { readonly doubt: "which_end"; readonly move: number }
  | { readonly doubt: "which_payee"; readonly moves: readonly number[] };
