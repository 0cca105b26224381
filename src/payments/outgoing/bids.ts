/**
 * Decides what the next attempt of a payment bids for its place in a block: more only where an endpoint took the earlier
 * bytes and their blockhash passed without them, since an outage or a full queue says nothing about a price.
 */
import {
  TOKEN_ACCOUNT_BYTES,
  type Bid,
  type RoutingLedger,
  type TransactionPlan,
  type UnsignedTransaction,
} from "../../ledger/routing.ts";
import type { Clock } from "../../runtime.ts";
import { depositContext } from "../deposit-context.ts";
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import { DAY_MS, raisedBids, spend, spendingId, spentInADay } from "../spending.ts";
import type { AttemptRecord, PaymentRecord } from "../tables/payments.ts";
import type { BidHistory, StoredPlan } from "./plans/stored-plan.ts";

/** The second attempt bids so many times what the first one bid; the third one bids the ceiling. */
const RAISE = 4n;
const NO_BIDS: BidHistory = { first: "0", passed: 0, last: null };

export function withBid({ bids = NO_BIDS }: StoredPlan, { priorityFee }: UnsignedTransaction): BidHistory {
  return bids.passed === 0 ? { ...bids, first: String(priorityFee) } : bids;
}

/** The history once the blockhash of the newest attempt has passed without it. */
export function passedBid(
  { bids = NO_BIDS }: StoredPlan,
  { id, takenAt }: Pick<AttemptRecord, "id" | "takenAt">,
): BidHistory {
  // An attempt that is presumed dead is looked at more than once.
  return takenAt === null || bids.last === id ? bids : { ...bids, passed: bids.passed + 1, last: id };
}

interface BiddingRules {
  readonly storage: Pick<PaymentStorage, "spent" | "load">;
  readonly ledger: Pick<RoutingLedger, "bidCeiling" | "rentMinimum">;
  readonly clock: Clock;
  /** The sponsor's address: raised bids are counted by it. */
  readonly sponsor: string;
  /** The most that raised bids may be within 24 hours, in lamports. */
  readonly mostRaisedPerDay: bigint;
}

interface BiddingPayment {
  readonly row: Pick<PaymentRecord, "kind" | "address">;
  readonly stored: StoredPlan;
  readonly plan: TransactionPlan;
}

/** A bid, and what belongs into the commit of the attempt that makes it. */
export interface NextBid {
  readonly bid: Bid;
  readonly count: (signature: string, unsigned: UnsignedTransaction) => readonly PaymentWrite[];
}

/**
 * The next bid of a payment. The customer pays for the estimate of the quote and one raise, and nothing for a sweep. Higher bids
 * are the operator's: where the day has no room for one, the bid stays below.
 */
export async function nextBid(rules: BiddingRules, payment: BiddingPayment): Promise<NextBid> {
  const { row, stored } = payment;
  const { first, passed } = stored.bids ?? NO_BIDS;
  const { ceiling, paidCeiling, tip } = await limitsOf(rules, payment);
  const isSweep = row.kind === "sweep";
  const from = isSweep ? "floor" : "estimate";
  const paidRaises = isSweep ? 0 : 1;
  const atLeast = BigInt(first) * RAISE;
  const paid = {
    from,
    atLeast: Math.min(passed, paidRaises) === 0 ? 0n : atLeast,
    ceiling: paidCeiling,
    tip,
  } as const;
  if (passed <= paidRaises) return { bid: paid, count: () => [] };
  const { storage, clock, sponsor, mostRaisedPerDay } = rules;
  const now = clock.now();
  const purse = raisedBids(sponsor);
  const spent = await spentInADay(storage, purse, now);
  if (spent + ceiling > mostRaisedPerDay) return { bid: paid, count: () => [] };
  const atMost = { total: mostRaisedPerDay, since: now - DAY_MS };
  return {
    bid: passed === 1 ? { from, atLeast, ceiling, tip } : { from: "ceiling", ceiling, tip },
    count: (signature, { priorityFee }) =>
      spend({ signature, purse, amount: priorityFee }, now).map((write) => ({ ...write, atMost })),
  };
}

/** Payments whose bid the fee of the order pays. */
const PAID_BY_ORDER: ReadonlySet<PaymentRecord["kind"]> = new Set(["payout", "swap", "plan"]);

/** What an order has reserved for the bid of a transaction, the part that its customer has paid for, and its tip, in lamports. */
async function limitsOf(
  { storage, ledger }: BiddingRules,
  { row: { kind, address }, plan: { moves } }: BiddingPayment,
): Promise<{ readonly ceiling: bigint; readonly paidCeiling: bigint; readonly tip: bigint }> {
  const context = await depositContext(storage, address);
  const { bidCeiling = ledger.bidCeiling, paidBid = bidCeiling } = context;
  const reserved = BigInt(bidCeiling);
  const tip = kind === "refund" || PAID_BY_ORDER.has(kind) ? BigInt(context.tip ?? "0") : 0n;
  if (PAID_BY_ORDER.has(kind)) {
    return { ceiling: reserved, paidCeiling: least(BigInt(paidBid), reserved), tip };
  }
  if (kind !== "sweep") return { ceiling: reserved, paidCeiling: reserved, tip };
  // A sweep that bids more than half of the rent that it brings back is better made in a cheaper hour.
  const markers = moves.filter(({ does }) => does === "unmark").length;
  const ceiling = least((BigInt(markers) * (await ledger.rentMinimum(TOKEN_ACCOUNT_BYTES))) / 2n, reserved);
  return { ceiling, paidCeiling: ceiling, tip };
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

/**
 * Attempts that can land no more have bid nothing: one payment that stays below the market would else take the day's room from
 * all others.
 */
export async function returnedBids(
  storage: Pick<PaymentStorage, "spending">,
  sponsor: string,
  dead: ReadonlySet<string>,
): Promise<readonly PaymentWrite[]> {
  const ids = [...dead].map((signature) => spendingId(signature, raisedBids(sponsor)));
  const counted = await Promise.all(ids.map((id) => storage.spending(id)));
  return counted.flatMap((row) => (row === null ? [] : [{ table: "spendings" as const, remove: row.id }]));
}
