/** The details of a private order's transaction: payees, deposits, refunds, and the open rest. */
import { formatAmount } from "../../core/amount.ts";
import { ledgerMint, type Assets } from "../frame/assets/assets.ts";
import { shownAmount } from "../frame/assets/shown-amount.ts";
import type { PrivateStorage } from "./private-storage.ts";
import type { AttemptRecord } from "../frame/tables/attempts.ts";
import {
  isFinalStatus,
  type RecipientRecord,
  type TransactionRecord,
  type TransactionView,
} from "../frame/tables/orders.ts";
import { groupedBy } from "../frame/tables/read.ts";
import type { ChunkRecord, OrderView } from "./tables.ts";
import type { RecipientOutcome, TransactionDetails } from "../frame/transactions/transaction-mode.ts";
import type { TransactionBody } from "../frame/transactions/transaction-schema.ts";
import { depositBody, paymentUri } from "./deposit-body.ts";
import { booksOf, isRefused, type OrderBooks, type ReceivedSum } from "./order-books.ts";

interface OrderDetailsDeps {
  readonly storage: Pick<PrivateStorage, "orderViews" | "attemptsOfAny">;
  readonly assets: Assets;
}

/** The order of a transaction, with the attempts of its transfers. */
interface AttemptedOrder {
  readonly order: OrderView;
  readonly attempts: readonly AttemptRecord[];
}

/** Reads these orders at once, and their attempts behind that. */
export async function orderDetails(
  { storage, assets }: OrderDetailsDeps,
  ids: readonly string[],
): Promise<(view: TransactionView) => TransactionDetails | null> {
  const orders = await storage.orderViews(ids);
  const transfers = orders.flatMap((order) => order.transfers.map(({ id }) => id));
  const attempts = transfers.length === 0 ? [] : await storage.attemptsOfAny(transfers);
  const ofTransfer = groupedBy(attempts, "transfer");
  const byId = new Map(orders.map((order) => [order.order.id, order]));
  return (view) => {
    const order = byId.get(view.transaction.id);
    if (order === undefined) return null;
    const own = order.transfers.flatMap(({ id }) => ofTransfer.get(id) ?? []);
    return detailsOf(view, { order, attempts: own }, assets);
  };
}

function detailsOf(
  { transaction, recipients }: TransactionView,
  attempted: AttemptedOrder,
  assets: Assets,
): TransactionDetails {
  const { order, attempts } = attempted;
  const mints = assets.tokens.map(({ mint }) => mint);
  const books = booksOf({ ...order, transaction, recipients, attempts, assets: mints });
  return {
    fee: books.fee,
    feeSignature: null,
    outcomeOf: (share) => outcomeOf(share, transaction, attempted),
    signatures: payingSignatures(recipients, attempted),
    refunds: books.refunds,
    given: books.paid,
    attention: attentionOf(order) ?? transaction.attention,
    own: {
      ...depositBody(order.order, assets),
      ...receivedMoney(transaction, order, { books, assets }),
    },
  };
}

const WAITS = ["waiting_for_price", "waiting_for_funds"] as const;

/** Why the order waits. The reason why money is held stays with the operator: it may be a suspicion. */
function attentionOf({ holds, levels, transfers }: OrderView): TransactionDetails["attention"] {
  if (holds.some(({ endedAt }) => endedAt === null)) return "held";
  if (levels.some(({ missing }) => missing > 0n)) return "missing";
  const planned = transfers.filter(({ state }) => state === "planned");
  return WAITS.find((wait) => planned.some(({ reason }) => reason === wait)) ?? null;
}

/** The marker of a recipient's chunk decides. */
function outcomeOf(
  share: RecipientRecord,
  { status }: Pick<TransactionRecord, "status">,
  { order, attempts }: AttemptedOrder,
): RecipientOutcome {
  if (share.status === "paid") return { status: "paid", signature: share.signature };
  const chunk = chunkOf(order, share);
  if (isDecided(order, chunk)) return { status: "unpaid", signature: null };
  if (status === "confirmed") return { status: "confirmed", signature: onlyAttempt(order, chunk, attempts) };
  // A go that is found after the end pays on.
  const isOver = isFinalStatus(status) && order.order.overState !== "paying";
  return { status: isOver ? "unpaid" : "pending", signature: null };
}

/** The chunk of a recipient: chunks take recipients in their stored order. */
function chunkOf({ order, chunks }: OrderView, { index }: RecipientRecord): ChunkRecord | undefined {
  let before = 0;
  const k = order.cut.findIndex((size) => {
    before += size;
    return index < before;
  });
  return chunks.find((chunk) => chunk.k === k);
}

/** Whether it is final whom the chunk pays; of another copy's marker that is known once its transactions are. */
function isDecided(order: OrderView, chunk: ChunkRecord | undefined): boolean {
  if (isRefused(order)) return true;
  return chunk !== undefined && chunk.length !== null && (chunk.isOwn || chunk.paid !== null);
}

/** A chunk's only attempt is the one that landed; which of several attempts landed is seen when the chunk is final. */
function onlyAttempt(
  { transfers }: OrderView,
  chunk: ChunkRecord | undefined,
  attempts: readonly AttemptRecord[],
): string | null {
  const transfer = transfers.find(({ kind, n }) => kind === "chunk" && n === chunk?.k);
  const own = attempts.filter((each) => each.transfer === transfer?.id && each.error === null);
  return own.length === 1 ? (own[0]?.id ?? null) : null;
}

/** Signatures of the transactions that have paid recipients of an order, then of those that are out to pay some. */
function payingSignatures(
  recipients: readonly RecipientRecord[],
  { order: { transfers }, attempts }: AttemptedOrder,
): readonly string[] {
  const paid = recipients.flatMap(({ status, signature }) => (status === "paid" ? (signature ?? []) : []));
  const out = transfers
    .filter(({ kind, state }) => kind === "chunk" && state === "out")
    .flatMap(({ id }) => {
      const newest = attempts.findLast(({ transfer, error }) => transfer === id && error === null);
      return newest?.legs?.some(({ as }) => as === "payee") === true ? newest.id : [];
    });
  return [...new Set([...paid, ...out])];
}

type MoneyBody = Required<
  Pick<TransactionBody, "received" | "unreturned" | "remainingAmount" | "paymentUri">
>;

/** Deposits, their rest, and the sum that is still to come. */
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
  // Money for an order that waits no more goes back, and a held order stands still.
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
