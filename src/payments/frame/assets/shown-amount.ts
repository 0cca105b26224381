/** An amount of any mint as callers are shown it. */
import { SOL_MINT } from "../../../core/address.ts";
import { formatAmount } from "../../../core/amount.ts";
import type { Assets } from "./assets.ts";

/** The symbol of wrapped SOL: callers see it as a token beside SOL, although both have one mint. */
export const WRAPPED_SOL = "wSOL";

/** Base units of a mint, or of `WRAPPED_SOL`. */
export interface MintSum {
  readonly mint: string;
  readonly amount: bigint;
  /** For a mint that is none of the assets; null while unknown. */
  readonly decimals: number | null;
}

export interface ShownAmount {
  /** Symbol, `wSOL`, or the mint of a token that is none of the assets. */
  readonly asset: string;
  readonly mint: string;
  /** In whole units; in base units while the decimals are unknown. */
  readonly amount: string;
  readonly decimals: number | null;
}

export function shownAmount({ mint: name, amount, decimals: others }: MintSum, assets: Assets): ShownAmount {
  const isWrapped = name === WRAPPED_SOL;
  const mint = isWrapped ? SOL_MINT : name;
  const token = assets.ofMint(mint);
  const decimals = token?.decimals ?? others;
  const asset = isWrapped ? WRAPPED_SOL : (token?.symbol ?? mint);
  return { asset, mint, amount: formatAmount(amount, decimals ?? 0), decimals };
}
