/** Taking a send or a payroll that its sender has signed. */
import { type Address, addressOf, SOL_MINT } from "../../core/address.ts";
import { formatAmount } from "../../core/amount.ts";
import { PaymentError } from "../../errors/errors.ts";
import type { Evidence } from "../../ledger/belief.ts";
import type { DeclaredPayment, SimulationFault, VerifiedPayment } from "../../ledger/ledger.ts";
import type { Decision } from "../frame/accounts/answer-once.ts";
import { ledgerMint, type Assets } from "../frame/assets/assets.ts";
import type { CheckedRequest } from "../frame/quotes/checked-request.ts";
import { checkReadPayees } from "../frame/recipients/recipients.ts";
import type { ServiceContext } from "../frame/service-context.ts";
import {
  acceptSigned,
  type CreatedTransferBody,
  type ExaminedTransaction,
  refuseKnown,
  type SignedTransactionParts,
} from "../frame/signed/accept-signed.ts";
import { referenceOf } from "./quote-transfer.ts";

interface TransferAcceptanceParts extends SignedTransactionParts, Pick<ServiceContext, "ledger"> {}

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
  const examined = await ledger.verifyPayment(signedTransaction, payment);
  if ("refused" in examined) throw new PaymentError("INVALID_SIGNATURE", { reason: examined.refused });
  const { verified } = examined;
  await refuseKnown(storage, verified, declared.accountId);
  const read = { payees: declared.transfers, kinds: await examined.payees };
  await checkReadPayees({ ledger, assets }, read, declared.sender);
  await checkAmounts();
  // Also finds bytes that have landed already: while their blockhash lives, every node still remembers them.
  const fault = await ledger.simulatePayment(verified, payment);
  // Another request may have taken and sent them since they were looked up.
  if (fault?.kind === "already_processed") await refuseKnown(storage, verified, declared.accountId);
  if (fault !== null) throw simulationError(fault, assets);
  const reference = carriedReference(verified, addressOf(referenceOf(quote.id)));
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

/** The key when a transfer of the payment names it; null when the caller built a transaction without it. */
function carriedReference({ references }: VerifiedPayment, reference: Address): Address | null {
  return references.includes(reference) ? reference : null;
}
