/** The money of an order as it came in, went out and is still held, asset by asset, so that it sums to zero. */
import { formatAmount } from "../../core/amount.ts";
import type { TransactionView } from "../../payments/frame/tables/orders.ts";
import type { InspectedPaymentParts } from "../../payments/payment-storage.ts";
import { booksOf } from "../../payments/private/order-books.ts";
import { signedDetails } from "../../payments/frame/signed/signed-details.ts";
import type { OrderedTransaction, OrderView } from "../../payments/private/tables.ts";

/** A side of a flow: an amount of an asset. */
export interface MoneyEntry {
  /** The kind of movement, such as `deposit`. */
  readonly is: string;
  /** Base units, above zero. */
  readonly amount: bigint;
}

/** The flow of one asset. All `into` minus all `outOf` is zero: held money is listed in `outOf`. */
export interface MoneyTally {
  readonly symbol: string;
  readonly decimals: number;
  readonly into: readonly MoneyEntry[];
  readonly outOf: readonly MoneyEntry[];
}

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
  view: OrderedTransaction,
): Promise<MoneyReport> {
  const { transaction, recipients, order } = view;
  const { status } = transaction;
  const isWallet = order === null;
  const flows = isWallet ? walletFlows(payments, view) : await bookFlows(payments, { ...view, order });
  const signed = isWallet ? signedDetails(transaction) : null;
  const paid = recipients.filter((share) => (signed?.outcomeOf(share) ?? share).status === "paid").length;
  return {
    note: isWallet
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

/** Flows in private mode: the books of the order. */
async function bookFlows(
  payments: InspectedPaymentParts,
  { order, ...view }: TransactionView & { readonly order: OrderView },
): Promise<MoneyTally[]> {
  const attempts = await payments.reads.attemptsOfAny(order.transfers.map(({ id }) => id));
  // A database that is looked at alone may be of a chain whose mints have other names.
  const assets = [...new Set([order.order.mint, ...order.levels.map(({ mint }) => mint)])];
  const { received, refunds, unreturned, paid, fee } = booksOf({ ...view, ...order, attempts, assets });
  return [...new Set(received.map(({ mint }) => mint))].map((mint) => {
    const of = <S extends { readonly mint: string }>(sums: readonly S[]): readonly S[] =>
      sums.filter((sum) => sum.mint === mint);
    const isInput = mint === order.order.mint;
    const outOf: readonly MoneyEntry[] = [
      { is: "recipients", amount: isInput ? paid : 0n },
      { is: "fee", amount: isInput ? (fee ?? 0n) : 0n },
      ...of(refunds).map(({ status, amount }) => ({
        is: status === "paid" ? "refund" : `refund, ${status}`,
        amount,
      })),
      ...of(refunds).map(({ cost }) => ({ is: "cost of a refund", amount: cost })),
      ...of(unreturned).map(({ reason, amount }) => ({ is: reason.replace("_", " "), amount })),
    ];
    const into = of(received).map(({ amount }) => ({ is: "deposit", amount }));
    // Of a mint that is none of the assets, nothing goes on by itself.
    const rest = { is: "held", amount: sumOf(into) - sumOf(outOf) };
    return { ...assetOf(payments, mint), into, outOf: [...outOf, rest].filter(({ amount }) => amount > 0n) };
  });
}

/** The sum in base units. */
export function sumOf(lines: readonly MoneyEntry[]): bigint {
  return lines.reduce((sum, { amount }) => sum + amount, 0n);
}

export function assetOf(
  { assets }: InspectedPaymentParts,
  mint: string,
): Pick<MoneyTally, "symbol" | "decimals"> {
  const asset = assets.ofMint(mint);
  // A database that is looked at alone may be of a chain whose mints have other names.
  return asset === null
    ? { symbol: `base units of ${mint}`, decimals: 0 }
    : { symbol: asset.symbol, decimals: asset.decimals };
}

/** An amount with its asset, such as `12.5 USDC`. */
export function amountWords(
  amount: bigint,
  { symbol, decimals }: Pick<MoneyTally, "symbol" | "decimals">,
): string {
  return `${formatAmount(amount, decimals)} ${symbol}`;
}
