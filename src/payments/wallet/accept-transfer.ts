/** Taking a send or a payroll that its sender has signed: the bytes are what was declared, and the chain would carry them out. */
import { PaymentError } from "../../errors.ts";
import type { Decision } from "../accounts/answer-once.ts";
import type { DeclaredPayment, SimulationFault } from "../../ledger/ledger.ts";
import { ledgerMint, type Assets } from "../assets/assets.ts";
import type { CheckedRequest } from "../quotes/checked-request.ts";
import { referenceOf } from "../quotes/price-transfer.ts";
import { checkRecipientsOnChain } from "../recipients/recipients.ts";
import type { ServiceContext } from "../service-context.ts";
import {
  acceptSigned,
  refuseKnown,
  type CreatedTransferBody,
  type ExaminedTransaction,
  type SignedTransactionParts,
  carriedReference,
} from "./accept-signed.ts";
import { SOL_MINT } from "../../address.ts";
import { formatAmount } from "../../amount.ts";
import type { Evidence } from "../../ledger/belief.ts";

/** Dependencies of taking sends and payrolls. */
interface TransferAcceptanceParts extends SignedTransactionParts, Pick<ServiceContext, "ledger" | "assets"> {}

/** Takes sends and payrolls of wallet mode. */
export async function acceptTransfer(
  parts: TransferAcceptanceParts,
  request: CheckedRequest,
): Promise<Decision<CreatedTransferBody>> {
  return acceptSigned(parts, request, await examine(parts, request));
}

async function examine(
  { storage, ledger, assets }: TransferAcceptanceParts,
  { signedTransaction, quote, declared, checkAmounts }: CheckedRequest,
): Promise<ExaminedTransaction> {
  const payment = paymentOf(assets, quote.outputMint, declared);
  const examined = await ledger.verifyPayment(signedTransaction, payment, quote.tip);
  if ("refused" in examined) throw new PaymentError("INVALID_SIGNATURE", { reason: examined.refused });
  const { verified } = examined;
  await refuseKnown(storage, verified, declared.accountId);
  await checkRecipientsOnChain(
    ledger,
    declared.transfers.map(({ recipient }) => recipient),
  );
  await checkAmounts();
  // Also finds bytes that have landed already: while their blockhash lives, every node still remembers them.
  const fault = await ledger.simulatePayment(verified, payment);
  if (fault !== null) throw simulationError(fault, assets);
  const reference = carriedReference(verified.bytes, referenceOf(quote.id));
  return { verified, reference, reservations: [], writes: [] };
}

function paymentOf(
  assets: Assets,
  quotedMint: string,
  { sender, transfers }: CheckedRequest["declared"],
): DeclaredPayment {
  const asset = assets.named(quotedMint);
  return { sender, mint: ledgerMint(asset), decimals: asset.decimals, transfers };
}

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
