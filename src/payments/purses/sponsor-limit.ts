/** Limits what a day may cost the sponsor: counted in the commit that takes an order, recorded with each signature. */
import type { PaymentRecord } from "../tables/payments.ts";
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import type { Address } from "../../address.ts";
import { DAY_MS, deskPurse, inADay, spend, spentInADay, sponsorPurse } from "../spending.ts";
import { type PromiseReads, promisesAt, lapsedOf, released } from "../swap-provider/reserve.ts";
import { lastingCost } from "./sponsor-allowance.ts";
import type { RoutingCost } from "../outgoing/plans/routing-cost.ts";
import type { DepositRecord } from "../tables/deposits.ts";
import type { Tier } from "../tables/identity.ts";
import type { ReservationRecord } from "../tables/limits.ts";
import type { Caller } from "../accounts/caller.ts";

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

/** The most that the waiting orders of one account may reserve, in percent of what the sponsor holds. */
export const SPONSOR_SHARE_PERCENT: Readonly<Record<Tier, bigint>> = {
  free: 2n,
  pro: 5n,
  enterprise: 20n,
};

/** Waiting and funded orders together may reserve so many times the share of the waiting ones. */
const BOUND_SHARES = 2n;

/**
 * How long an order counts against its account after its payouts are final: longer than the sweep of its markers takes.
 * Money sent to the address later neither extends nor shortens this time.
 */
export const COUNTED_MS = 2 * 3_600_000;

const PERCENT = 100n;

/** A sponsor with this many times the reservation of an order has room for an order of every account. */
export const SPONSOR_ORDERS = PERCENT / SPONSOR_SHARE_PERCENT.free;

/** The id of an order's reservation within the share of its account's waiting orders. */
function waitingShareId(transactionId: string): string {
  return `${transactionId}:share`;
}

/** The id of what an order counts within the share of its account's waiting and funded orders. */
export function boundShareId(transactionId: string): string {
  return `${transactionId}:bound`;
}

/** The id of what the first refund of an order counts that was over without a deposit. */
export function lateShareId(transactionId: string): string {
  return `${transactionId}:late`;
}

/** The resource of an account's waiting orders. */
export function waitingOf(sponsor: string, accountId: string): string {
  return `${sponsorPurse(sponsor)} of ${accountId}`;
}

/** The resource of an account's waiting and funded orders. */
export function boundBy(sponsor: string, accountId: string): string {
  return `${sponsorPurse(sponsor)} bound by ${accountId}`;
}

/** The most that may be counted under it, where the sponsor holds so many lamports; rounded down. */
export function mostBound(tier: Tier, held: bigint): bigint {
  return (held * SPONSOR_SHARE_PERCENT[tier] * BOUND_SHARES) / PERCENT;
}

/** An order that is to be taken: its reservation, its account, and the sponsor's balance in lamports. */
interface SharedReservation {
  readonly reservation: ReservationRecord;
  readonly sponsor: string;
  readonly caller: Pick<Caller, "accountId" | "tier">;
  readonly held: bigint;
}

/** Both shares of an order, each refused where it has no room. Shares are rounded down. */
export function reserveShares(order: SharedReservation): readonly PaymentWrite[] {
  const { reservation, sponsor, caller, held } = order;
  const { id } = reservation;
  const { accountId, tier } = caller;
  return [
    {
      table: "reservations",
      insert: { ...reservation, id: waitingShareId(id), resource: waitingOf(sponsor, accountId) },
      atMost: { total: (held * SPONSOR_SHARE_PERCENT[tier]) / PERCENT },
    },
    {
      table: "reservations",
      insert: { ...reservation, id: boundShareId(id), resource: boundBy(sponsor, accountId) },
      atMost: { total: mostBound(tier, held) },
    },
  ];
}

/** Releases the share of waiting orders, and nothing else: the order was funded, cancelled, or its window closed. */
export function releaseShare(transactionId: string, at: number): PaymentWrite {
  return { table: "reservations", id: waitingShareId(transactionId), set: { releasedAt: at } };
}

/**
 * Releases all that counts no longer against an account; belongs before the writes that need its room. A part of it could
 * be too little for ever: it is kept where the commit is refused.
 */
export async function releaseUncounted(
  storage: Pick<PaymentStorage, "lapsing">,
  resource: string,
  now: number,
): Promise<readonly PaymentWrite[]> {
  return released(await lapsedOf(storage, resource, now), now);
}

/** Releases what of an order still counts against its account: an operator has written it off. */
export async function releaseBound(
  storage: Pick<PaymentStorage, "reservation">,
  transactionId: string,
  at: number,
): Promise<readonly PaymentWrite[]> {
  const rows = await Promise.all(
    [boundShareId(transactionId), lateShareId(transactionId)].map((id) => storage.reservation(id)),
  );
  return rows.flatMap((row): readonly PaymentWrite[] =>
    row === null || row.releasedAt !== null
      ? []
      : [
          {
            table: "reservations",
            id: row.id,
            set: { releasedAt: at, lapsesAt: at },
            expectedVersion: row.version,
          },
        ],
  );
}
