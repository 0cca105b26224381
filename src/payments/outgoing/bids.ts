/**
 * Decides what the next attempt of a payment bids for its place in a block: more only where an endpoint took the earlier
 * bytes and their blockhash passed without them, since an outage or a full queue says nothing about a price.
 */
import type { Bid, UnsignedTransaction } from "../../ledger/routing.ts";
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import { DAY_MS, raisedBids, spend, spendingId, spentInADay } from "../spending.ts";
import type { AttemptRecord, PaymentRecord } from "../tables/payments.ts";
import type { BidHistory, StoredPlan } from "./plans/stored-plan.ts";

/** The second attempt bids so many times what the first one bid; the third one bids the ceiling. */
const RAISE = 4n;
const NO_BIDS: BidHistory = { first: "0", passed: 0, last: null };

/** The history with one more attempt. */
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

/** What raised bids cost the operator is counted in a storage, by the sponsor that pays. */
interface BiddingRules {
  readonly storage: Pick<PaymentStorage, "spent">;
  readonly sponsor: string;
  /** The most that raised bids may be within 24 hours, in lamports. */
  readonly mostRaisedPerDay: bigint;
}

/**
 * The payment that bids. `ceiling` is what its order has reserved for the bid of a transaction, and `paid` the part of it that
 * the customer has paid for, in lamports.
 */
interface BiddingPayment {
  readonly row: Pick<PaymentRecord, "kind">;
  readonly stored: StoredPlan;
  readonly ceiling: bigint;
  readonly paid: bigint;
}

/** A bid, and what belongs into the commit of the attempt that makes it. */
export interface NextBid {
  readonly bid: Bid;
  readonly count: (signature: string, unsigned: UnsignedTransaction) => readonly PaymentWrite[];
}

/**
 * The customer pays for the estimate of the quote and one raise, and nothing for a sweep. What is above is the operator's: where the day has no room for it, the
 * bid stays below.
 */
export async function nextBid(
  { storage, sponsor, mostRaisedPerDay }: BiddingRules,
  { row, stored, ceiling, paid: most }: BiddingPayment,
  now: number,
): Promise<NextBid> {
  const { first, passed } = stored.bids ?? NO_BIDS;
  const isSweep = row.kind === "sweep";
  const from = isSweep ? "floor" : "estimate";
  const paidRaises = isSweep ? 0 : 1;
  const paid = {
    from,
    atLeast: Math.min(passed, paidRaises) === 0 ? 0n : BigInt(first) * RAISE,
    ceiling: most < ceiling ? most : ceiling,
  } as const;
  if (passed <= paidRaises) return { bid: paid, count: () => [] };
  const purse = raisedBids(sponsor);
  const spent = await spentInADay(storage, purse, now);
  if (spent + ceiling > mostRaisedPerDay) return { bid: paid, count: () => [] };
  const raised =
    passed === 1 ? { ...paid, atLeast: BigInt(first) * RAISE } : ({ from: "ceiling", ceiling } as const);
  const atMost = { total: mostRaisedPerDay, since: now - DAY_MS };
  return {
    bid: raised,
    count: (signature, { priorityFee }) =>
      spend({ signature, purse, amount: priorityFee }, now).map((write) => ({ ...write, atMost })),
  };
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
