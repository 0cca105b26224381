/** Compares the database with the chain: wallet transactions, the service's own wallets, and what ways to pay bring. */
import type { Ledger } from "../../../ledger/ledger.ts";
import type { Clock, Logger } from "../../../core/runtime.ts";
import type { FrameStorage } from "../../frame/frame-storage.ts";
import type { Assets } from "../../frame/assets/assets.ts";
import { toldEachMinute, type TellProgress } from "../../frame/reconcile-progress.ts";
import type { ReconciledPart } from "../../frame/open-module.ts";
import { deskPurse, sponsorPurse } from "../../frame/spending.ts";
import {
  reconcilePurses,
  type PurseReconciliation,
  type PurseAddress,
  type MendedTotal,
  reconcileTotals,
} from "./purses.ts";
import { reconcileWallet, type WalletReconciliation } from "./wallet.ts";

/** The chain's answer about what is reconciled in every service. */
export interface CommonReconciliation {
  readonly isExplained: boolean;
  readonly wallet: WalletReconciliation;
  /** Purses of enabled modes only. */
  readonly purses: readonly PurseReconciliation[];
  /** Totals of what is reserved of the sponsor and the desk that differed from their rows, and were mended: nobody is to look. */
  readonly mendedTotals: readonly MendedTotal[];
}

interface ReconciliationParts<Body extends object> {
  readonly storage: FrameStorage;
  readonly ledger: Ledger;
  readonly assets: Assets;
  /** Compares what a way to pay has recorded by itself. */
  readonly reconcilePart: (tell: TellProgress) => Promise<ReconciledPart<Body>>;
  readonly purses: readonly PurseAddress[];
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * May run beside any number of services. Changes nothing but this: what the part of a way to pay writes down, and a total that
 * differs from its rows, which is counted anew. Rejects with `LedgerUnavailable` when the chain cannot be read to the end.
 */
export async function reconcile<Body extends object>({
  storage,
  ledger,
  assets,
  reconcilePart,
  purses,
  clock,
  log,
}: ReconciliationParts<Body>): Promise<Body & CommonReconciliation> {
  const tell = toldEachMinute({ clock, log });
  const part = await reconcilePart(tell);
  const sponsor = purses.find(({ purse }) => purse === "sponsor")?.address ?? null;
  const desks = purses.filter(({ purse }) => purse === "desk").map(({ address }) => address);
  const given = desks.flatMap((desk) => assets.tokens.map(({ mint }) => deskPurse(desk, mint)));
  const limited = [...(sponsor === null ? [] : [sponsorPurse(sponsor)]), ...given];
  const mendedTotals = await reconcileTotals(storage, { purses: limited, sponsor });
  const wallet = await reconcileWallet({ storage, ledger, tell });
  const reconciled = await reconcilePurses({ storage, ledger }, purses);
  const isExplained =
    part.isExplained &&
    wallet.findings.length === 0 &&
    reconciled.every(({ unknownSignatures }) => unknownSignatures.length === 0);
  return { ...part.body, isExplained, wallet, purses: reconciled, mendedTotals };
}
