/** The money of an order as it came in, went out and is still held, asset by asset, so that it sums to zero. */
import { formatAmount } from "../../amount.ts";
import type { TransactionView } from "../../payments/tables/orders.ts";
import type { InspectedPaymentParts } from "../../payments/service-context.ts";
import type { EntryRecord } from "../../payments/tables/deposits.ts";

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

const INTO: ReadonlySet<EntryRecord["kind"]> = new Set(["deposit", "loan"]);

export async function readMoney(
  payments: InspectedPaymentParts,
  order: TransactionView,
): Promise<MoneyReport> {
  const { transaction, recipients } = order;
  const { status, depositAddress } = transaction;
  const flows =
    depositAddress === null ? walletFlows(payments, order) : await ledgerFlows(payments, depositAddress);
  const isWallet = depositAddress === null;
  const paid = recipients.filter((recipient) => recipient.status === "paid").length;
  return {
    note: isWallet
      ? walletNote(status)
      : flows.length === 0
        ? "Nothing has come in yet."
        : "As it stands on the chain.",
    flows,
    paid: isWallet && status === "completed" ? recipients.length : paid,
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

/** Flows in private mode: the lines of the deposit address's ledger. */
async function ledgerFlows(payments: InspectedPaymentParts, address: string): Promise<MoneyTally[]> {
  const entries = await payments.reads.entries(address);
  const mints = [...new Set(entries.map(({ mint }) => mint))];
  return mints.map((mint) => {
    const of = entries.filter((entry) => entry.mint === mint);
    const into = of.filter(({ kind }) => INTO.has(kind)).map(lineOf);
    const outOf = of.filter(({ kind }) => !INTO.has(kind)).map(lineOf);
    const held = sumOf(into) - sumOf(outOf);
    const rest: MoneyEntry[] = held > 0n ? [{ is: "held", amount: held }] : [];
    // Lines are written as each payment is final: one side may be known before the other.
    const unseen: MoneyEntry[] = held < 0n ? [{ is: "not credited yet", amount: -held }] : [];
    return { ...assetOf(payments, mint), into: [...into, ...unseen], outOf: [...outOf, ...rest] };
  });
}

function lineOf({ kind, amount }: EntryRecord): MoneyEntry {
  return { is: kind, amount };
}

/** The sum in base units. */
export function sumOf(lines: readonly MoneyEntry[]): bigint {
  return lines.reduce((sum, { amount }) => sum + amount, 0n);
}

function assetOf({ assets }: InspectedPaymentParts, mint: string): Pick<MoneyTally, "symbol" | "decimals"> {
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
