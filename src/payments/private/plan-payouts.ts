/** Paying the recipients: who is paid together in one transaction, and at whose cost their token accounts are made. */
import { ANY_SEED } from "../../ledger/routing.ts";
import type { RecipientRecord } from "../../../storage/records.ts";
import type { Address } from "../../address.ts";
import type { RoutingLedger } from "../../ledger/routing.ts";
import { ledgerMint } from "../assets.ts";
import type { Token } from "../assets.ts";
import { loanOf, markOf, transfer } from "./routing-terms.ts";
import type { RoutingTerms } from "./routing-terms.ts";
import { withSeeds } from "./stored-plan.ts";
import type { StoredPlan } from "./stored-plan.ts";

/** Recipients of one transaction at most (SOLANA, measured): the bytes, and the chain's trace of 64 instructions. */
const MOST_SOL_LEGS = 15;
const MOST_TOKEN_LEGS = 6;
/** What a packet holds. */
const MOST_BYTES = 1_232;

/** How many recipients of this asset one transaction pays at most; so many always fit. */
export function mostLegs(asset: Token): number {
  return ledgerMint(asset) === null ? MOST_SOL_LEGS : MOST_TOKEN_LEGS;
}

/** A recipient, and who pays for its token account should it have none. */
export interface Payee {
  readonly index: number;
  readonly address: Address;
  readonly amount: bigint;
  readonly accountPayer: Address;
}

/**
 * The sponsor makes only so many token accounts as the quote has priced. Everybody else's is at the cost of the deposit
 * address, which has nothing to spare: who closed an account after the quote fails alone and costs nobody anything.
 */
export async function payeesOf(
  ledger: RoutingLedger,
  { address, sponsor }: RoutingTerms,
  asset: Token,
  recipients: readonly RecipientRecord[],
  pricedAccounts: number,
): Promise<readonly Payee[]> {
  const mint = ledgerMint(asset);
  const owners = recipients.map((recipient) => recipient.address as Address);
  const present = mint === null ? [] : await ledger.haveTokenAccounts(owners, mint);
  let left = pricedAccounts;
  return recipients.map(({ index, amount }, position) => {
    const isPriced = present[position] === false && left > 0;
    if (isPriced) left -= 1;
    return {
      index,
      address: owners[position] as Address,
      amount,
      accountPayer: isPriced ? sponsor : address,
    };
  });
}

/** One payout: the marker first, then each payee's transfer, and nothing else (SOLANA, Private mode). */
export function payoutPlan(
  terms: RoutingTerms,
  asset: Token,
  payees: readonly Payee[],
  mark: string,
): StoredPlan {
  const loans = loanOf(terms, asset);
  const legs = payees.map(({ address: to, amount, accountPayer }) =>
    transfer(asset, { from: terms.address, to, amount, accountPayer }),
  );
  const total = payees.reduce((sum, { amount }) => sum + amount, 0n);
  return {
    feePayer: terms.sponsor,
    moves: [markOf(terms, mark), ...loans, ...legs],
    movements: [
      ...loans.map(() => ({ kind: "loan" as const, mint: asset.mint, amount: String(terms.rentMinimum) })),
      { kind: "payout", mint: asset.mint, amount: String(total) },
    ],
    indexes: payees.map(({ index }) => index),
    withheld: "0",
  };
}

/** Packs payees in their order into as few transactions as their bytes allow. */
export async function packPayees(
  ledger: RoutingLedger,
  terms: RoutingTerms,
  asset: Token,
  payees: readonly Payee[],
): Promise<readonly (readonly Payee[])[]> {
  const chunks: (readonly Payee[])[] = [];
  let most = mostLegs(asset);
  for (let start = 0; start < payees.length;) {
    const chunk = payees.slice(start, start + most);
    const plan = withSeeds(payoutPlan(terms, asset, chunk, ""), () => ANY_SEED);
    if (chunk.length > 1 && (await ledger.sizeOf(plan)) > MOST_BYTES) {
      most = chunk.length - 1;
      continue;
    }
    chunks.push(chunk);
    start += chunk.length;
  }
  return chunks;
}

/** The words of a payout: its recipients, and from the second on which try it is. */
export function payoutMark(payees: readonly Payee[], attempt: number): string {
  const indexes = payees.map(({ index }) => index).join(" ");
  return attempt === 1 ? `payout ${indexes}` : `payout ${indexes} again ${attempt}`;
}
