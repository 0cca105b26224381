/** Findings of a reconciliation about an order's address, and which of them are unexplained. */
import { formatAmount } from "../../../core/amount.ts";
import type { ExaminedOrder } from "./examine-order.ts";

/** A finding about an order. */
export type Finding =
  /** The chain holds so much less than what came in and went out. */
  | { readonly finding: "missing"; readonly asset: string; readonly amount: string }
  /** A marker that the database has on record, and that the chain does not show. */
  | { readonly finding: "marker_gone"; readonly chunk: number }
  /** A marker that says nothing this service ever says; null for what is no marker of the service's at all. */
  | { readonly finding: "unknown_marker"; readonly seed: string; readonly length: number | null }
  /** The order is shown as paid to recipients whom no marker on the chain pays. */
  | { readonly finding: "contradiction"; readonly status: string; readonly recipients: readonly string[] }
  /** The order is over and at rest, but lamports of the sponsor are still reserved. */
  | { readonly finding: "open_reservation"; readonly lamports: string }
  /** The order waits for an operator. Explained, but it waits. */
  | { readonly finding: "held"; readonly reason: string }
  /** Foreign tokens: they wait for an operator's act. Explained. */
  | { readonly finding: "other_mint"; readonly mint: string; /** Raw units. */ readonly units: string }
  /** Money in a token account that does not count: `collect` brings it back. Explained. */
  | { readonly finding: "uncounted"; readonly asset: string; readonly amount: string };

/** The findings of one address. Amounts are decimal strings in whole units. */
export interface AddressReport {
  readonly transactionId: string;
  readonly address: string;
  /** The order's. */
  readonly status: string;
  readonly findings: readonly Finding[];
}

const EXPLAINED: ReadonlySet<Finding["finding"]> = new Set(["held", "uncounted", "other_mint"]);

export function areExplained(findings: readonly Finding[]): boolean {
  return findings.every(({ finding }) => EXPLAINED.has(finding));
}

/** `reserved` are the lamports that are still promised to the order, if any. */
export function findingsOf(
  { view, transaction, tallies, uncounted, goneChunks, unknownMarkers, unpaid }: ExaminedOrder,
  reserved: bigint | null,
): readonly Finding[] {
  const { status } = transaction;
  const missing = tallies.filter(({ tally }) => tally.missing > 0n);
  const isAtRest = view.order.state === "over" && view.order.overState === "idle";
  const held = view.holds.filter(({ endedAt }) => endedAt === null);
  return [
    ...missing.map(({ asset, tally }) => ({
      finding: "missing" as const,
      asset: asset.symbol,
      amount: formatAmount(tally.missing, asset.decimals),
    })),
    ...goneChunks.map((chunk) => ({ finding: "marker_gone" as const, chunk })),
    ...unknownMarkers.map((each) => ({ finding: "unknown_marker" as const, ...each })),
    ...(unpaid.length === 0 ? [] : [{ finding: "contradiction" as const, status, recipients: unpaid }]),
    ...(reserved === null || !isAtRest
      ? []
      : [{ finding: "open_reservation" as const, lamports: String(reserved) }]),
    ...uncounted.map(({ mint, asset, amount }) =>
      asset === null
        ? { finding: "other_mint" as const, mint, units: String(amount) }
        : {
            finding: "uncounted" as const,
            asset: asset.symbol,
            amount: formatAmount(amount, asset.decimals),
          },
    ),
    ...held.map(({ reason }) => ({ finding: "held" as const, reason })),
  ];
}
