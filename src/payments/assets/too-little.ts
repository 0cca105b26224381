/** The error of a wallet that holds too little for what it asks for. */
import { formatAmount } from "../../amount.ts";
import { PaymentError } from "../../errors.ts";
import type { Token } from "./assets.ts";

/** Amounts in base units of the asset. */
interface Shortfall {
  readonly required: bigint;
  readonly available: bigint;
}

export function tooLittle(
  { symbol, mint, decimals }: Pick<Token, "symbol" | "mint" | "decimals">,
  component: "amount" | "fee" | "rent",
  { required, available }: Shortfall,
): PaymentError {
  return new PaymentError("INSUFFICIENT_BALANCE", {
    asset: symbol,
    mint,
    required: formatAmount(required, decimals),
    available: formatAmount(available, decimals),
    shortfall: formatAmount(required > available ? required - available : 0n, decimals),
    component,
  });
}
