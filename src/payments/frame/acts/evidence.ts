/** Decisions of an operator about a transaction that callers signed, of which the chain does not tell enough. */
import type { Landing } from "../../../ledger/ledger.ts";
import type { Decision } from "./act-row.ts";
import type { TransactionStatus } from "../tables/orders.ts";

/** The landing that an operator names. */
export interface NamedLanding {
  readonly transactionId: string;
  readonly signature: string;
}

/** A settled transaction. */
export interface SettledTransaction {
  readonly transactionId: string;
  /** The status shown from now on. */
  readonly status: TransactionStatus;
  /** The landing that was read from the chain. */
  readonly landing: Landing;
}

/** A decision about a transaction, without its row of the audit log. */
export type DecidedTransaction<Told> = Pick<Decision<Told>, "send" | "told">;

/** Looks at the chain before it decides. Throws `LedgerUnavailable`. */
export interface EvidenceActs {
  /**
   * Settles a transaction by the evidence that the chain has of a signature. Throws `OperatorRefused` if the evidence is not
   * enough, and `TRANSACTION_NOT_FOUND`.
   */
  settle(landing: NamedLanding): Promise<DecidedTransaction<SettledTransaction>>;
  /** Fails a transaction on the operator's word that it never landed. Throws `OperatorRefused` if a node knows better. */
  writeOff(transactionId: string): Promise<DecidedTransaction<void>>;
}
