/** Converts errors of a simulation into errors of the API. */
import { SOL_MINT } from "../../address.ts";
import { formatAmount } from "../../amount.ts";
import { PaymentError } from "../../errors.ts";
import type { Evidence } from "../../ledger/belief.ts";
import type { SimulationFault } from "../../ledger/ledger.ts";
import type { Assets } from "../assets/assets.ts";

/** The error that a simulation's finding becomes. */
export function simulationError(fault: Evidence<SimulationFault>, assets: Assets): PaymentError {
  switch (fault.kind) {
    case "insufficient_balance": {
      const mint = fault.mint ?? SOL_MINT;
      const { symbol, decimals } = assets.named(mint);
      const { required, available, component } = fault;
      const missing = required > available ? required - available : 0n;
      return new PaymentError("INSUFFICIENT_BALANCE", {
        asset: symbol,
        mint,
        required: formatAmount(required, decimals),
        available: formatAmount(available, decimals),
        shortfall: formatAmount(missing, decimals),
        component,
      });
    }
    case "recipient_below_rent":
      return new PaymentError("AMOUNT_TOO_SMALL", {
        minimum: formatAmount(fault.minimum, assets.named(SOL_MINT).decimals),
        ...(fault.transfer === null ? {} : { index: fault.transfer }),
      });
    case "would_fail":
      return new PaymentError("TRANSACTION_WOULD_FAIL", { reason: fault.reason, logs: fault.logs });
    case "already_processed":
      return new PaymentError("DUPLICATE_TRANSACTION", {});
    case "blockhash_expired":
      return new PaymentError("INVALID_SIGNATURE", { reason: "blockhash_expired" });
  }
}
