/** Token accounts of the service's own purses that cannot be used: they were frozen or handed over. */
import type { Address } from "../../address.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Logger } from "../../runtime.ts";
import { ledgerMint, type Token } from "./assets.ts";

/** Warns of each token account of an owner in which nothing can be received or paid from. */
export async function warnOfUnusableAccounts(
  {
    ledger,
    assets,
    log,
  }: { readonly ledger: Ledger; readonly assets: readonly Token[]; readonly log: Logger },
  owner: Address,
  purse: string,
): Promise<void> {
  const owned = assets.flatMap((asset) => {
    const mint = ledgerMint(asset);
    return mint === null ? [] : [{ owner, mint, asset: asset.symbol }];
  });
  const states = await ledger.tokenAccountStates(owned);
  owned.forEach(({ asset }, index) => {
    const state = states[index];
    if (state !== "frozen" && state !== "handed_over") return;
    log.warn(
      { purse, owner, asset, found: state },
      "a token account of the service is frozen or belongs to another owner: nothing of this asset moves in or out of it",
    );
  });
}
