/** Paying the recipients: who is paid together in one transaction, and at whose cost their token accounts are made. */
import type { RecipientRecord } from "../../tables/orders.ts";
import type { Address } from "../../../address.ts";
import type { RoutingLedger } from "../../../ledger/routing.ts";
import { ledgerMint, type Token } from "../../assets/assets.ts";
import { followOf, loanOf, markOf, replaceOf, transfer, type RoutingContext } from "./routing-terms.ts";
import type { LeafPayment, StoredPlan } from "./stored-plan.ts";
import { leafWords, ORDER_WORDS, planWords } from "./words.ts";

/**
 * The most recipients of a transaction that fits 1,232 bytes with any addresses: first for a transaction that pays the
 * whole order, then for a transaction that pays a part and also names its plan. Changing these numbers changes how
 * stored orders are split: two versions of this software would then group recipients differently.
 */
const MAX_ORDER_LEGS = { sol: 12, token: 6 };
const MAX_CHUNK_LEGS = { sol: 12, token: 5 };

function legsOf(asset: Token, { sol, token }: typeof MAX_ORDER_LEGS): number {
  return ledgerMint(asset) === null ? sol : token;
}

/** The number of transactions that pay this many recipients. The number never changes for a stored order. */
export function payoutsFor(asset: Token, recipients: number): number {
  if (recipients <= legsOf(asset, MAX_ORDER_LEGS)) return 1;
  return Math.ceil(recipients / legsOf(asset, MAX_CHUNK_LEGS));
}

/** A recipient, and the payer of a token account that the recipient may need. */
export interface PaidRecipient {
  readonly index: number;
  readonly address: Address;
  readonly amount: bigint;
  readonly accountPayer: Address;
}

/** Recipients and amounts, and the number of token accounts that the quote has priced. */
interface PaidShares {
  readonly asset: Token;
  readonly recipients: readonly RecipientRecord[];
  readonly pricedAccounts: number;
}

/**
 * The sponsor makes only so many token accounts as the quote has priced. Everybody else's is at the cost of the deposit
 * address, which has nothing to spare: who closed an account after the quote fails alone and costs no one else anything.
 */
export async function payeesOf(
  ledger: RoutingLedger,
  { address, sponsor }: RoutingContext,
  { asset, recipients, pricedAccounts }: PaidShares,
): Promise<readonly PaidRecipient[]> {
  const mint = ledgerMint(asset);
  const owners = recipients.map(({ address: owner }) => owner);
  const present = mint === null ? [] : await ledger.haveTokenAccounts(owners, mint);
  let left = pricedAccounts;
  return recipients.map(({ index, amount, address: owner }, position) => {
    const isPriced = present[position] === false && left > 0;
    if (isPriced) left -= 1;
    return {
      index,
      address: owner,
      amount,
      accountPayer: isPriced ? sponsor : address,
    };
  });
}

/** The payouts that an order of several is made of; null where one transaction pays all. */
export function chunksOf(
  { asset, sponsor }: { readonly asset: Token; readonly sponsor: Address },
  payees: readonly PaidRecipient[],
): readonly LeafPayment[] | null {
  if (payoutsFor(asset, payees.length) === 1) return null;
  return chunked(asset, payees).map((chunk) => leafOf(sponsor, ORDER_WORDS, chunk));
}

export function chunked<Share>(asset: Token, shares: readonly Share[]): readonly (readonly Share[])[] {
  const most = legsOf(asset, MAX_CHUNK_LEGS);
  const starts = Array.from({ length: Math.ceil(shares.length / most) }, (_, index) => index * most);
  return starts.map((start) => shares.slice(start, start + most));
}

/** The payment of these recipients in the place of what is replaced. */
export function leafOf(sponsor: Address, replaced: string, payees: readonly PaidRecipient[]): LeafPayment {
  const sponsored = payees.filter(({ accountPayer }) => accountPayer === sponsor);
  return {
    words: leafWords(replaced, payees),
    indexes: payees.map(({ index }) => index),
    sponsored: sponsored.map(({ index }) => index),
  };
}

/** Under which marker a payout is made, and which plan names it. */
export interface PayoutMarker {
  readonly words: string;
  readonly follows: string | null;
}

/**
 * The plan of a payout: first the marker, then a transfer to each payee, and nothing else, so that extra money cannot
 * make the payout fail.
 */
export function payoutPlan(
  terms: RoutingContext,
  { asset, payees }: { readonly asset: Token; readonly payees: readonly PaidRecipient[] },
  { words, follows }: PayoutMarker,
): StoredPlan {
  const loans = loanOf(terms, asset);
  const legs = payees.map(({ address: to, amount, accountPayer }) =>
    transfer(asset, { from: terms.address, to, amount, accountPayer }),
  );
  const total = payees.reduce((sum, { amount }) => sum + amount, 0n);
  return {
    feePayer: terms.sponsor,
    moves: [markOf(terms, words), ...followOf(terms, follows), ...loans, ...legs],
    movements: [
      ...loans.map(() => ({ kind: "loan" as const, mint: asset.mint, amount: String(terms.rentMinimum) })),
      { kind: "payout", mint: asset.mint, amount: String(total) },
    ],
    indexes: payees.map(({ index }) => index),
    withheld: "0",
  };
}

/** Says on the chain that these payments take the place of what is replaced, and that nothing else ever can. */
export function replacementPlan(
  terms: RoutingContext,
  { words, follows }: PayoutMarker,
  { leaves, leftOut }: { readonly leaves: readonly LeafPayment[]; readonly leftOut: readonly number[] },
): StoredPlan {
  const replacement = replaceOf(terms, words, planWords(words, leaves));
  return {
    feePayer: terms.sponsor,
    moves: [...followOf(terms, follows), replacement],
    movements: [],
    indexes: [],
    withheld: "0",
    leaves,
    leftOut,
  };
}
