/** The money of an order as it came in, went out and is still held, asset by asset, so that it sums to zero. */
import type { TransactionView } from "../../payments/frame/tables/orders.ts";
import type { InspectedPaymentParts } from "../../payments/payment-storage.ts";
import { signedDetails } from "../../payments/frame/signed/signed-details.ts";
import { assetOf, sumOf, type MoneyEntry, type MoneyTally } from "./money.ts";
import { firstShown } from "./module-views.ts";

/** The shown money of an order. */
export interface MoneyReport {
  /** Said beside the picture: whether it has moved, or would. */
  readonly note: string;
  readonly flows: readonly MoneyTally[];
  /** The number of paid recipients. */
  readonly paid: number;
  readonly recipients: number;
}

export async function readMoney(
  payments: InspectedPaymentParts,
  view: TransactionView,
): Promise<MoneyReport> {
  const { transaction, recipients } = view;
  const { id, status } = transaction;
  const own = await firstShown((module) => module.flows(payments, id));
  const flows = own ?? walletFlows(payments, view);
  const signed = own === null ? signedDetails(transaction) : null;
  const paid = recipients.filter((share) => (signed?.outcomeOf(share) ?? share).status === "paid").length;
  return {
    note:
      own === null
        ? walletNote(status)
        : flows.length === 0
          ? "Nothing has come in yet."
          : "As it stands on the chain.",
    flows,
    paid,
    recipients: recipients.length,
  };
}

function walletNote(status: string): string {
  if (status === "completed") return "It moved in one transaction that the sender signed.";
  if (status === "failed" || status === "cancelled") return "Nothing moved. This is what would have.";
  return "What the signed transaction moves once it lands.";
}

/** Flows in wallet mode: the sender pays the recipients in the signed transaction itself. */
function walletFlows(
  payments: InspectedPaymentParts,
  { transaction, recipients }: TransactionView,
): MoneyTally[] {
  const { outputMint: mint, feeMint, fee } = transaction;
  const paid = recipients.map(({ amount }) => ({ is: "recipient", amount }));
  const fees = fee === null || fee === 0n ? [] : [{ is: "network fee", amount: fee }];
  const fromSender = (outOf: readonly MoneyEntry[]): Pick<MoneyTally, "into" | "outOf"> => ({
    into: [{ is: "sender", amount: sumOf(outOf) }],
    outOf,
  });
  if (mint === feeMint) return [{ ...assetOf(payments, mint), ...fromSender([...paid, ...fees]) }];
  const ofFee = fees.length === 0 ? [] : [{ ...assetOf(payments, feeMint), ...fromSender(fees) }];
  return [{ ...assetOf(payments, mint), ...fromSender(paid) }, ...ofFee];
}
