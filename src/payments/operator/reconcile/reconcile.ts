/** Compares the database with the chain: deposits to the base unit, wallet transactions, the service's own wallets. */
import type { Ledger } from "../../../ledger/ledger.ts";
import type { Clock, Logger } from "../../../core/runtime.ts";
import type { PaymentStorage } from "../../frame/payment-storage.ts";
import type { Assets } from "../../frame/assets/assets.ts";
import {
  noAddresses,
  reconcileAddresses,
  type AddressReconciliationParts,
  type AddressReconciliation,
} from "./orders.ts";
import { deskPurse, sponsorPurse } from "../../frame/spending.ts";
import { areExplained, toldEachMinute } from "./findings.ts";
import {
  reconcilePurses,
  type PurseReconciliation,
  type PurseAddress,
  type MendedTotal,
  reconcileTotals,
} from "./purses.ts";
import { reconcileWallet, type WalletReconciliation } from "./wallet.ts";

/** The chain's answer about everything that this database has recorded. */
export interface Reconciliation extends AddressReconciliation {
  readonly isExplained: boolean;
  readonly wallet: WalletReconciliation;
  /** Purses of enabled modes only. */
  readonly purses: readonly PurseReconciliation[];
  /** Totals of what is reserved of the sponsor and the desk that differed from their rows, and were mended: nobody is to look. */
  readonly mendedTotals: readonly MendedTotal[];
}

interface ReconciliationParts {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly assets: Assets;
  /** Null where no deposit was ever taken. */
  readonly routing: AddressReconciliationParts | null;
  readonly purses: readonly PurseAddress[];
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * May run beside any number of services. Changes nothing but this: what the history of an order's address tells is written down,
 * an order that is not as the chain is looks again, and a total that differs from its rows is counted anew. Rejects with
 * `LedgerUnavailable` when the chain cannot be read to the end.
 */
export async function reconcile({
  storage,
  ledger,
  assets,
  routing,
  purses,
  clock,
  log,
}: ReconciliationParts): Promise<Reconciliation> {
  const tell = toldEachMinute({ clock, log });
  const addresses = routing === null ? noAddresses(assets) : await reconcileAddresses({ ...routing, tell });
  const sponsor = routing?.sponsor ?? null;
  const desks = purses.filter(({ purse }) => purse === "desk").map(({ address }) => address);
  const given = desks.flatMap((desk) => assets.tokens.map(({ mint }) => deskPurse(desk, mint)));
  const limited = [...(sponsor === null ? [] : [sponsorPurse(sponsor)]), ...given];
  const mendedTotals = await reconcileTotals(storage, { purses: limited, sponsor });
  const wallet = await reconcileWallet({ storage, ledger, tell });
  const reconciled = await reconcilePurses({ storage, ledger }, purses);
  const isExplained =
    addresses.findings.every(({ findings }) => areExplained(findings)) &&
    wallet.findings.length === 0 &&
    reconciled.every(({ unknownSignatures }) => unknownSignatures.length === 0);
  return { ...addresses, isExplained, wallet, purses: reconciled, mendedTotals };
}
