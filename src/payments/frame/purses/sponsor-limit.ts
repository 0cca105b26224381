/** Reserves the sponsor's lamports for an order in the commit that takes it, until the order is over and at rest. */
import type { Address } from "../../../core/address.ts";
import type { Caller } from "../accounts/caller.ts";
import type { FrameStorage, FrameWrite } from "../frame-storage.ts";
import { spentInADay, sponsorPurse } from "../spending.ts";
import type { Tier } from "../tables/identity.ts";
import type { ReservationRecord } from "../tables/limits.ts";

/** The most that the orders of one account of which nothing is signed yet may reserve, in percent of what the sponsor holds. */
export const SPONSOR_SHARE_PERCENT: Readonly<Record<Tier, bigint>> = {
  free: 2n,
  pro: 5n,
  enterprise: 20n,
};

const PERCENT = 100n;

/** A sponsor with this many times the reservation of an order has room for an order of every account. */
export const SPONSOR_ORDERS = PERCENT / SPONSOR_SHARE_PERCENT.free;

/** An order that is to be taken, and what bounds it. Amounts in lamports. */
interface ReservedOrder {
  readonly id: string;
  readonly sponsor: Address;
  readonly caller: Pick<Caller, "accountId" | "tier">;
  /** The most that the order may cost the sponsor. */
  readonly amount: bigint;
  /** The funds of the sponsor. */
  readonly held: bigint;
  /** The most that the sponsor may spend within 24 hours; null without a limit. */
  readonly mostPerDay: bigint | null;
  readonly createdAt: number;
}

/**
 * Two rows, each refused if there is no room: the order's of what the sponsor holds and may spend in a day, and its share of
 * what the account may have waiting, rounded down. A signed cost counts as spent in the day, beside the reservation, until
 * the order rests: the limit of a day is never exceeded, but may be reached early.
 */
export async function reserveOrder(
  storage: Pick<FrameStorage, "spent">,
  order: ReservedOrder,
): Promise<readonly FrameWrite[]> {
  const { id, sponsor, caller, amount, held, mostPerDay, createdAt } = order;
  const resource = sponsorPurse(sponsor);
  const left = mostPerDay === null ? held : mostPerDay - (await spentInADay(storage, resource, createdAt));
  const insert: ReservationRecord = {
    id,
    version: 1,
    resource,
    amount,
    createdAt,
    lapsesAt: null,
    releasedAt: null,
  };
  const share = { ...insert, id: shareId(id), resource: waitingOf(sponsor, caller.accountId) };
  return [
    { table: "reservations", insert, atMost: { total: left < held ? left : held } },
    {
      table: "reservations",
      insert: share,
      atMost: { total: (held * SPONSOR_SHARE_PERCENT[caller.tier]) / PERCENT },
    },
  ];
}

/** The resource of an account's waiting orders. */
export function waitingOf(sponsor: string, accountId: string): string {
  return `${sponsorPurse(sponsor)} of ${accountId}`;
}

/** The id of the share that a waiting order has of what its account may reserve. */
export function shareId(order: string): string {
  return `${order}:share`;
}

/**
 * Releases an order's part of the account's share, once the first bytes of the order are signed or never will be. A deposit
 * does not release it: orders that an unknown or refused wallet has paid stay held, and would reserve the sponsor for all accounts.
 */
export function releaseShare(order: string, at: number): FrameWrite {
  return { table: "reservations", id: shareId(order), set: { releasedAt: at } };
}

/** The same, unless it is released already. */
export async function shareLeft(
  storage: Pick<FrameStorage, "reservation">,
  order: string,
  at: number,
): Promise<readonly FrameWrite[]> {
  const share = await storage.reservation(shareId(order));
  return share?.releasedAt === null ? [releaseShare(order, at)] : [];
}

/** Releases what is reserved of the sponsor: the order is over, and nothing is left to be done. */
export function releaseOrder(order: string, at: number): FrameWrite {
  return { table: "reservations", id: order, set: { releasedAt: at } };
}

/** Reserves what is left to be paid of an order in place of what it reserved before. Nothing is refused for it. */
export function reserveAgain(order: string, amount: bigint): FrameWrite {
  return { table: "reservations", id: order, set: { amount, releasedAt: null } };
}
