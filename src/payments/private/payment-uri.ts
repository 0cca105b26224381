/** A deposit as a Solana Pay transfer request, which wallets open from a link or a QR code. */

/** The asked deposit. */
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

/** See https://docs.solanapay.com/spec. */
export function paymentUri({ recipient, amount, mint, referenceKey, label }: AskedDeposit): string {
  const token = mint === null ? "" : `&spl-token=${mint}`;
  const reference = referenceKey === null ? "" : `&reference=${referenceKey}`;
  return `solana:${recipient}?amount=${amount}${token}${reference}&label=${encodeURIComponent(label)}`;
}
