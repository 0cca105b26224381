/** Reads options that give an amount per asset, such as `{ SOL: "100" }`. */
import { parseAmount, type AmountFault } from "../../amount.ts";
import type { Token } from "./assets.ts";

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
