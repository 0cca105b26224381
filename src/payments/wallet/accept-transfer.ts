/** Taking a send or a payroll that its sender has signed: the bytes are what was declared, and the chain would carry them out. */
import { PaymentError } from "../../errors.ts";
import type { DeclaredPayment } from "../../ledger/ledger.ts";
import { ledgerMint, type Assets } from "../assets/assets.ts";
import type { AcceptHandler, CheckedRequest } from "../quotes/checked-request.ts";
import { referenceOf } from "../quotes/price-transfer.ts";
import { checkRecipientsOnChain } from "../recipients/recipients.ts";
import type { ServiceContext } from "../service-context.ts";
import type {
  CreatedTransferBody,
  ExaminedTransaction,
  SignedTransactionAcceptance,
} from "./accept-signed.ts";
import { carriedReference } from "./own-reference.ts";
import { simulationError } from "./simulation-error.ts";

/** Takes sends and payrolls of wallet mode. */
export function acceptTransfer(
  context: Pick<ServiceContext, "ledger" | "assets">,
  signed: SignedTransactionAcceptance,
): AcceptHandler<CreatedTransferBody> {
  return async (request) => signed.decide(request, await examine(context, signed, request));
}

async function examine(
  { ledger, assets }: Pick<ServiceContext, "ledger" | "assets">,
  signed: SignedTransactionAcceptance,
  { signedTransaction, quote, declared, checkAmounts }: CheckedRequest,
): Promise<ExaminedTransaction> {
  const payment = paymentOf(assets, quote.outputMint, declared);
  const examined = await ledger.verifyPayment(signedTransaction, payment);
  if ("refused" in examined) throw new PaymentError("INVALID_SIGNATURE", { reason: examined.refused });
  const { verified } = examined;
  await signed.refuseKnown(verified, declared.accountId);
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
