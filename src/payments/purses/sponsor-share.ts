/**
 * Limits the part of the sponsor's balance that the orders of one account may use, so that other accounts have room: a
 * share for orders without a deposit, and twice the share together with funded orders.
 */
import type { Tier } from "../tables/identity.ts";
import type { ReservationRecord } from "../tables/limits.ts";
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import type { Caller } from "../accounts/caller.ts";
import { sponsorPurse } from "../spending.ts";
import { lapsedOf, released } from "../swap-provider/reserve.ts";

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
export function waitingShareId(transactionId: string): string {
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
