/** Money at token accounts beside the associated one, and whether any money for an order is on its way. */
import type { Address } from "../../address.ts";
import { EndpointsDifferError, type FirmCommitment, type Ledger } from "../../ledger/ledger.ts";
import type { RoutingLedger, StrayAccount } from "../../ledger/routing.ts";
import { ledgerMint, smallestAmount, type Assets, type Token } from "../assets/assets.ts";
import { transfer, type RoutingContext } from "../outgoing/plans/routing-terms.ts";
import type { StoredPlan } from "../outgoing/plans/stored-plan.ts";
import type { TransactionRecord } from "../tables/orders.ts";
import type { PaymentStorage } from "../payment-storage.ts";
import { holdAddress, spendingReason } from "../outgoing/unknown-spending.ts";

/** Accounts emptied in one transaction: as many transfers as any payout has at most. The others wait for the next. */
const MAX_ACCOUNTS = 4;

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

/**
 * A fresh look at the newest block there is, however shallow: whether any endpoint shows a deposit of the expected asset of
 * at least 0.001 there, or in a confirmed block in another token account of the address. Throws `LedgerUnavailable` when the chain cannot be read.
 */
export async function hasDeposit(
  {
    storage,
    ledger,
    assets,
  }: { readonly storage: PaymentStorage; readonly ledger: Ledger; readonly assets: Assets },
  { depositAddress }: TransactionRecord,
): Promise<boolean> {
  const [deposit] = await storage.deposits([depositAddress ?? ""]);
  if (deposit === undefined) return false;
  // What has paid was paid, though a copy of an older database may be the one that is asked.
  if (deposit.heldReason !== null) return true;
  if ((await ledger.signedBy(deposit.id)).transactions.length > 0) return true;
  const doubt = await spendingReason({ storage, ledger }, deposit);
  if (doubt !== null) {
    await holdAddress(storage, deposit.id, doubt);
    return true;
  }
  const asset = assets.named(deposit.mint);
  const mint = ledgerMint(asset);
  const [{ funds }, strays] = await Promise.all([
    ledger.seenFunds([deposit.id], mint === null ? [] : [mint]),
    strayDeposits({ ledger, assets }, deposit.id, { among: [asset], commitment: "confirmed" }),
  ]);
  const there = mint === null ? funds[0]?.lamports : funds[0]?.tokens[0];
  return (there ?? 0n) >= smallestAmount(asset) || strays.deposits.length > 0;
}
