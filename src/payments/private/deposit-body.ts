/** The deposit that a private order asks its caller for, and the request for it that wallets open. */
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

interface AskedDeposit {
  readonly recipient: string;
  /** Decimal string in whole units. */
  readonly amount: string;
  /** Null for SOL. */
  readonly mint: string | null;
  /** Wallets name it in the transaction, which can be found by it; null in requests of earlier versions. */
  readonly referenceKey: string | null;
  /** What a wallet shows beside the amount. */
  readonly label: string;
}

/** A Solana Pay transfer request, for a link or a QR code: see https://docs.solanapay.com/spec. */
export function paymentUri({ recipient, amount, mint, referenceKey, label }: AskedDeposit): string {
  const token = mint === null ? "" : `&spl-token=${mint}`;
  const reference = referenceKey === null ? "" : `&reference=${referenceKey}`;
  return `solana:${recipient}?amount=${amount}${token}${reference}&label=${encodeURIComponent(label)}`;
}
