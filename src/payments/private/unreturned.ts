/** The rest of an order's books: what came and is neither paid, sent back nor kept as the fee, and why. */
import { formatAmount } from "../../amount.ts";
import type { Assets } from "../assets/assets.ts";
import { readPlan } from "../outgoing/plans/stored-plan.ts";
import { WRITTEN_OFF, type DepositRecord, type EntryRecord } from "../tables/deposits.ts";
import type { ReservationRecord } from "../tables/limits.ts";
import { isFinalStatus, type RecipientRecord, type TransactionRecord } from "../tables/orders.ts";
import type { PaymentRecord } from "../tables/payments.ts";

/** An order of private mode with the lines of its address. */
export interface OrderBooks {
  readonly transaction: TransactionRecord;
  readonly deposit: DepositRecord;
  readonly entries: readonly EntryRecord[];
  /** The recipients who are shown as paid. */
  readonly paid: readonly RecipientRecord[];
  /** The refunds that are shown. */
  readonly refunds: readonly PaymentRecord[];
  /** What the sponsor has set aside for the order: released each time that its address comes to rest. */
  readonly reservation: ReservationRecord | undefined;
}

interface Unreturned {
  readonly asset: string;
  readonly amount: string;
  readonly reason: "dust" | "held" | "under_way" | "missing";
}

/**
 * By asset, so that what came = what recipients were paid + refunds with their costs + the fee + this. `under_way` goes on by
 * itself, `held` waits for the operator, `dust` is not worth a transaction, and `missing` has left the address otherwise,
 * such as for the token account of a payee, or was written off.
 */
export function unreturned(books: OrderBooks, assets: Assets): readonly Unreturned[] {
  const mints = new Set(books.entries.filter(({ kind }) => kind === "deposit").map(({ mint }) => mint));
  return [...mints].flatMap((mint) => {
    const asset = assets.ofMint(mint);
    const rest = asset === null ? 0n : restOf(books, mint);
    if (asset === null || rest <= 0n) return [];
    return reasonsOf(books, mint, rest).map(({ amount, reason }) => ({
      asset: asset.symbol,
      amount: formatAmount(amount, asset.decimals),
      reason,
    }));
  });
}

/** The amount that a refund sends back, and the cost that the refund withholds. In base units. */
export function refundParts({ legs, plan }: PaymentRecord): {
  readonly amount: bigint;
  readonly cost: bigint;
} {
  return { amount: legs.reduce((sum, leg) => sum + leg.amount, 0n), cost: BigInt(readPlan(plan).withheld) };
}

/** The received amount of a mint, less payouts, shown refunds and the fee; negative if the answer tells more than came in. */
export function restOf({ transaction, entries, paid, refunds }: OrderBooks, mint: string): bigint {
  const came = sumOf(entries, mint, ["deposit"]);
  const back = refunds
    .filter((refund) => refund.mint === mint)
    .map(refundParts)
    .reduce((sum, { amount, cost }) => sum + amount + cost, 0n);
  const fee = transaction.feeMint === mint ? (transaction.fee ?? 0n) : 0n;
  return came - paidOf(transaction, paid, mint) - back - fee;
}

/** The quoted input of a swap in base units; private mode leaves the fee out. */
export function swappedBy({ mode, inputAmount, fee }: TransactionRecord): bigint {
  return mode === "wallet" ? inputAmount : inputAmount - (fee ?? 0n);
}

/** What the recipients were paid, in the asset that came. */
function paidOf(transaction: TransactionRecord, paid: readonly RecipientRecord[], mint: string): bigint {
  if (transaction.inputMint !== mint || paid.length === 0) return 0n;
  if (transaction.type === "swap") return swappedBy(transaction);
  return paid.reduce((sum, { amount }) => sum + amount, 0n);
}

interface Part extends Pick<Unreturned, "reason"> {
  readonly amount: bigint;
}

function reasonsOf(books: OrderBooks, mint: string, rest: bigint): readonly Part[] {
  const { transaction, deposit, entries, reservation } = books;
  if (deposit.heldReason === WRITTEN_OFF) return [{ amount: rest, reason: "missing" }];
  if (deposit.heldReason !== null) return [{ amount: rest, reason: "held" }];
  if (!isFinalStatus(transaction.status)) return [{ amount: rest, reason: "under_way" }];
  const here = sumOf(entries, mint, ["deposit", "loan"]) - sumOf(entries, mint, OUTGOING);
  const last = entries.findLast((entry) => entry.kind === "deposit" && entry.mint === mint)?.at ?? 0;
  const hasRested = (reservation?.releasedAt ?? -1) >= last;
  const there = here > rest ? rest : here > 0n ? here : 0n;
  const swept = sumOf(entries, mint, ["dust"]);
  const dust = rest - there > swept ? swept : rest - there;
  const parts: readonly Part[] = [
    { amount: there, reason: hasRested ? "dust" : "under_way" },
    { amount: dust, reason: "dust" },
    { amount: rest - there - dust, reason: "missing" },
  ];
  return parts.filter(({ amount }) => amount > 0n);
}

const OUTGOING: readonly EntryRecord["kind"][] = ["payout", "refund", "fee", "dust", "repayment"];

function sumOf(entries: readonly EntryRecord[], mint: string, kinds: readonly EntryRecord["kind"][]): bigint {
  return entries
    .filter((entry) => entry.mint === mint && kinds.includes(entry.kind))
    .reduce((sum, { amount }) => sum + amount, 0n);
}
