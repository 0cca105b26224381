/** Tells whether money for an order is on its way, which decides if the order can still be cancelled. */
import type { TransactionRecord } from "../tables/orders.ts";
import type { PaymentStorage } from "../payment-storage.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { ledgerMint, smallestAmount, type Assets } from "../assets/assets.ts";
import { holdAddress, spendingReason } from "../outgoing/unknown-spending.ts";
import { strayDeposits } from "./collect-strays.ts";

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
