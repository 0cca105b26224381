/** Tells symbols that look like the symbol of an asset: the maker of a mint may give it any symbol. */
import type { Assets } from "./assets.ts";

/** Letters of ASCII that are taken for others. A character beyond ASCII is taken for any: no list of look-alikes is whole. */
const TAKEN_FOR: Readonly<Record<string, string>> = { o: "o0", l: "l1i|!", s: "s5$", c: "c(", u: "uv" };

/** Whether the symbol can be taken for that of an asset: in any case and width, with accents, dots or gaps. */
export function isLookAlike(symbol: string, { tokens }: Pick<Assets, "tokens">): boolean {
  // Accents are characters of their own in this form, and wide letters plain ones.
  const plain = symbol.normalize("NFKD").replaceAll(/\p{M}/gu, "");
  return tokens.some((token) => patternOf(token.symbol).test(plain));
}

function patternOf(symbol: string): RegExp {
  const letters = Array.from(
    symbol.toLowerCase(),
    (letter) => `(?:[${TAKEN_FOR[letter] ?? letter}]|[^\\0-\\x7f])`,
  );
  const gap = "[^\\p{L}\\p{N}]*";
  return new RegExp(`^${gap}${letters.join(gap)}${gap}$`, "iu");
}
