/**
 * The rules of closing. A closed marker refuses nothing, so the markers of a deposit address stay until no version of
 * any refused payment can land: all versions, not only the newest, since a node may have reported a wrong height when a
 * version was signed. The rules are checked when a sweep is planned, and again when it is signed.
 */
import { BLOCKS_OF_SIGNED_BYTES } from "../../../machines/deposit-address-context.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Clock } from "../../runtime.ts";
import type { PaymentStorage } from "../payment-storage.ts";
import type { AttemptRecord, PaymentRecord } from "../tables/payments.ts";
import { proofOf, readPlan, type StoredPlan } from "./plans/stored-plan.ts";

/** The least time that the markers of an address stay after the last signing. */
export const AGING_MS = 3_600_000;

export interface ClosingRules {
  readonly storage: Pick<PaymentStorage, "attempts">;
  /** The ledger with its own number of witnesses: fewer are never enough to close a marker. */
  readonly configured: Pick<Ledger, "heights">;
  readonly clock: Clock;
}

interface StandingMarkers {
  readonly address: string;
  readonly payments: readonly Pick<PaymentRecord, "plan" | "signature">[];
  /** 151 above the highest finalized height that any node told once the address had come to rest. */
  readonly closeAbove: number;
}

/**
 * Whether the markers may be closed now. False when the markers have to age once more: the last version is younger than
 * `AGING_MS`, or the awaited height is beyond any chain, because a node was wrong when the aging began. Throws while a
 * height is awaited.
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

export function signaturesIn(
  { signatures }: Pick<StoredPlan, "signatures">,
  newest: string | null,
): readonly string[] {
  return signatures ?? (newest === null ? [] : [newest]);
}

function lastHeight({ lastValidBlockHeight }: AttemptRecord): number {
  return lastValidBlockHeight;
}
