/** Findings of a reconciliation about an address, which of them are unexplained, and how far it is. */
import { formatAmount } from "../../amount.ts";
import type { ExaminedAddress } from "./examine-address.ts";
import { type Clock, elapsed, type Logger } from "../../runtime.ts";

/** A finding about an address. */
export type Finding =
  /** Transactions of the address that landed and that this database does not know: it may be an old copy. */
  | { readonly finding: "unknown_spending"; readonly signatures: readonly string[] }
  /**
   * Too few nodes have the address's history of a time in which no process was at work on this database: another copy of it
   * may have paid out of the address.
   */
  | { readonly finding: "missing_history" }
  /** Payments that were never signed here and whose marker is on the chain: as above. */
  | { readonly finding: "unknown_marker"; readonly marks: readonly string[] }
  /** The chain holds so much less than what came in and went out on record. */
  | { readonly finding: "missing"; readonly asset: string; readonly amount: string }
  /** A payment whose row says something else than the chain. */
  | {
      readonly finding: "contradiction";
      readonly payment: string;
      readonly recorded: string;
      readonly onChain: "landed" | "landed_with_error";
    }
  /** The order will spend nothing more, but lamports of the sponsor are still reserved. */
  | { readonly finding: "open_reservation"; readonly lamports: string }
  /** The address waits for an operator, and signs nothing before. Explained, but it waits. */
  | { readonly finding: "held"; readonly reason: string }
  /** Foreign tokens: they wait for an operator's order. Explained. */
  | { readonly finding: "other_mint"; readonly mint: string; /** Raw units. */ readonly units: string }
  /** The address is no longer watched, and there is money: `release` sends it back. Explained, but it waits. */
  | { readonly finding: "unclaimed"; readonly asset: string; readonly amount: string };

/** The findings of one address. Amounts are decimal strings in whole units. */
export interface AddressReport {
  readonly transactionId: string;
  readonly address: string;
  /** The order's. */
  readonly status: string;
  readonly findings: readonly Finding[];
}

const EXPLAINED: ReadonlySet<Finding["finding"]> = new Set(["held", "unclaimed", "other_mint"]);

export function areExplained(findings: readonly Finding[]): boolean {
  return findings.every(({ finding }) => EXPLAINED.has(finding));
}

/** Whether money left the address without this database's knowledge. */
export function isSpentElsewhere(findings: readonly Finding[]): boolean {
  return findings.some(({ finding }) => SPENT_ELSEWHERE.has(finding));
}

const SPENT_ELSEWHERE: ReadonlySet<Finding["finding"]> = new Set([
  "unknown_spending",
  "unknown_marker",
  "missing",
]);

/** States in which an address waits for nothing but money that comes late, or for an operator. */
const AT_REST: ReadonlySet<string> = new Set(["resting", "slowLane", "closed"]);

/** `reserved` are the lamports that are still promised to the order, if any. */
export function findingsOf(examined: ExaminedAddress, reserved: bigint | null): readonly Finding[] {
  const { facts, tallies, otherMints, unknownSignatures, isHistoryMissing, unknownMarkers, contradictions } =
    examined;
  const { deposit, state } = facts;
  const findings: Finding[] = [];
  if (unknownSignatures.length > 0) {
    findings.push({ finding: "unknown_spending", signatures: unknownSignatures });
  }
  if (isHistoryMissing) findings.push({ finding: "missing_history" });
  if (unknownMarkers.length > 0) findings.push({ finding: "unknown_marker", marks: unknownMarkers });
  for (const { asset, tally } of tallies) {
    const say = (amount: bigint) => ({ asset: asset.symbol, amount: formatAmount(amount, asset.decimals) });
    if (tally.missing > 0n) findings.push({ finding: "missing", ...say(tally.missing) });
    if (tally.held > 0n && state === "closed") findings.push({ finding: "unclaimed", ...say(tally.held) });
  }
  findings.push(...contradictions.map((each) => ({ finding: "contradiction" as const, ...each })));
  if (reserved !== null && state !== null && AT_REST.has(state)) {
    findings.push({ finding: "open_reservation", lamports: String(reserved) });
  }
  for (const { mint, units } of otherMints) {
    findings.push({ finding: "other_mint", mint, units: String(units) });
  }
  if (deposit.heldReason !== null) findings.push({ finding: "held", reason: deposit.heldReason });
  return findings;
}

const TELL_EVERY_MS = 60_000;

/** What has been looked at so far. */
interface ReconciliationProgress {
  readonly addresses?: number;
  readonly transactions?: number;
}

export type TellProgress = (progress: ReconciliationProgress) => void;

export function toldEachMinute({
  clock,
  log,
}: {
  readonly clock: Clock;
  readonly log: Logger;
}): TellProgress {
  let toldAt = elapsed(clock);
  return (progress) => {
    if (elapsed(clock) - toldAt < TELL_EVERY_MS) return;
    toldAt = elapsed(clock);
    log.info({ ...progress }, "the database is being reconciled with the chain");
  };
}
