/** Money at token accounts beside the associated one: brought to where everything else is counted and paid from. */
import type { Address } from "../../address.ts";
import { EndpointsDifferError, type FirmCommitment } from "../../ledger/ledger.ts";
import type { RoutingLedger, StrayAccount } from "../../ledger/routing.ts";
import { ledgerMint, smallestAmount, type Assets, type Token } from "../assets/assets.ts";
import { transfer, type RoutingContext } from "../outgoing/plans/routing-terms.ts";
import type { StoredPlan } from "../outgoing/plans/stored-plan.ts";

/** Accounts emptied in one transaction: as many transfers as any payout has at most. The others wait for the next. */
const MAX_ACCOUNTS = 4;

/** A deposit outside the associated accounts. */
interface StrayDeposit extends StrayAccount {
  readonly asset: Token;
}

/** Deposits outside the associated accounts, largest first, and the block of the reading. */
interface StrayDeposits {
  readonly slot: number;
  readonly deposits: readonly StrayDeposit[];
}

interface StraysLook {
  readonly ledger: RoutingLedger;
  readonly assets: Assets;
}

/** The assets of a search for stray deposits, and its commitment. */
interface SoughtStrays {
  readonly among: readonly Token[];
  readonly commitment: FirmCommitment;
}

/**
 * All token accounts of the address that are not the associated ones and hold enough for a deposit. Opening such an
 * account costs a thousand times the value of the smallest deposit. Throws `EndpointsDifferError` while an endpoint shows
 * such a deposit that too few others show.
 */
export async function allStrayDeposits(
  { ledger, assets }: StraysLook,
  address: Address,
  { among, commitment }: SoughtStrays,
): Promise<StrayDeposits> {
  const mints = among.map(ledgerMint).filter((mint) => mint !== null);
  if (mints.length === 0) return { slot: Infinity, deposits: [] };
  const { slot, endpoint, accounts, disputed } = await ledger.strayAccounts(address, mints, commitment);
  const depositsAmong = (those: readonly StrayAccount[]): readonly StrayDeposit[] =>
    those
      .map((account) => ({ ...account, asset: assets.named(account.mint) }))
      .filter(({ asset, amount }) => amount >= smallestAmount(asset));
  if (depositsAmong(disputed).length > 0) {
    throw new EndpointsDifferError(`the token accounts of ${address}`, [endpoint]);
  }
  return { slot, deposits: depositsAmong(accounts) };
}

/** Stray deposits, as many as one transaction can empty. */
export async function strayDeposits(
  look: StraysLook,
  address: Address,
  sought: SoughtStrays,
): Promise<StrayDeposits> {
  const { slot, deposits } = await allStrayDeposits(look, address, sought);
  return { slot, deposits: deposits.slice(0, MAX_ACCOUNTS) };
}

/**
 * Moves each deposit to the associated account, which the sponsor makes if absent; the last sweep closes it again. The
 * emptied accounts stay open: closing an account fails when one more unit arrives at the wrong moment. The collection
 * needs no marker: a second run only moves further tokens to the right account.
 */
export function collectionPlan(terms: RoutingContext, deposits: readonly StrayDeposit[]): StoredPlan {
  const { address, sponsor } = terms;
  const legs = deposits.map(({ asset, amount, address: fromAccount }) => ({
    ...transfer(asset, { from: address, to: address, amount, accountPayer: sponsor }),
    fromAccount,
  }));
  return {
    feePayer: sponsor,
    moves: legs,
    // It comes in where it is counted, and nothing goes out.
    movements: [],
    indexes: [],
    withheld: "0",
  };
}
