/** Compares the kept totals of what is reserved with the rows that they count, and mends those that differ. */
import type { PaymentStorage } from "../payment-storage.ts";
import { boundBy, waitingOf } from "../purses/sponsor-share.ts";
import { inADay } from "../spending.ts";

/** A total that something else than the service has changed: counted anew from its rows, and right since. */
export interface MendedTotal {
  /** What is limited, such as `sponsor <address>`. */
  readonly resource: string;
  /** Base units as they were kept, and as the rows sum to; decimal. */
  readonly kept: string;
  readonly counted: string;
}

const PAGE = 100;

type TotalReads = Pick<PaymentStorage, "reserved" | "reservations" | "recounted" | "accountsAfter">;

/** What is limited: the keys of purses, and the sponsor whose lamports accounts share. */
interface Limited {
  readonly purses: readonly string[];
  /** Null where no deposit was ever taken. */
  readonly sponsor: string | null;
}

/** Goes through what is reserved of each purse, in all and in a day, and through the shares of every account. */
export async function reconcileTotals(
  storage: TotalReads,
  { purses, sponsor }: Limited,
): Promise<readonly MendedTotal[]> {
  const ofPurses = purses.flatMap((purse) => [purse, inADay(purse)]);
  const mended = await mendedAmong(storage, ofPurses);
  if (sponsor === null) return mended;
  for (let after = ""; ;) {
    const page = await storage.accountsAfter(after, PAGE);
    const last = page.at(-1);
    if (last === undefined) return mended;
    after = last.id;
    const shares = page.flatMap(({ id }) => [waitingOf(sponsor, id), boundBy(sponsor, id)]);
    mended.push(...(await mendedAmong(storage, shares)));
  }
}

async function mendedAmong(storage: TotalReads, resources: readonly string[]): Promise<MendedTotal[]> {
  const mended: MendedTotal[] = [];
  for (const resource of resources) {
    const kept = await storage.reserved(resource);
    const rows = await storage.reservations(resource);
    if (rows.reduce((sum, { amount }) => sum + amount, 0n) === kept) continue;
    // Orders go on meanwhile, so that the readings may differ; the database compares within one transaction.
    const before = await storage.reserved(resource);
    const counted = await storage.recounted(resource);
    if (before !== counted) mended.push({ resource, kept: String(before), counted: String(counted) });
  }
  return mended;
}
