/** Computes the priority fee of our own transactions, per compute unit. */
import type { Bid } from "../../ledger/routing.ts";
import type { FeePolicy } from "../fee-policy.ts";
import { weigh } from "../agree.ts";
import type { NodeContext } from "../ask.ts";

// A dozen blocks of the 150 that are looked at.
const ESTIMATE_FOR_MS = 5_000;

// A source of the host's that is silent must not hold payments up: its next answer is asked for five seconds later.
const ESTIMATE_WITHIN_MS = 2_000;

const MICRO_LAMPORTS = 1_000_000n;

/**
 * Millionths of a lamport per compute unit for a transaction that asks for so many units: at least the floor, and no more than
 * the ceiling pays for. An estimate is five seconds old at most.
 */
export async function unitPrice(
  nodes: NodeContext,
  units: number,
  { from, atLeast = 0n, ceiling = nodes.fees.ceiling }: Bid,
): Promise<bigint> {
  const most = (ceiling * MICRO_LAMPORTS) / BigInt(units);
  const least = (atLeast * MICRO_LAMPORTS + BigInt(units) - 1n) / BigInt(units);
  if (from === "ceiling") return most;
  const { floor } = nodes.fees;
  const market = from === "floor" ? floor : await estimateOf(nodes);
  const bid = [floor, market, least].reduce((highest, each) => (each > highest ? each : highest));
  return bid < most ? bid : most;
}

/** The market's estimated price now, in millionths of a lamport per compute unit. */
function estimateOf(nodes: NodeContext): Promise<bigint> {
  return nodes.remembered("fee estimate", ESTIMATE_FOR_MS, () => estimated(nodes));
}

/** A hint: whoever tells nothing, or something that is no price, leaves the bid at the floor. */
async function estimated(nodes: NodeContext): Promise<bigint> {
  const { estimate, floor, percentile } = nodes.fees;
  if (estimate === null) return await lowestEstimate(nodes, percentile);
  try {
    const told: unknown = await inTime(nodes, estimate);
    if (typeof told === "bigint" && told >= 0n) return told;
    throw new TypeError(`fees.estimate must resolve to a bigint from 0 within 2 s, not ${typeof told}`);
  } catch (err) {
    nodes.log.warn({ err }, "fees.estimate told no price: bids are at the floor");
    return floor;
  }
}

/** Undefined where the source is silent. */
async function inTime<T>({ clock }: NodeContext, ask: () => Promise<T>): Promise<T | undefined> {
  const told = new AbortController();
  const late = clock.sleep(ESTIMATE_WITHIN_MS, told.signal).then(() => undefined);
  try {
    return await Promise.race([ask(), late]);
  } finally {
    told.abort();
  }
}

/**
 * The lowest that an endpoint tells: one that tells too much makes no payment dearer. Nodes are asked without accounts: of
 * accounts that only we write to they tell what we have bid ourselves, or nothing.
 */
async function lowestEstimate(nodes: NodeContext, percentile: FeePolicy["percentile"]): Promise<bigint> {
  return await weigh(
    nodes,
    { of: "priorityFees", question: ({ rpc }) => rpc.getRecentPrioritizationFees() },
    (told) => {
      const estimates = told.map((fees) => percentileOf(fees, percentile));
      return BigInt(estimates.length === 0 ? 0 : Math.min(...estimates));
    },
  );
}

/** Prices of blocks in which somebody had to bid for a place. */
function percentileOf(fees: readonly number[], percentile: number): number {
  const paid = fees.filter((fee) => fee > 0).toSorted((a, b) => a - b);
  return paid[Math.min(paid.length - 1, Math.floor((paid.length * percentile) / 100))] ?? 0;
}
