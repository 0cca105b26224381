/**
 * Decides what the next bytes of a transfer bid for their place in a block: more only if an endpoint took earlier bytes, and
 * their blockhash passed without them. An outage or a full queue says nothing about a price.
 */
import type { Bid, RoutingLedger, TransactionPlan, UnsignedTransaction } from "../../ledger/routing.ts";
import type { Clock } from "../../core/runtime.ts";
import type { PrivateStorage, PrivateWrite } from "./private-storage.ts";
import { DAY_MS, raisedBids, spend, spendingId, spentInADay } from "../frame/spending.ts";
import type { AttemptRecord } from "../frame/tables/attempts.ts";
import { isDead } from "./attempt-death.ts";
import { larger } from "./protocol/cost.ts";
import { bidIn } from "./protocol/fee.ts";
import { NOBODY } from "./protocol/outcome.ts";
import type { TransferInHand } from "./transfer-in-hand.ts";

/** The second attempt bids so many times what the first one bid; the third one bids the ceiling. */
const RAISE = 4n;

export interface BiddingDeps {
  readonly storage: Pick<PrivateStorage, "spent" | "spending">;
  readonly ledger: Pick<RoutingLedger, "buildTransaction">;
  readonly clock: Clock;
  /** The sponsor's address: raised bids are counted by it. */
  readonly sponsor: string;
  /** The most that raised bids may be within 24 hours, in lamports. */
  readonly mostRaisedPerDay: bigint;
}

/** The next bytes to sign, and their part of the commit that stores them. */
export interface BuiltTransaction {
  readonly unsigned: UnsignedTransaction;
  readonly count: (signature: string) => readonly PrivateWrite[];
}

/** The attempts that an endpoint took, and that are dead at this finalized height without a landing. */
export function passedBids(attempts: readonly AttemptRecord[], height: number): readonly AttemptRecord[] {
  return attempts.filter((each) => each.takenAt !== null && each.error === null && isDead(each, height));
}

/**
 * Builds the next transaction of a transfer: its first bid is the market's, and each that has passed raises the next. The
 * part above the customer's share is the operator's cost: if the day has no room for it, the bid is the customer's part.
 */
export async function buildWithBid(
  deps: BiddingDeps,
  inHand: TransferInHand,
  plan: TransactionPlan,
): Promise<BuiltTransaction> {
  const { storage, ledger, clock, sponsor, mostRaisedPerDay } = deps;
  const paid = paidBid(inHand);
  const now = clock.now();
  const purse = raisedBids(sponsor);
  const spent = await spentInADay(storage, purse, now);
  const atMost = { total: mostRaisedPerDay, since: now - DAY_MS };
  for (const bid of nextBids(inHand)) {
    const unsigned = await ledger.buildTransaction(plan, bid);
    const amount = unsigned.priorityFee;
    if (amount <= paid) return { unsigned, count: () => [] };
    if (spent + amount > mostRaisedPerDay) continue;
    const spending = (signature: string) => spend({ signature, purse, amount }, now);
    return { unsigned, count: (signature) => spending(signature).map((write) => ({ ...write, atMost })) };
  }
  const unsigned = await ledger.buildTransaction(plan, { from: "floor", atLeast: paid });
  return { unsigned, count: () => [] };
}

/** The bids to make, the first one that the day has room for. */
function nextBids({ row: { kind }, attempts, height }: TransferInHand): readonly Bid[] {
  const [first, ...others] = passedBids(attempts, height);
  const from = kind === "collect" || kind === "foreign" ? "floor" : "estimate";
  if (first === undefined) return [{ from }];
  const raised: Bid = { from, atLeast: (first.bid ?? 0n) * RAISE };
  return others.length === 0 ? [raised] : [{ from: "ceiling" }, raised];
}

/** The quote pays for the chunks and the first rest, unless the order is refused; a refund's cost is the least bid. */
function paidBid({ row, look: { view, judged } }: TransferInHand): bigint {
  const { order, chunks, transfers } = view;
  const least = bidIn(judged.fee);
  const isFirstRest = !transfers.some((each) => each.kind === "rest" && each.state === "done");
  const isQuoted = row.kind === "chunk" || (row.kind === "rest" && isFirstRest);
  const isRefused = chunks[0]?.wanted === NOBODY;
  return isQuoted && !isRefused ? larger(order.paidBid, least) : least;
}

/** Attempts that can land no more have bid nothing: one transfer below the market would else take the day's room from all. */
export async function returnedBids(
  { storage, sponsor }: Pick<BiddingDeps, "storage" | "sponsor">,
  dead: readonly Pick<AttemptRecord, "id">[],
): Promise<readonly PrivateWrite[]> {
  const counted = await Promise.all(
    dead.map(({ id }) => storage.spending(spendingId(id, raisedBids(sponsor)))),
  );
  return counted.flatMap((row) => (row === null ? [] : [{ table: "spendings" as const, remove: row.id }]));
}
