/** The errors of amounts that are larger than the ledger can hold, or than a wallet holds. */
import { formatAmount, MAX_AMOUNT } from "../../../core/amount.ts";
import type { Address } from "../../../core/address.ts";
import { PaymentError } from "../../../errors/errors.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { ledgerMint, type Assets, type Token } from "./assets.ts";

/** Throws `AMOUNT_TOO_LARGE` with the largest amount of this asset when `sum`, in its base units, is more than 2^64 − 1. */
export function refuseTooLarge(sum: bigint, { decimals }: Pick<Token, "decimals">): void {
  if (sum <= MAX_AMOUNT) return;
  throw new PaymentError("AMOUNT_TOO_LARGE", { maximum: formatAmount(MAX_AMOUNT, decimals) });
}

/** The sum of transfers, in base units; may be more than the ledger can hold. */
export function totalOf(transfers: readonly { readonly amount: bigint }[]): bigint {
  return transfers.reduce((sum, { amount }) => sum + amount, 0n);
}

/** Amounts in base units of the asset. */
interface Shortfall {
  readonly required: bigint;
  readonly available: bigint;
}

/** The error of a wallet that holds too little for what it asks for. */
export function tooLittle(
  { symbol, mint, decimals }: Pick<Token, "symbol" | "mint" | "decimals">,
  component: "amount" | "fee" | "rent",
  { required, available }: Shortfall,
): PaymentError<"INSUFFICIENT_BALANCE"> {
  return new PaymentError("INSUFFICIENT_BALANCE", {
    asset: symbol,
    mint,
    required: formatAmount(required, decimals),
    available: formatAmount(available, decimals),
    shortfall: formatAmount(required > available ? required - available : 0n, decimals),
    component,
  });
}

/** A wallet that pays, with the amount and the lamports that the payment takes. */
interface PayingWallet {
  readonly sender: Address;
  readonly give: Token;
  /** Base units of `give`. */
  readonly amount: bigint;
  readonly networkFee: bigint;
  readonly rent: bigint;
  /** The least that the wallet must keep in lamports, unless it keeps nothing. */
  readonly least: bigint;
}

/**
 * The error of a wallet that holds too little, at commitment confirmed: for the amount, else for the fee, else for rent. Null
 * where it holds enough.
 */
export async function shortageOf(
  { ledger, assets }: { readonly ledger: Pick<Ledger, "funds">; readonly assets: Assets },
  wallet: PayingWallet,
): Promise<PaymentError<"INSUFFICIENT_BALANCE"> | null> {
  return shortageIn(await fundsOf(ledger, wallet), assets, wallet);
}

/** The funds of a wallet that bear on a payment, at commitment confirmed. */
export async function fundsOf(
  ledger: Pick<Ledger, "funds">,
  { sender, give }: Pick<PayingWallet, "sender" | "give">,
): ReturnType<Ledger["funds"]> {
  const mint = ledgerMint(give);
  return ledger.funds([sender], mint === null ? [] : [mint], "confirmed");
}

/** See `shortageOf`, for a wallet that was read. */
export function shortageIn(
  { funds }: Awaited<ReturnType<Ledger["funds"]>>,
  assets: Assets,
  { give, amount, networkFee, rent, least }: PayingWallet,
): PaymentError<"INSUFFICIENT_BALANCE"> | null {
  const sol = assets.named("SOL");
  const mint = ledgerMint(give);
  const lamports = funds[0]?.lamports ?? 0n;
  const held = mint === null ? lamports : (funds[0]?.tokens[0] ?? 0n);
  if (held < amount) return tooLittle(give, "amount", { required: amount, available: held });
  const withFee = (mint === null ? amount : 0n) + networkFee;
  if (lamports < withFee) return tooLittle(sol, "fee", { required: withFee, available: lamports });
  const withRent = withFee + rent;
  const left = lamports - withRent;
  if (left === 0n || left >= least) return null;
  return tooLittle(sol, "rent", { required: left < 0n ? withRent : withRent + least, available: lamports });
}
