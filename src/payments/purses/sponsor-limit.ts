/** Limits what a day may cost the sponsor: counted in the commit that takes an order, recorded with each signature. */
import type { PaymentRecord } from "../tables/payments.ts";
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import type { Address } from "../../address.ts";
import { DAY_MS, deskPurse, inADay, spend, spentInADay, sponsorPurse } from "../spending.ts";
import { type PromiseReads, promisesAt } from "../swap-provider/reserve.ts";
import { lastingCost } from "./sponsor-allowance.ts";
import type { RoutingCost } from "../outgoing/plans/routing-cost.ts";
import type { DepositRecord } from "../tables/deposits.ts";
import { boundShareId, waitingShareId } from "./sponsor-share.ts";

/** An order that is to be taken. */
interface OrderCost {
  readonly transactionId: string;
  readonly sponsor: Address;
  readonly cost: RoutingCost;
  /** The time for which an order waits for its deposit, in milliseconds. */
  readonly depositWindowMs: number;
}

/**
 * The daily limit in lamports, null without a limit; the time at which an order is taken, and the time that judges age.
 */
interface DayLimit {
  readonly mostPerDay: bigint | null;
  readonly now: number;
  readonly agedTo: number;
}

/** Parts of the commit that takes an order. */
export interface SponsorLimitWrites {
  /** Makes room of shares that have lapsed; before `take`. */
  readonly makeRoom: readonly PaymentWrite[];
  /** Refused when the day has no room for the order. */
  readonly take: PaymentWrite;
}

/**
 * Reserves the lamports that an order may cost the sponsor for good, until its address has come to rest; from then on
 * only recorded spendings count, which are stored with each signature. Until then spendings count beside the
 * reservation, so the limit is never exceeded but may be reached early. The reservation of an order that never ends
 * lapses a day after its deposit window.
 */
export async function shareOfDay(
  storage: PromiseReads & Pick<PaymentStorage, "spent">,
  { transactionId, sponsor, cost, depositWindowMs }: OrderCost,
  { mostPerDay, now, agedTo }: DayLimit,
): Promise<SponsorLimitWrites> {
  const resource = inADay(sponsorPurse(sponsor));
  const insert = {
    id: dayShareId(transactionId),
    version: 1,
    resource,
    amount: lastingCost(cost),
    createdAt: now,
    lapsesAt: now + depositWindowMs + DAY_MS,
    releasedAt: null,
  };
  if (mostPerDay === null) return { makeRoom: [], take: { table: "reservations", insert } };
  const shares = promisesAt(storage, agedTo);
  await shares.promised(resource);
  const total = mostPerDay - (await spentInADay(storage, sponsorPurse(sponsor), agedTo));
  return { makeRoom: shares.releaseLapsed(), take: { table: "reservations", insert, atMost: { total } } };
}

/** Releases an order's share; what the order has spent is on record. */
export function releaseShareOfDay(transactionId: string, at: number): PaymentWrite {
  return { table: "reservations", id: dayShareId(transactionId), set: { releasedAt: at } };
}

/** The id of what an order counts of the day. */
function dayShareId(transactionId: string): string {
  return `${transactionId}:day`;
}

/** A payment that was signed, and what landing costs the sponsor, in lamports. */
interface SignedPayment {
  readonly row: Pick<PaymentRecord, "kind" | "mint" | "legs">;
  readonly signature: string;
  readonly cost: bigint;
}

/** Spendings of a signed payment: the sponsor's lamports, and for a swap the desk's payment. */
export function spendingsOf(
  { sponsor, desk }: { readonly sponsor: Address; readonly desk: Address | null },
  { row, signature, cost }: SignedPayment,
  now: number,
): readonly PaymentWrite[] {
  const [leg] = row.kind === "swap" ? row.legs : [];
  const given =
    desk === null || leg === undefined
      ? []
      : spend({ signature, purse: deskPurse(desk, row.mint), amount: leg.amount }, now);
  return [...spend({ signature, purse: sponsorPurse(sponsor), amount: cost }, now), ...given];
}

/**
 * Takes again what a write-off has freed, for an order that an operator releases before it is over: the sponsor's
 * reservation, what counts of the day, and the shares of the order's account, as far as they were released.
 * None is refused for want of room: it is an operator's word, and no new order.
 */
export async function boundAgain(
  storage: Pick<PaymentStorage, "reservation">,
  { transactionId, waitEndedAt }: Pick<DepositRecord, "transactionId" | "waitEndedAt">,
): Promise<readonly PaymentWrite[]> {
  const ids = [transactionId, dayShareId(transactionId), boundShareId(transactionId)];
  // The share of waiting orders ended when it stopped waiting.
  if (waitEndedAt === null) ids.push(waitingShareId(transactionId));
  const rows = await Promise.all(ids.map((id) => storage.reservation(id)));
  return rows.flatMap((row): readonly PaymentWrite[] => {
    if (row === null || row.releasedAt === null) return [];
    const { id, version: expectedVersion, lapsesAt, releasedAt } = row;
    // A share that lapses by itself keeps its time; a share that ended with the write-off counts until its order is
    // over.
    const set = { releasedAt: null, lapsesAt: lapsesAt === releasedAt ? null : lapsesAt };
    return [{ table: "reservations", id, set, expectedVersion }];
  });
}
