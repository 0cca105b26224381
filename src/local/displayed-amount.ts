/** Computes token amounts as a mint has them shown: with interest or a multiplier, for some Token-2022 mints. */
import type { AccountState } from "./account-state.ts";
import { ByteReader } from "./byte-reader.ts";
import { uiTokenAmount, type UiTokenAmount } from "./token-balances.ts";
import { extensionEntries, readMint } from "./token-layout.ts";

/** Token-2022's year. */
const SECONDS_PER_YEAR = 60 * 60 * 24 * 365.24;
const BASIS_POINTS = 10_000;

/** Numbers of the extensions that change what is shown. */
const INTEREST_BEARING = 10;
const SCALED = 25;

/** The most digits that JavaScript writes. */
const MAX_DIGITS = 100;

/**
 * `amount` base units of the token of `mint`, at a time in Unix milliseconds; `undefined` when that is no mint. `amount` and
 * `decimals` are exact for every mint; its extensions change only the ui forms, computed in floats as nodes do.
 */
export function displayedAmount(
  amount: bigint,
  mint: AccountState | null,
  time: number,
): UiTokenAmount | undefined {
  const read = readMint(mint);
  if (mint === null || read === undefined) return undefined;
  const exact = uiTokenAmount(amount, read.decimals);
  const held = { amount: Number(amount), decimals: read.decimals };
  const shown = grown(held, mint, Math.floor(time / 1000));
  if (shown === undefined) return exact;
  return { ...exact, uiAmount: Number(shown), uiAmountString: shown };
}

/** An amount in base units, and the decimals of its mint. */
interface HeldAmount {
  readonly amount: number;
  readonly decimals: number;
}

function grown({ amount, decimals }: HeldAmount, mint: AccountState, seconds: number): string | undefined {
  const entries = extensionEntries(mint);
  const contentOf = (wanted: number): ByteReader | undefined => {
    const entry = entries.find(({ type }) => type === wanted);
    return entry && new ByteReader(entry.value);
  };
  const unit = 10 ** decimals;
  const interest = contentOf(INTEREST_BEARING);
  if (interest !== undefined) return trimmed((amount * interestFactor(interest, seconds)) / unit, decimals);
  const scaled = contentOf(SCALED);
  if (scaled !== undefined) return trimmed(Math.trunc(amount * multiplier(scaled, seconds)) / unit, decimals);
  return undefined;
}

function interestFactor(config: ByteReader, seconds: number): number {
  config.address();
  const begun = Number(config.i64());
  const averageRate = config.i16();
  const updated = Number(config.i64());
  const rate = config.i16();
  const exponent = averageRate * (updated - begun) + rate * (seconds - updated);
  return Math.exp(exponent / SECONDS_PER_YEAR / BASIS_POINTS);
}

function multiplier(config: ByteReader, seconds: number): number {
  config.address();
  const old = config.f64();
  const effective = Number(config.i64());
  return seconds >= effective ? config.f64() : old;
}

function trimmed(shown: number, decimals: number): string {
  const text = shown.toFixed(Math.min(decimals, MAX_DIGITS));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}
