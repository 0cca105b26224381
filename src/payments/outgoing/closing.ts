/**
 * The rules of closing. A closed marker refuses nothing, so the markers of a deposit address stand until no version of any
 * payment that they refuse can land: each version, not the newest alone, since one node may have told a wrong height when
 * it was signed. Planning a sweep asks for it, and so does signing it.
 */
import { BLOCKS_OF_SIGNED_BYTES } from "../../../machines/index.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Clock } from "../../runtime.ts";
import type { PaymentStorage } from "../payment-storage.ts";
import type { AttemptRecord, PaymentRecord } from "../tables/payments.ts";
import { proofOf, readPlan, type StoredPlan } from "./plans/stored-plan.ts";

/** How long the markers of an address stand at least after its last signing. */
export const AGING_MS = 3_600_000;

/** What the rules of closing look at. */
export interface ClosingRules {
  readonly storage: Pick<PaymentStorage, "attempts">;
  /** The ledger with its own number of witnesses: fewer are never enough to close a marker. */
  readonly configured: Pick<Ledger, "heights">;
  readonly clock: Clock;
}

/** The markers of one address. */
interface StandingMarkers {
  readonly address: string;
  readonly payments: readonly Pick<PaymentRecord, "plan" | "signature">[];
  /** 151 above the highest finalized height that any node told once the address had come to rest. */
  readonly closeAbove: number;
}

/**
 * Whether the markers may be closed now. False where they have to age once more: the last version is younger than that, or
 * no chain is as high as they wait for, since a node was wrong when they began to age. Throws while a height is waited for.
 */
export async function mayClose(
  { storage, configured, clock }: ClosingRules,
  { address, payments, closeAbove }: StandingMarkers,
): Promise<boolean> {
  const versions = await storage.attempts(payments.flatMap(versionsOf));
  const age = clock.now() - Math.max(...versions.map(({ createdAt }) => createdAt));
  // Below zero the clock was set back, and tells nothing.
  if (age >= 0 && age < AGING_MS) return false;
  const above = Math.max(closeAbove, ...versions.map(lastHeight));
  const { lowest, highest } = await configured.heights("finalized");
  if (lowest > above) return true;
  if (above > highest + BLOCKS_OF_SIGNED_BYTES) return false;
  throw new Error(
    `the markers of ${address} are closed above height ${above}, and the chain is at ${lowest}`,
  );
}

/** The signatures of every version of a payment that a marker refuses; sweeps and collections make no marker. */
function versionsOf({ plan, signature }: StandingMarkers["payments"][number]): readonly string[] {
  const stored = readPlan(plan);
  if (proofOf(stored) === null) return [];
  return signaturesIn(stored, signature);
}

/** Every signature under which a payment was signed. */
export function signaturesIn(
  { signatures }: Pick<StoredPlan, "signatures">,
  newest: string | null,
): readonly string[] {
  return signatures ?? (newest === null ? [] : [newest]);
}

function lastHeight({ lastValidBlockHeight }: AttemptRecord): number {
  return lastValidBlockHeight;
}
