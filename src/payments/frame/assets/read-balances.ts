/** Reads the balances of an address: SOL, the two stablecoins, and every Token-2022 mint for display. */
import { parseAddress } from "../../../core/address.ts";
import { formatAmount } from "../../../core/amount.ts";
import { PaymentError } from "../../../errors/errors.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import type { Assets } from "./assets.ts";
import { isLookAlike } from "./look-alike.ts";

/** The answer to GET /v1/balances/{address}. A never-used address has sol "0" and no tokens. */
export interface BalancesBody {
  readonly address: string;
  readonly sol: string;
  readonly tokens: readonly {
    readonly mint: string;
    /** Empty for a mint that does not say its own, or says one that people would take for an asset's. */
    readonly symbol: string;
    readonly balance: string;
    readonly decimals: number;
  }[];
}

/** Reads at commitment confirmed. Throws `INVALID_ADDRESS`; `LedgerUnavailable` when the chain cannot be asked. */
export async function readBalances(
  { ledger, assets }: { readonly ledger: Ledger; readonly assets: Assets },
  putativeAddress: string,
): Promise<BalancesBody> {
  const parsed = parseAddress(putativeAddress);
  if ("fault" in parsed) {
    throw new PaymentError("INVALID_ADDRESS", { address: putativeAddress.slice(0, 128) });
  }
  const mints = assets.tokens.map(({ mint }) => mint);
  const { lamports, holdings } = await ledger.balances(parsed.address, mints);
  const shown = holdings.filter(
    ({ mint, program }) => program === "token-2022" || assets.ofMint(mint) !== null,
  );
  return {
    address: parsed.address,
    sol: formatAmount(lamports, assets.named("SOL").decimals),
    tokens: shown.map(({ mint, amount, decimals, symbol }) => ({
      mint,
      symbol: assets.ofMint(mint)?.symbol ?? strangersSymbol(symbol, assets),
      balance: formatAmount(amount, decimals),
      decimals,
    })),
  };
}

function strangersSymbol(symbol: string | null, assets: Assets): string {
  return symbol === null || isLookAlike(symbol, assets) ? "" : symbol;
}
