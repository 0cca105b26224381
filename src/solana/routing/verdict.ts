/** The state of an explanation: a verdict about a failed plan, or an open doubt. */
import type { TransactionFault } from "../../ledger/routing.ts";

/** The reason why a transaction failed, and the failed move. */
export type MoveFault = Omit<TransactionFault, "error">;

/**
 * An open question about an error. `which_end`: the transfer's source account or destination account failed.
 * `which_payee`: an owner paid for token accounts until its own lamports were too few; the accounts of `moves` may be
 * among them.
 */
export type UnclearFault =
  | { readonly doubt: "which_end"; readonly move: number }
  | { readonly doubt: "which_payee"; readonly moves: readonly number[] };
