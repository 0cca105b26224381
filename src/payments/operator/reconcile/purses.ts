/** Compares the service's own wallets with the chain, and the kept totals of what is reserved with their rows. */
import type { Address } from "../../../core/address.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import type { FrameStorage } from "../../frame/frame-storage.ts";
import { waitingOf } from "../../frame/purses/sponsor-limit.ts";
import { inADay, spendingId, sponsorPurse } from "../../frame/spending.ts";

/** The reconciliation of one wallet. */
export interface PurseReconciliation {
  readonly purse: "sponsor" | "desk";
  readonly address: Address;
  /** The number of carried out transactions that the purse has signed, as far as the nodes list them. */
  readonly transactions: number;
  /** False when it has signed more than were looked through: then older ones were not. */
  readonly isWhole: boolean;
  /**
   * Signatures that are not recorded here: the database is an old copy, a different database signs with the same key, or the
   * key is stolen.
   */
  readonly unknownSignatures: readonly string[];
}

/** A wallet of the service's own that signs. */
export type PurseAddress = Pick<PurseReconciliation, "purse" | "address">;

interface PurseReconciliationParts {
  readonly storage: Pick<FrameStorage, "attempts" | "spending">;
  readonly ledger: Pick<Ledger, "signedBy">;
}

/** Changes nothing. Rejects with `LedgerUnavailable`. */
export function reconcilePurses(
  { storage, ledger }: PurseReconciliationParts,
  purses: readonly PurseAddress[],
): Promise<readonly PurseReconciliation[]> {
  return Promise.all(
    purses.map(async ({ purse, address }) => {
      const { transactions, isWhole } = await ledger.signedBy(address);
      const signatures = transactions.filter(({ error }) => error === null).map(({ signature }) => signature);
      const known = new Set((await storage.attempts(signatures)).map(({ id }) => id));
      const others = signatures.filter((signature) => !known.has(signature));
      // The sponsor's own token accounts were made by bytes that no transaction has.
      const spent = await Promise.all(
        others.map((signature) => storage.spending(spendingId(signature, sponsorPurse(address)))),
      );
      const unknownSignatures = others.filter((_, index) => spent[index] === null);
      return { purse, address, transactions: signatures.length, isWhole, unknownSignatures };
    }),
  );
}

/** A total that something else than the service has changed: counted anew from its rows, and right since. */
export interface MendedTotal {
  /** The subject of the limit, such as `sponsor <address>`. */
  readonly resource: string;
  /** Base units as they were kept, and as the rows sum to; decimal. */
  readonly kept: string;
  readonly counted: string;
}

const PAGE = 100;

type TotalReads = Pick<FrameStorage, "reserved" | "reservations" | "recounted" | "accountsAfter">;

/** The subjects of limits: the keys of purses, and the sponsor whose lamports accounts share. */
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
    const shares = page.map(({ id }) => waitingOf(sponsor, id));
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
