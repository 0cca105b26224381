/** The reason why a wallet's swap would not go through, in the words of the contract, before a write. */
import type { Address } from "../../address.ts";
import { PaymentError } from "../../errors.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { TransactionFault } from "../../ledger/routing.ts";
import { ledgerMint, type Assets, type Token } from "../assets/assets.ts";
import { tooLittle } from "../assets/too-little.ts";
import type { BuiltSwap } from "../swap-provider/swap-provider.ts";

/** The amounts that the sender needs for a swap. */
interface SwapCosts extends BuiltSwap {
  readonly sender: Address;
  readonly give: Token;
  readonly inputAmount: bigint;
}

/**
 * Looks at what the sender has, then runs the message without signatures. Null when the chain would take it. Both at
 * confirmed.
 */
export async function swapRefusal(
  ledger: Ledger,
  assets: Assets,
  swap: SwapCosts,
): Promise<PaymentError | null> {
  const { plan, unsigned, sender, give, inputAmount, rent } = swap;
  const sol = assets.named("SOL");
  const mint = ledgerMint(give);
  const { funds } = await ledger.funds([sender], mint === null ? [] : [mint], "confirmed");
  const lamports = funds[0]?.lamports ?? 0n;
  const held = mint === null ? lamports : (funds[0]?.tokens[0] ?? 0n);
  if (held < inputAmount) return tooLittle(give, "amount", { required: inputAmount, available: held });
  const withFee = (mint === null ? inputAmount : 0n) + unsigned.networkFee;
  if (lamports < withFee) return tooLittle(sol, "fee", { required: withFee, available: lamports });
  const withRent = withFee + rent;
  if (lamports < withRent) return tooLittle(sol, "rent", { required: withRent, available: lamports });

  const fault = await ledger.tryTransaction(plan ?? { feePayer: sender, moves: [] }, unsigned);
  if (fault === null) return null;
  // It could pay, and would be left with less than an account must hold.
  const isLeftWithTooLittle = fault.kind === "fee_payer";
  if (!isLeftWithTooLittle) return refusalOf(fault, swap);
  const required = withRent + (await ledger.rentMinimum(0));
  return tooLittle(sol, "rent", { required, available: lamports });
}

/** The sender has enough, so a failure has another reason, and may be the provider's. */
function refusalOf(
  { kind, move, error }: TransactionFault,
  { plan, sender }: BuiltSwap & { sender: Address },
) {
  switch (kind) {
    case "blockhash":
      return new PaymentError("INVALID_SIGNATURE", { reason: "blockhash_expired" });
    case "already_processed":
      return new PaymentError("DUPLICATE_TRANSACTION", {});
    case "source":
    case "payee": {
      const leg = plan?.moves[move ?? -1];
      const atFault = leg?.does !== "transfer" ? null : kind === "source" ? leg.from : leg.to;
      // The desk has been emptied, or its account frozen, by another party than this service.
      if (atFault !== null && atFault !== sender) {
        return new PaymentError("INSUFFICIENT_LIQUIDITY", { available: "0" });
      }
      return new PaymentError("TRANSACTION_WOULD_FAIL", { reason: "frozen", logs: [error] });
    }
    case "fee_payer":
    case "marked":
    case "unplanned":
    case "other":
      return new PaymentError("TRANSACTION_WOULD_FAIL", { reason: "program_error", logs: [error] });
  }
}
