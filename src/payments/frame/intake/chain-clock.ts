/**
 * Compares the clock that quotes and windows begin by with the time of the chain, by which windows end. Asks no node: the
 * ledger remembers what it was told.
 */
import { contradict } from "../../../core/clock-trust.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { type ServiceContext, storageTime } from "../service-context.ts";

const SECOND_MS = 1_000;
const MOST_APART_MS = 60_000;

export interface ClockParts extends Pick<ServiceContext, "clock"> {
  readonly storage: Pick<ServiceContext["storage"], "time">;
  readonly ledger: Pick<Ledger, "time">;
}

/**
 * The lead of the chain over the storage's clock, negative when behind; null for up to a minute, and while the chain's
 * time is not known.
 */
export async function contradictionOf(clocks: ClockParts): Promise<number | null> {
  const [chain, now] = await Promise.all([clocks.ledger.time(), storageTime(clocks)]);
  const aheadMs = chain === null ? 0 : chain - now;
  if (Math.abs(aheadMs) <= MOST_APART_MS) return null;
  contradict(clocks.clock, -aheadMs);
  return aheadMs;
}

/**
 * Whether a reading that enough endpoints confirm comes from a block ahead of the storage's clock: a process that has
 * just begun has no other word of the chain yet. A chain that stands still is behind, which contradicts nothing.
 */
export function isBehindBlock(now: number, { blockTime }: { readonly blockTime: number }): boolean {
  return blockTime * SECOND_MS - now > MOST_APART_MS;
}
