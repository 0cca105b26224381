/** The rows that a service removes because of their age, by module. */
import type { PaymentStorage } from "../payments/payment-storage.ts";
import type { Address } from "../core/address.ts";
import type { CheckedKeepOptions } from "../payments/frame/retention/keep.ts";
import { oldAnswers, oldQuotes } from "../payments/frame/retention/old-answers.ts";
import { oldRows, type OldRows } from "../payments/frame/retention/old-rows.ts";
import { noticeRemovals, oldNotices } from "../payments/frame/retention/old-notices.ts";
import type { RemovingParts } from "../payments/frame/retention/removal.ts";
import type { OpenModule } from "../payments/frame/open-module.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { oldTransactions } from "../payments/wallet/old-transactions.ts";

interface KeepingService {
  readonly keep: CheckedKeepOptions;
  /** Wallets of the service: what they have signed stays. */
  readonly ownAddresses: readonly Address[];
  /** The ledger, also while nothing may be believed of it. */
  readonly ledger: Ledger;
  readonly modules: readonly Pick<OpenModule, "oldRows" | "goesWithNotice">[];
}

/** In the order of a pass. */
export function oldRowsOf(
  parts: RemovingParts<PaymentStorage>,
  { keep, ownAddresses, ledger, modules }: KeepingService,
): readonly OldRows[] {
  const { storage } = parts;
  const telling = { storage, goesWith: modules.flatMap(({ goesWithNotice }) => goesWithNotice ?? []) };
  const leaving = { ...parts, noticeRemovals: noticeRemovals(telling) };
  return [
    oldRows(parts, oldNotices(telling, keep.notices)),
    oldRows(parts, oldTransactions({ ...leaving, ownAddresses }, keep.transactions)),
    ...modules.flatMap((module) => module.oldRows?.({ ...leaving, keep, ledger }) ?? []),
    oldRows(parts, oldQuotes(storage, keep.quotes)),
    oldRows(parts, oldAnswers(storage, keep.idempotencyAnswers)),
  ];
}
