/** Money at token accounts beside the associated one: brought to where everything else is counted and paid from. */
import type { Address } from "../../address.ts";
import { EndpointsDifferError, type FirmCommitment } from "../../ledger/ledger.ts";
import type { RoutingLedger, StrayAccount } from "../../ledger/routing.ts";
import { ledgerMint, smallestAmount, type Assets, type Token } from "../assets/assets.ts";
import { transfer, type RoutingContext } from "../outgoing/plans/routing-terms.ts";
import type { StoredPlan } from "../outgoing/plans/stored-plan.ts";

/** Accounts emptied in one transaction: as many transfers as any payout has at most. The others wait for the next. */
const MAX_ACCOUNTS = 4;

/** A deposit that is not where it is expected. */
interface StrayDeposit extends StrayAccount {
  readonly asset: Token;
}

/** What was found beside the associated accounts, the fullest first, and by which block. */
interface StrayDeposits {
  readonly slot: number;
  readonly deposits: readonly StrayDeposit[];
}

interface StraysLook {
  readonly ledger: RoutingLedger;
  readonly assets: Assets;
}

/** Of which assets, and in what state of the chain. */
interface SoughtStrays {
  readonly among: readonly Token[];
  readonly commitment: FirmCommitment;
}

/**
 * All token accounts of the address that are not the associated ones and hold what counts as a deposit. Opening such an
 * account costs a thousand times what the smallest deposit is worth. Throws `EndpointsDifferError` while an endpoint shows such
 * a deposit that too few others show.
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

/** As many of them as one transaction empties. */
export async function strayDeposits(
  look: StraysLook,
  address: Address,
  sought: SoughtStrays,
): Promise<StrayDeposits> {
  const { slot, deposits } = await allStrayDeposits(look, address, sought);
  return { slot, deposits: deposits.slice(0, MAX_ACCOUNTS) };
}

/**
 * Moves each deposit to the associated account, which the sponsor makes where there is none; the last sweep closes it
 * again. The emptied accounts stay: closing one fails when it gets one unit more at the wrong moment. It needs no
 * marker: made twice, it moves twice what is there to where it belongs.
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
