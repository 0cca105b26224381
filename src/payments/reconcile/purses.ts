/**
 * Compares the service's own wallets with the chain: finds transactions that a wallet signed and this database does not
 * know.
 */
import type { Address } from "../../address.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { PaymentStorage } from "../payment-storage.ts";
import { spendingElsewhere } from "../outgoing/unknown-spending.ts";

/** The reconciliation of one wallet. */
export interface PurseReconciliation {
  readonly purse: "sponsor" | "desk";
  readonly address: Address;
  /** The number of carried out transactions that the purse has signed, as far as the nodes list them. */
  readonly transactions: number;
  /** False when it has signed more than were looked through: then older ones were not. */
  readonly isWhole: boolean;
  /**
   * Signatures that are not recorded here and that no operator has vouched for: the database is an old copy, a
   * different database signs with the same key, or the key is stolen.
   */
  readonly unknownSignatures: readonly string[];
}

/** A wallet of the service's own that signs. */
export type SigningPurse = Pick<PurseReconciliation, "purse" | "address">;

/** Dependencies of comparing purses. */
interface PurseReconciliationParts {
  readonly storage: PaymentStorage;
  readonly ledger: Pick<Ledger, "signedBy">;
}

/** Changes nothing. Rejects with `LedgerUnavailable`. */
export function reconcilePurses(
  { storage, ledger }: PurseReconciliationParts,
  purses: readonly SigningPurse[],
): Promise<readonly PurseReconciliation[]> {
  return Promise.all(
    purses.map(async ({ purse, address }) => {
      const { transactions, isWhole } = await ledger.signedBy(address);
      const { unknown } = await spendingElsewhere(storage, transactions);
      const count = transactions.filter(({ error }) => error === null).length;
      return { purse, address, transactions: count, isWhole, unknownSignatures: unknown };
    }),
  );
}
