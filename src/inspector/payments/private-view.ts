/** Shows orders of private mode: chunks and transfers with their attempts, levels, holds and acts, and the books. */
// modules: private
import type { AttemptRecord } from "../../payments/frame/tables/attempts.ts";
import type { InspectedPaymentParts } from "../../payments/payment-storage.ts";
import { booksOf } from "../../payments/private/order-books.ts";
import type {
  ActRecord,
  ChunkRecord,
  HoldRecord,
  LevelRecord,
  OrderView,
  TransferRecord,
} from "../../payments/private/tables.ts";
import { parseAddress } from "../../core/address.ts";
import type { ModuleView } from "./module-view.ts";
import { amountWords, assetOf, sumOf, type MoneyEntry, type MoneyTally } from "./money.ts";
import { bounded, branch, type OrderPart } from "./order-part.ts";

export const privateView: ModuleView = {
  transactionOf: async ({ reads }, instance) => (await reads.transfer(instance))?.order ?? null,
  async relations({ reads }, transactionId) {
    const [order] = await reads.orderViews([transactionId]);
    return (order?.transfers ?? []).map(({ id, kind, n }) => [id, `transfer: ${kind} ${n}`] as const);
  },
  flows,
  async branches(payments, transactionId) {
    const [order] = await payments.reads.orderViews([transactionId]);
    if (order === undefined) return [];
    const attempts = await payments.reads.attemptsOfAny(order.transfers.map(({ id }) => id));
    return [addressBranch(payments, order, attempts)];
  },
  async search({ reads }, text) {
    const parsed = parseAddress(text);
    const order = "address" in parsed ? await reads.orderAt(parsed.address) : null;
    return order === null ? [] : [[order.id, "its deposit address"] as const];
  },
  async troubles({ reads }, limit) {
    const held = await reads.openHolds(limit);
    return held.map(({ order, reason }) => [order, `held: ${reason}`] as const);
  },
};

/** The books of the order. */
async function flows(
  payments: InspectedPaymentParts,
  transactionId: string,
): Promise<readonly MoneyTally[] | null> {
  const found = await payments.reads.orderedTransaction(transactionId);
  const order = found?.order ?? null;
  if (found === null || order === null) return null;
  const { transaction, recipients } = found;
  const attempts = await payments.reads.attemptsOfAny(order.transfers.map(({ id }) => id));
  // A database that is looked at alone may be of a chain whose mints have other names.
  const assets = [...new Set([order.order.mint, ...order.levels.map(({ mint }) => mint)])];
  const { received, refunds, unreturned, paid, fee } = booksOf({
    transaction,
    recipients,
    ...order,
    attempts,
    assets,
  });
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
    // For a mint that is none of the assets, nothing goes on by itself.
    const rest = { is: "held", amount: sumOf(into) - sumOf(outOf) };
    return { ...assetOf(payments, mint), into, outOf: [...outOf, rest].filter(({ amount }) => amount > 0n) };
  });
}

function addressBranch(
  payments: InspectedPaymentParts,
  { order, ...view }: OrderView,
  attempts: readonly AttemptRecord[],
): OrderPart {
  const transferBranch = (transfer: TransferRecord): OrderPart =>
    branchOfTransfer(
      transfer,
      attempts.filter((attempt) => attempt.transfer === transfer.id),
    );
  return branch({
    is: `address ${order.address}`,
    state: order.overState === null ? order.state : `${order.state}, ${order.overState}`,
    note: order.loanBack === null ? null : `loan back by ${order.loanBack}`,
    below: [
      ...view.holds.map(holdBranch),
      ...view.levels.map((level) => levelBranch(payments, level)),
      ...bounded(view.chunks, "chunks", chunkBranch),
      ...view.acts.map((act) => actBranch(payments, act)),
      ...bounded(view.transfers, "transfers", transferBranch),
    ],
  });
}

function holdBranch({ reason, endedAt }: HoldRecord): OrderPart {
  const state = endedAt === null ? "open" : `released ${new Date(endedAt).toISOString()}`;
  return branch({ is: `hold: ${reason}`, state });
}

function levelBranch(
  payments: InspectedPaymentParts,
  { mint, received, out, missing }: LevelRecord,
): OrderPart {
  const words = (amount: bigint): string => amountWords(amount, assetOf(payments, mint));
  const note = missing > 0n ? `${words(missing)} missing` : null;
  return branch({ is: "level", state: `${words(received)} came, ${words(out)} went back`, note });
}

function chunkBranch({ k, wanted, length, signature }: ChunkRecord): OrderPart {
  const state = length === null ? `undecided, outcome ${wanted} is wanted` : `decided, outcome ${length}`;
  return branch({ is: `chunk ${k}`, state, note: signature === null ? null : `signature ${signature}` });
}

function actBranch(payments: InspectedPaymentParts, { n, mint, sum, to, state }: ActRecord): OrderPart {
  return branch({ is: `act r${n}`, state, note: `${amountWords(sum, assetOf(payments, mint))} to ${to}` });
}

function branchOfTransfer(
  { id, kind, n, state, reason }: TransferRecord,
  attempts: readonly AttemptRecord[],
): OrderPart {
  const below = bounded(attempts, "attempts", attemptBranch);
  return branch({ is: `transfer: ${kind} ${n}`, id, state, note: reason, below });
}

function attemptBranch({ id, error, takenAt }: AttemptRecord): OrderPart {
  const sent = takenAt === null ? "signed" : "taken by an endpoint";
  return branch({
    is: "attempt",
    state: error === null ? sent : `failed: ${error}`,
    note: `signature ${id}`,
  });
}
