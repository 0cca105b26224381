/** The deposit that a private order asks its caller for. */
import { formatAmount } from "../../amount.ts";
import { ledgerMint, type Assets } from "../assets/assets.ts";
import { isoTime } from "../iso-time.ts";
import type { DepositRecord } from "../tables/deposits.ts";

/** The awaited deposit: address, amount, asset, and deadline. */
export interface DepositBody {
  readonly ephemeralAddress: string;
  /** Decimal string. */
  readonly depositAmount: string;
  readonly depositAsset: string;
  /** Null for SOL. */
  readonly depositMint: string | null;
  readonly depositExpiresAt: string;
}

export function depositBody(deposit: DepositRecord, assets: Assets): DepositBody {
  const asset = assets.named(deposit.mint);
  return {
    ephemeralAddress: deposit.id,
    depositAmount: formatAmount(deposit.amount, asset.decimals),
    depositAsset: asset.symbol,
    depositMint: ledgerMint(asset),
    depositExpiresAt: isoTime(deposit.expiresAt),
  };
}
