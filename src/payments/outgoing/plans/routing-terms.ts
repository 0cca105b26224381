/** The common terms of all payments out of a deposit address. */
import type { Address } from "../../../address.ts";
import { type Token, ledgerMint } from "../../assets/assets.ts";
import type { Move, RoutingLedger } from "../../../ledger/routing.ts";
import type { TransactionRecord } from "../../tables/orders.ts";
import type { StoredMove } from "./stored-plan.ts";

/** The payer of a transaction, and the address that it spends from. */
export interface RoutingContext {
  readonly address: Address;
  readonly sponsor: Address;
  /** Lamports that an empty account must hold. */
  readonly rentMinimum: bigint;
}

export interface SponsorParts {
  readonly ledger: RoutingLedger;
  readonly sponsor: Address;
}

export async function termsOf({ ledger, sponsor }: SponsorParts, address: Address): Promise<RoutingContext> {
  return { address, sponsor, rentMinimum: await ledger.rentMinimum(0) };
}

/** The deposit address of a private order; throws for a transaction of wallet mode, which has no such address. */
export function depositAddressOf({ id, depositAddress }: TransactionRecord): Address {
  if (depositAddress === null) throw new Error(`transaction ${id} has no deposit address`);
  return depositAddress;
}

/** The first move of every payment: the chain makes each marker once. */
export function markOf({ address, sponsor }: RoutingContext, words: string): StoredMove {
  return { does: "mark", base: address, words, payer: sponsor };
}

/** Makes the marker of `words` as one that is replaced by the plan of `planWords`, and that plan's marker. */
export function replaceOf(
  { address, sponsor }: RoutingContext,
  words: string,
  planWords: string,
): StoredMove {
  return { does: "replace", base: address, words, planWords, payer: sponsor };
}

/** The first move of a payment that a plan names: it fails unless that plan was made. */
export function followOf({ address }: RoutingContext, planWords: string | null): readonly StoredMove[] {
  return planWords === null ? [] : [{ does: "follow", base: address, planWords }];
}

/**
 * The loan that lets an address pay in SOL whichever asset it holds: the sponsor lends it the rent minimum, so that no
 * remainder can fall below it, not even after one lamport more has just come in. Empty for tokens.
 */
export function loanOf({ address, sponsor, rentMinimum }: RoutingContext, asset: Token): readonly Transfer[] {
  return ledgerMint(asset) === null
    ? [transfer(asset, { from: sponsor, to: address, amount: rentMinimum, accountPayer: null })]
    : [];
}

type Transfer = Extract<Move, { does: "transfer" }>;

export function transfer(
  asset: Token,
  leg: { from: Address; to: Address; amount: bigint; accountPayer: Address | null },
): Transfer {
  const mint = ledgerMint(asset);
  const accountPayer = mint === null ? null : leg.accountPayer;
  return { does: "transfer", mint, decimals: asset.decimals, ...leg, accountPayer };
}
