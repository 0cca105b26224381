/** The plans that any copy of a database can have made of an order: they follow from the stored order alone. */
import type { RecipientRecord, TransactionView } from "../../tables/orders.ts";
import type { Token, Assets } from "../../assets/assets.ts";
import { chunked, payoutsFor } from "./plan-payouts.ts";
import { indexesIn, leafWords, ORDER_WORDS, planWords } from "./words.ts";
import type { DepositRecord } from "../../tables/deposits.ts";
import type { Address } from "../../../address.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { isTurnOver, nextTurn } from "../../../runtime.ts";
import type { DepositKeys } from "../../secrets/deposit-keys.ts";

/** Payments that replace the payment of one marker. */
export interface PossiblePlan {
  readonly planWords: string;
  readonly leaves: readonly { readonly words: string; readonly indexes: readonly number[] }[];
  readonly leftOut: readonly number[];
}

/**
 * Yields the possible plans under the words. An order of several payments is split in one way. Any other payment is
 * planned anew without recipients who cannot be paid: with at most twelve recipients there are at most 4,094 such
 * plans. Plans that leave out few recipients come first.
 */
function* possiblePlans(
  words: string,
  { recipients, asset }: { readonly recipients: readonly RecipientRecord[]; readonly asset: Token },
): Generator<PossiblePlan, void, undefined> {
  const indexes = indexesIn(words);
  const shares = recipients.filter(({ index }) => indexes === null || indexes.includes(index));
  if (words === ORDER_WORDS && payoutsFor(asset, shares.length) > 1) {
    yield planOf(words, { paid: chunked(asset, shares), leftOut: [] });
    return;
  }
  for (let count = 1; count < shares.length; count++) {
    for (const leftOut of choices(shares, count)) {
      yield planOf(words, { paid: [shares.filter((share) => !leftOut.includes(share))], leftOut });
    }
  }
}

type Shares = readonly RecipientRecord[];

function planOf(
  replaced: string,
  { paid, leftOut }: { readonly paid: readonly Shares[]; readonly leftOut: Shares },
): PossiblePlan {
  const leaves = paid.map((shares) => ({ words: leafWords(replaced, shares), indexes: indexesOf(shares) }));
  return { planWords: planWords(replaced, leaves), leaves, leftOut: indexesOf(leftOut) };
}

function indexesOf(shares: Shares): readonly number[] {
  return shares.map(({ index }) => index);
}

/** All ways to choose `count` shares. */
function* choices(shares: Shares, count: number): Generator<Shares, void, undefined> {
  if (count === 0) {
    yield [];
    return;
  }
  for (const [position, share] of shares.entries()) {
    for (const others of choices(shares.slice(position + 1), count - 1)) yield [share, ...others];
  }
}

interface ReplacedMarker {
  readonly deposit: DepositRecord;
  readonly view: Pick<TransactionView, "transaction" | "recipients">;
  readonly words: string;
  readonly delegate: Address;
}

export interface PlanNameParts {
  readonly ledger: Pick<Ledger, "markerAddress">;
  readonly keys: DepositKeys;
  readonly assets: Assets;
}

/** What another copy has planned in the place of what the marker stands for; null where the marker names no plan of payouts: a refund, or something else. */
export async function plannedElsewhere(
  { ledger, keys, assets }: PlanNameParts,
  { deposit, view, words, delegate }: ReplacedMarker,
): Promise<PossiblePlan | null> {
  const order = { recipients: view.recipients, asset: assets.named(view.transaction.outputMint) };
  for (const plan of possiblePlans(words, order)) {
    if (isTurnOver()) await nextTurn();
    if (ledger.markerAddress(deposit.id, keys.seed(deposit, plan.planWords)) === delegate) return plan;
  }
  return null;
}
