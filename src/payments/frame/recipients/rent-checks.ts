/** Refuses payments of SOL that leave a recipient below the rent of an account: the chain does not make them. */
import { formatAmount } from "../../../core/amount.ts";
import { PaymentError } from "../../../errors/errors.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { ledgerMint, type Token } from "../assets/assets.ts";
import type { PayeeTransfer } from "./recipients.ts";

/**
 * Throws `AMOUNT_TOO_SMALL` for the first recipient of SOL who would hold less than the rent minimum: the chain lets nobody be
 * paid so little.
 */
export async function refuseUnderRent(
  ledger: Pick<Ledger, "rentMinimum" | "funds">,
  asset: Token,
  transfers: readonly PayeeTransfer[],
): Promise<void> {
  if (ledgerMint(asset) !== null || transfers.length === 0) return;
  const recipients = transfers.map(({ recipient }) => recipient);
  const [minimum, { funds }] = await Promise.all([
    ledger.rentMinimum(0),
    ledger.funds(recipients, [], "confirmed"),
  ]);
  const held = transfers.map(({ amount }, index) => (funds[index]?.lamports ?? 0n) + amount);
  refuseLess(asset, minimum, held);
}

/**
 * Throws `AMOUNT_TOO_SMALL` for the first recipient of SOL who gets less than the rent minimum: an order pays later, and what
 * a wallet holds now may be gone by then (K11).
 */
export async function refuseLessThanRent(
  ledger: Pick<Ledger, "rentMinimum">,
  asset: Token,
  transfers: readonly PayeeTransfer[],
): Promise<void> {
  if (ledgerMint(asset) !== null || transfers.length === 0) return;
  const minimum = await ledger.rentMinimum(0);
  refuseLess(
    asset,
    minimum,
    transfers.map(({ amount }) => amount),
  );
}

function refuseLess({ decimals }: Token, minimum: bigint, amounts: readonly bigint[]): void {
  const index = amounts.findIndex((amount) => amount < minimum);
  if (index < 0) return;
  throw new PaymentError("AMOUNT_TOO_SMALL", { minimum: formatAmount(minimum, decimals), index });
}
