/** What the sponsor may spend on one order, and what is left of it: an order that costs more waits for an operator. */
import type { Agreed } from "../../ledger/belief.ts";
import { TOKEN_ACCOUNT_BYTES, type RoutingLedger, type TransactionPlan } from "../../ledger/routing.ts";
import { depositContext } from "../deposit-context.ts";
import type { PaymentRecord } from "../records.ts";
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import type { Address } from "../../address.ts";
import type { RoutingCost } from "../outgoing/plans/routing-cost.ts";
import { readPlan } from "../outgoing/plans/stored-plan.ts";

/** The reason that an address is held for when its order has cost too much. */
export const SPONSOR_CAP = "sponsor_cap";

/**
 * Fees are counted so many times: priority fees may rise between the quote and the payout, and transactions that landed
 * with an error are made again.
 */
const FEE_HEADROOM = 4n;

/** What is reserved of the sponsor's lamports for one order, and the most that may be spent for it. */
export function sponsorCap(cost: RoutingCost): bigint {
  return lastingCost(cost) + cost.deposits;
}

/** The part of it that no sweep brings back. */
export function lastingCost(cost: RoutingCost): bigint {
  return mostNetworkFees(cost) + cost.accountRent;
}

/** The most that the network may be paid for one order. */
export function mostNetworkFees({ networkFees }: Pick<RoutingCost, "networkFees">): bigint {
  return networkFees * FEE_HEADROOM;
}

/** Whose lamports are counted. */
export interface CostBearers {
  readonly sponsor: Address;
  /** Owners of accounts that are closed again, or that the operator keeps. */
  readonly ours: readonly string[];
}

/** A transaction that is about to be signed. `networkFee` in lamports. */
export interface PlannedLanding {
  readonly plan: TransactionPlan;
  readonly networkFee: Agreed<bigint>;
}

/** What landing costs the sponsor for good, in lamports: the fee, and rent of the accounts that it makes for others. */
export async function costOfLanding(
  ledger: RoutingLedger,
  { sponsor, ours }: CostBearers,
  { plan: { moves }, networkFee }: PlannedLanding,
): Promise<bigint> {
  const owners = new Map<Address, Address[]>();
  for (const move of moves) {
    if (move.does !== "transfer" || move.mint === null || move.accountPayer !== sponsor) continue;
    if (ours.includes(move.to)) continue;
    owners.set(move.mint, [...(owners.get(move.mint) ?? []), move.to]);
  }
  const found = await Promise.all([...owners].map(([mint, all]) => ledger.haveTokenAccounts(all, mint)));
  const missing = found.flat().filter((has) => !has).length;
  return (
    networkFee + (missing === 0 ? 0n : BigInt(missing) * (await ledger.rentMinimum(TOKEN_ACCOUNT_BYTES)))
  );
}

/** An attempt that is about to be stored, and what landing would cost the sponsor, in lamports. */
interface CostlyAttempt {
  readonly signature: string;
  readonly cost: bigint;
  readonly at: number;
}

/** What may still be spent on the order of one address, in lamports. */
export interface Allowance {
  readonly left: bigint;
  /** Belongs into the commit of the attempt: it is refused where attempts that are stored meanwhile have left too little. */
  readonly take: (attempt: CostlyAttempt) => PaymentWrite;
}

/** What earlier versions of this service signed stands in the plans alone. */
export async function allowanceOf(
  storage: Pick<PaymentStorage, "load" | "transaction" | "reservations">,
  { address, transactionId, kind }: Pick<PaymentRecord, "address" | "transactionId" | "kind">,
): Promise<Allowance> {
  const resource = `costs of ${address}`;
  // First: what is stored between the readings is then counted twice, and never left out.
  const taken = (await storage.reservations(resource)).reduce((sum, { amount }) => sum + amount, 0n);
  const [{ allowance }, view] = await Promise.all([
    depositContext(storage, address),
    storage.transaction(transactionId),
  ]);
  if (view === null) throw new Error(`transaction ${transactionId} is not stored`);
  const spent = view.payments
    .flatMap(({ plan }) => readPlan(plan).costs ?? [])
    .reduce((sum, cost) => sum + BigInt(cost), 0n);
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

/** An attempt that can land no more has cost nothing. */
export async function returnedAllowance(
  storage: Pick<PaymentStorage, "reservation">,
  signature: string | null,
  at: number,
): Promise<readonly PaymentWrite[]> {
  const id = costId(signature ?? "");
  const taken = await storage.reservation(id);
  return taken === null ? [] : [{ table: "reservations", id, set: { releasedAt: at } }];
}

function costId(signature: string): string {
  return `${signature}:cost`;
}
