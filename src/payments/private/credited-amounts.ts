/** Amounts credited to a deposit address: only amounts that enough endpoints confirm. */
import type { Evidence } from "../../ledger/belief.ts";
import type { Funds } from "../../ledger/routing.ts";

/** Base units of SOL and then of each mint asked for. Empty where the reading does not have the address. */
export function creditedAmounts(funds: Evidence<Funds> | undefined): readonly bigint[] {
  return funds === undefined ? [] : [funds.lamports, ...funds.tokens];
}
