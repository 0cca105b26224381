/** Limits the sponsor's spending on one order: an order that costs more waits for an operator. */
import type { Evidence } from "../../ledger/belief.ts";
import { TOKEN_ACCOUNT_BYTES, type RoutingLedger, type TransactionPlan } from "../../ledger/routing.ts";
import { depositContext } from "../deposit-context.ts";
import type { PaymentRecord } from "../tables/payments.ts";
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import type { Address } from "../../address.ts";
import type { RoutingCost } from "../outgoing/plans/routing-cost.ts";
import { readPlan, type StoredPlan } from "../outgoing/plans/stored-plan.ts";

/** The reason that an address is held for when its order has cost too much. */
export const SPONSOR_CAP = "sponsor_cap";

/**
 * Fees are counted so many times: bids are raised once at the customer's cost, and transactions that landed with an error are
 * made again.
 */
const FEE_HEADROOM = 4n;

/** The reservation of the sponsor's lamports for one order, which is also the most that may be spent on it. */
export function sponsorCap(cost: RoutingCost): bigint {
  return lastingCost(cost) + cost.deposits;
}

/** The part of it that no sweep brings back. */
export function lastingCost(cost: RoutingCost): bigint {
  const tipsOfOthers = cost.tips * (FEE_HEADROOM - 1n);
  return mostNetworkFees(cost) + tipsOfOthers + cost.bids + cost.accountRent;
}

/** The most that a customer pays the network for one order; of the tips those of one attempt for each payment. */
export function mostNetworkFees({ networkFees, tips }: Pick<RoutingCost, "networkFees" | "tips">): bigint {
  return networkFees * FEE_HEADROOM + tips;
}

/** Wallets whose lamports are counted. */
interface CostBearers {
  readonly sponsor: Address;
  /** Owners of accounts that are closed again, or that the operator keeps. */
  readonly ours: readonly string[];
}

/** A transaction that is about to be signed. `networkFee` in lamports. */
interface PlannedLanding {
  readonly plan: TransactionPlan;
  readonly networkFee: Evidence<bigint>;
}

/** The lasting cost of a landing for the sponsor, in lamports: the fee, and the rent of accounts made for others. */
interface LandingCost {
  readonly fee: bigint;
  readonly rent: bigint;
}

/** Reads which of the receivers' accounts are missing, and what their rent is. */
export async function costOfLanding(
  ledger: RoutingLedger,
  { sponsor, ours }: CostBearers,
  { plan: { moves }, networkFee }: PlannedLanding,
): Promise<LandingCost> {
  const owners = new Map<Address, Address[]>();
  for (const move of moves) {
    if (move.does !== "transfer" || move.mint === null || move.accountPayer !== sponsor) continue;
    if (ours.includes(move.to)) continue;
    owners.set(move.mint, [...(owners.get(move.mint) ?? []), move.to]);
  }
  const found = await Promise.all([...owners].map(([mint, all]) => ledger.haveTokenAccounts(all, mint)));
  const missing = found.flat().filter((has) => !has).length;
  const rent = missing === 0 ? 0n : BigInt(missing) * (await ledger.rentMinimum(TOKEN_ACCOUNT_BYTES));
  return { fee: networkFee, rent };
}

/** An attempt that is about to be stored, and what landing would cost the sponsor, in lamports. */
interface CostlyAttempt {
  readonly signature: string;
  readonly cost: bigint;
  readonly at: number;
}

/** The lamports that may still be spent on the order of one address. */
interface Allowance {
  readonly left: bigint;
  /** Belongs into the commit of the attempt: it is refused where attempts that are stored meanwhile have left too little. */
  readonly take: (attempt: CostlyAttempt) => PaymentWrite;
}

/**
 * Reads the allowance of an address. Signatures of older versions of this service are counted from the plans alone.
 */
export async function allowanceOf(
  storage: Pick<PaymentStorage, "load" | "transaction" | "reserved">,
  { address, transactionId, kind }: Pick<PaymentRecord, "address" | "transactionId" | "kind">,
): Promise<Allowance> {
  const resource = `costs of ${address}`;
  // First: what is stored between the readings is then counted twice, and never left out.
  const taken = await storage.reserved(resource);
  const [{ allowance }, view] = await Promise.all([
    depositContext(storage, address),
    storage.transaction(transactionId),
  ]);
  if (view === null) throw new Error(`transaction ${transactionId} is not stored`);
  const spent = view.payments.reduce((sum, { plan }) => sum + spentBy(readPlan(plan)), 0n);
  const left = BigInt(allowance) - spent;
  // A sweep brings back more than it costs.
  const room = kind === "sweep" ? {} : { atMost: { total: left + taken } };
  return {
    left,
    take({ signature, cost: amount, at: createdAt }) {
      const id = costId(signature);
      const insert = { id, version: 1, resource, amount, createdAt, lapsesAt: null, releasedAt: null };
      return { table: "reservations", insert, ...room };
    },
  };
}

/** Attempts that can land no more have cost nothing. */
export async function returnedAllowances(
  storage: Pick<PaymentStorage, "reservation">,
  signatures: ReadonlySet<string>,
  releasedAt: number,
): Promise<readonly PaymentWrite[]> {
  const ids = [...signatures].map(costId);
  const taken = await Promise.all(ids.map((id) => storage.reservation(id)));
  return ids
    .filter((_, index) => taken[index] !== null)
    .map((id) => ({ table: "reservations", id, set: { releasedAt } }));
}

function costId(signature: string): string {
  return `${signature}:cost`;
}

/** The highest cost of a payment's attempts, in lamports: the fee of each attempt, and the rent once. */
export function spentBy({ costs = [], rent = "0" }: Pick<StoredPlan, "costs" | "rent">): bigint {
  return costs.reduce((sum, cost) => sum + BigInt(cost), BigInt(rent));
}

type AttemptCosts = Required<Pick<StoredPlan, "costs" | "rent" | "presumed">>;

export function withCost(
  { costs = [], rent = "0", presumed = [] }: StoredPlan,
  cost: LandingCost,
): AttemptCosts {
  const most = cost.rent > BigInt(rent) ? cost.rent : BigInt(rent);
  return { costs: [...costs, String(cost.fee)], rent: String(most), presumed };
}

/**
 * The costs of a payment without these dead attempts: dead attempts cost nothing. Which cost is whose is not stored, and bids
 * differ: the dearest are kept.
 */
export function withoutDead({ costs = [], rent = "0" }: StoredPlan, dead: ReadonlySet<string>): AttemptCosts {
  const dearestFirst = costs.toSorted((a, b) => Number(BigInt(b) - BigInt(a)));
  const left = dearestFirst.slice(0, Math.max(0, costs.length - dead.size));
  return { costs: left, rent: left.length === 0 ? "0" : rent, presumed: [] };
}
