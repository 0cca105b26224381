/** Limits what the waiting orders of one account may reserve of the sponsor, so that others have room. */
import type { ReservationRecord } from "../records.ts";
import type { PaymentWrite } from "../payment-storage.ts";
import type { Caller } from "../accounts/caller.ts";

/** The most that the waiting orders of one account may reserve, in percent of what the sponsor holds. */
export const SPONSOR_SHARE_PERCENT: Readonly<Record<Caller["tier"], bigint>> = {
  free: 2n,
  pro: 5n,
  enterprise: 20n,
};

const PERCENT = 100n;

/** A sponsor that holds this many times what an order reserves has room for one order of any account. */
export const SPONSOR_ORDERS = PERCENT / SPONSOR_SHARE_PERCENT.free;

/** The id of an order's reservation within its account's share. */
function shareId(transactionId: string): string {
  return `${transactionId}:share`;
}

/**
 * Reserves what `reservation` reserves of the sponsor within the share of its account too, refused where the share has no
 * room. `held` is what the sponsor holds, in lamports; shares are rounded down.
 */
export function reserveShare(
  reservation: ReservationRecord,
  { accountId, tier }: Pick<Caller, "accountId" | "tier">,
  held: bigint,
): PaymentWrite {
  const { id, resource } = reservation;
  return {
    table: "reservations",
    insert: { ...reservation, id: shareId(id), resource: `${resource} of ${accountId}` },
    atMost: { total: (held * SPONSOR_SHARE_PERCENT[tier]) / PERCENT },
  };
}

/** Releases the share, but not the sponsor's reservation: the order was funded, cancelled, or its window closed. */
export function releaseShare(transactionId: string, at: number): PaymentWrite {
  return { table: "reservations", id: shareId(transactionId), set: { releasedAt: at } };
}
