/** Decisions of an operator about a transaction that callers signed, of which the chain does not tell enough. */
import type { Landing } from "../../../ledger/ledger.ts";
import type { FrameWrite } from "../frame-storage.ts";
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

/** A decision about a transaction of which the chain does not tell enough. */
interface Settling {
  readonly transactionId: string;
  /** Belong into the commit that settles it. */
  readonly writes: readonly FrameWrite[];
}

/**
 * Settles a transaction by the evidence that the chain has of a signature. Throws `OperatorRefused` where the evidence is
 * not enough; then nothing is changed.
 */
type SettleWithEvidence = (
  settling: Settling & { readonly signature: string },
) => Promise<SettledTransaction>;

/** Fails a transaction on the operator's word that it never landed. Throws `OperatorRefused` where a node knows better. */
type WriteOffUnprovable = (settling: Settling) => Promise<void>;

export interface EvidenceControl {
  readonly settle: SettleWithEvidence;
  readonly writeOff: WriteOffUnprovable;
}
