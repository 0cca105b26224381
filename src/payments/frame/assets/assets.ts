/** The assets that can be paid: SOL and the two stablecoins. */
import { SOL_MINT, type Address } from "../../../core/address.ts";
import { PaymentError } from "../../../errors/errors.ts";
import { parseAmount, type AmountFault } from "../../../core/amount.ts";

/** An element of the token list. */
export interface Token {
  readonly symbol: string;
  readonly name: string;
  readonly mint: Address;
  readonly decimals: number;
  readonly logoUri: string;
}

/** The mints of the two stablecoins on the chain in use. */
interface Stablecoins {
  readonly USDC: Address;
  readonly USDT: Address;
}

/** The stablecoins of Solana's mainnet, as their issuers publish them. */
export const MAINNET_STABLECOINS: Stablecoins = {
  USDC: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v" as Address,
  USDT: "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB" as Address,
};

/** Solana's mainnet by its genesis hash. */
export const MAINNET_GENESIS = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d";

/** The assets of one service. */
export interface Assets {
  readonly tokens: readonly Token[];
  /** An asset by symbol or mint; throws `INVALID_ASSET`. */
  named(symbolOrMint: string): Token;
  /** The asset of a mint that is known to be one, null otherwise. */
  ofMint(mint: string): Token | null;
}

const LOGOS = "https://raw.githubusercontent.com/solana-labs/token-list/main/assets/mainnet";

/** The list of logos knows the mints of mainnet. */
function logoOf(mint: Address): string {
  return `${LOGOS}/${mint}/logo.png`;
}

export function assetsWith({ USDC, USDT }: Stablecoins): Assets {
  const stable = { decimals: 6 };
  const tokens: readonly Token[] = [
    { symbol: "SOL", name: "Solana", mint: SOL_MINT, decimals: 9, logoUri: logoOf(SOL_MINT) },
    { symbol: "USDC", name: "USD Coin", mint: USDC, ...stable, logoUri: logoOf(MAINNET_STABLECOINS.USDC) },
    { symbol: "USDT", name: "Tether USD", mint: USDT, ...stable, logoUri: logoOf(MAINNET_STABLECOINS.USDT) },
  ];
  return {
    tokens,
    named(symbolOrMint) {
      const found = tokens.find(({ symbol, mint }) => symbol === symbolOrMint || mint === symbolOrMint);
      if (found === undefined) throw new PaymentError("INVALID_ASSET", { asset: symbolOrMint });
      return found;
    },
    ofMint: (mint) => tokens.find((asset) => asset.mint === mint) ?? null,
  };
}

/** The mint as the ledger wants it: null for SOL, which has none. */
export function ledgerMint({ mint }: Token): Address | null {
  return mint === SOL_MINT ? null : mint;
}

/** The smallest amount that is quoted: 0.001 of the asset. */
export function smallestAmount({ decimals }: Pick<Token, "decimals">): bigint {
  return 10n ** BigInt(decimals - 3);
}

/** Base units by mint, or one sentence per entry that is wrong, beginning with its path. */
type AmountsByMint =
  { readonly amounts: ReadonlyMap<string, bigint> } | { readonly problems: readonly string[] };

const EXPECTED: Readonly<Record<AmountFault, (token: Token) => string>> = {
  not_decimal: () => 'expected a decimal string, such as "100"',
  zero: () => "expected an amount above zero",
  too_many_decimals: ({ symbol, decimals }) => `${symbol} has ${decimals} decimals`,
  too_large: () => "expected at most 2^64 - 1 base units",
};

/** `option` is the option's name, for the problems. Every entry is judged. */
export function amountsByMint(
  tokens: readonly Token[],
  bySymbol: Readonly<Record<string, string>>,
  option: string,
): AmountsByMint {
  const amounts = new Map<string, bigint>();
  const problems: string[] = [];
  for (const [symbol, text] of Object.entries(bySymbol)) {
    const token = tokens.find((each) => each.symbol === symbol);
    if (token === undefined) {
      problems.push(`${option}.${symbol}: expected one of ${tokens.map((each) => each.symbol).join(", ")}`);
      continue;
    }
    const read = parseAmount(text, token.decimals);
    if ("fault" in read) problems.push(`${option}.${symbol}: ${EXPECTED[read.fault](token)}`);
    else amounts.set(token.mint, read.amount);
  }
  return problems.length > 0 ? { problems } : { amounts };
}
