/** How much of the sponsor's lamports orders may take up: what it holds, and what a day may cost. */
import type { PaymentRecord } from "../../../storage/records.ts";
import type { PaymentStorage, PaymentWrite } from "../../../storage/storage.ts";
import type { Address } from "../../address.ts";
import { deskPurse, spend, spentInADay, sponsorPurse } from "../spending.ts";

/** What the sponsor's room depends on. */
export interface SponsorLimit {
  readonly sponsor: Address;
  /** Lamports that the sponsor holds. */
  readonly lamports: bigint;
  /** Lamports that may be spent within 24 hours, null without a limit. */
  readonly mostPerDay: bigint | null;
}

/**
 * The most that all open orders together may reserve, in lamports: with a limit per day at most what is left of it. An
 * order ends well after its last signature was stored, so whatever it has spent is counted before its reservation goes.
 * May be below zero.
 */
export async function sponsorRoom(
  storage: Pick<PaymentStorage, "spendings">,
  { sponsor, lamports, mostPerDay }: SponsorLimit,
  now: number,
): Promise<bigint> {
  if (mostPerDay === null) return lamports;
  const left = mostPerDay - (await spentInADay(storage, sponsorPurse(sponsor), now));
  return left < lamports ? left : lamports;
}

/** A payment that was signed, and what landing costs the sponsor, in lamports. */
export interface SignedPayment {
  readonly row: Pick<PaymentRecord, "kind" | "mint" | "legs">;
  readonly signature: string;
  readonly cost: bigint;
}

/** What signing a payment spends: the sponsor's lamports, and for an exchange what the desk gives. */
export function spendingsOf(
  { sponsor, desk }: { readonly sponsor: Address; readonly desk: Address | null },
  { row, signature, cost }: SignedPayment,
  now: number,
): readonly PaymentWrite[] {
  const [leg] = row.kind === "exchange" ? row.legs : [];
  const given =
    desk === null || leg === undefined
      ? []
      : spend({ signature, purse: deskPurse(desk, row.mint), amount: leg.amount }, now);
  return [...spend({ signature, purse: sponsorPurse(sponsor), amount: cost }, now), ...given];
}
