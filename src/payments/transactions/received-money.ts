/** The money of a private order as its owner sees it: what came, what goes back, what is left, and what is still due. */
import type { TransactionBody } from "./transaction-schema.ts";
import { SOL_MINT } from "../../core/address.ts";
import { formatAmount } from "../../core/amount.ts";
import { ledgerMint, type Assets } from "../frame/assets/assets.ts";
import { paymentUri } from "../private/deposit-body.ts";
import { WRAPPED_SOL, type OrderBooks, type ReceivedSum } from "../private/order-books.ts";
import type { TransactionRecord } from "../frame/tables/orders.ts";
import type { OrderView } from "../frame/tables/private.ts";

type MoneyBody = Required<
  Pick<TransactionBody, "received" | "unreturned" | "remainingAmount" | "paymentUri">
>;

/** What came, what of it is left, and what is still to come. */
export function receivedMoney(
  transaction: TransactionRecord,
  view: OrderView,
  { books, assets }: { readonly books: OrderBooks; readonly assets: Assets },
): MoneyBody {
  const { received, unreturned } = books;
  return {
    received: received.map((sum) => {
      const { payer, signature, isCounted } = sum;
      return { ...shownAmount(sum, assets), payer, signature, counted: isCounted };
    }),
    unreturned: unreturned.map(({ mint, amount, reason }) => {
      const shown = shownAmount({ mint, amount, decimals: null }, assets);
      return { asset: shown.asset, amount: shown.amount, reason };
    }),
    ...remaining(transaction, view, { received, assets }),
  };
}

function remaining(
  transaction: TransactionRecord,
  { order, holds }: OrderView,
  { received, assets }: { readonly received: readonly ReceivedSum[]; readonly assets: Assets },
): Pick<MoneyBody, "remainingAmount" | "paymentUri"> {
  const asset = assets.named(order.mint);
  const counted = received.filter(({ isCounted }) => isCounted).reduce((sum, { amount }) => sum + amount, 0n);
  const left = order.required > counted ? order.required - counted : 0n;
  const amount = formatAmount(left, asset.decimals);
  // What comes to an order that waits no more goes back, and a held one does not go on.
  const isHeld = holds.some(({ endedAt }) => endedAt === null);
  const isOpen = order.waitEndedAt === null && order.ends === null && transaction.status === "pending";
  const isWaiting = isOpen && !isHeld && left > 0n;
  return {
    remainingAmount: amount,
    paymentUri: isWaiting
      ? paymentUri({
          recipient: order.address,
          amount,
          mint: ledgerMint(asset),
          referenceKey: order.referenceKey,
          label: transaction.reference ?? transaction.id,
        })
      : null,
  };
}

/** What goes back of an order. */
export function refundBodies({ refunds }: OrderBooks, assets: Assets): TransactionBody["refunds"] {
  return refunds.map(({ mint, amount, cost, decimals, to, signature, status }) => {
    const shown = shownAmount({ mint, amount, decimals }, assets);
    const withheld = shownAmount({ mint, amount: cost, decimals }, assets);
    return { asset: shown.asset, amount: shown.amount, cost: withheld.amount, to, signature, status };
  });
}

type ShownAmount = Pick<
  NonNullable<TransactionBody["received"]>[number],
  "asset" | "mint" | "amount" | "decimals"
>;

/** An amount of a mint; `decimals` are those of one that is none of the assets. */
export function shownAmount(
  { mint: name, amount, decimals: others }: Pick<ReceivedSum, "mint" | "amount" | "decimals">,
  assets: Assets,
): ShownAmount {
  const isWrapped = name === WRAPPED_SOL;
  const mint = isWrapped ? SOL_MINT : name;
  const token = assets.ofMint(mint);
  const decimals = token?.decimals ?? others;
  const asset = isWrapped ? WRAPPED_SOL : (token?.symbol ?? mint);
  return { asset, mint, amount: formatAmount(amount, decimals ?? 0), decimals };
}
