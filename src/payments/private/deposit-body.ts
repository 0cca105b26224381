/** The deposit that a private order asks its caller for, and the request for it that wallets open. */
import { formatAmount } from "../../core/amount.ts";
import { ledgerMint, type Assets } from "../frame/assets/assets.ts";
import { isoTime } from "../frame/iso-time.ts";
import type { OrderRecord } from "./tables.ts";

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

export function depositBody(order: OrderRecord, assets: Assets): DepositBody {
  const asset = assets.named(order.mint);
  return {
    ephemeralAddress: order.address,
    depositAmount: formatAmount(order.required, asset.decimals),
    depositAsset: asset.symbol,
    depositMint: ledgerMint(asset),
    depositExpiresAt: isoTime(order.windowEnds),
  };
}

interface AskedDeposit {
  readonly recipient: string;
  /** Decimal string in whole units. */
  readonly amount: string;
  /** Null for SOL. */
  readonly mint: string | null;
  /** Wallets name it in the transaction, which can be found by it. */
  readonly referenceKey: string;
  /** The details for a wallet beside the amount. */
  readonly label: string;
}

/** A Solana Pay transfer request, for a link or a QR code: see https://docs.solanapay.com/spec. */
export function paymentUri({ recipient, amount, mint, referenceKey, label }: AskedDeposit): string {
  const token = mint === null ? "" : `&spl-token=${mint}`;
  const shown = encodeURIComponent(label);
  return `solana:${recipient}?amount=${amount}${token}&reference=${referenceKey}&label=${shown}`;
}
