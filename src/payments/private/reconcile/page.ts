/** The part of `paystate operator reconcile` about the addresses of private orders. */
import type { AddressReport, Finding } from "./findings.ts";
import type { AddressReconciliation, AssetTally } from "./orders.ts";

const SUMS: readonly (readonly [name: keyof AssetTally, label: string])[] = [
  ["deposits", "deposited"],
  ["arriving", "arriving, not recorded yet"],
  ["payouts", "paid out"],
  ["fees", "kept as fees"],
  ["refunds", "sent back, with costs"],
  ["leaving", "under way, not recorded yet"],
  ["writtenOff", "written off"],
  ["missing", "MISSING"],
  ["held", "still at the addresses"],
];

export const reconciledOrders = {
  findings: ({ findings }: AddressReconciliation): readonly string[] => findings.map(findingsLine),
  table({ assets }: AddressReconciliation): readonly string[] {
    const sums = SUMS.map(([name, label]) => [label, ...assets.map((tally) => tally[name])]).filter(
      ([label, ...row]) => label === "deposited" || row.some((sum) => sum !== "0"),
    );
    const rows = [["", ...assets.map(({ asset }) => asset)], ...sums];
    const width = Math.max(...rows.flatMap(([, ...row]) => row.map((sum) => sum.length)));
    return rows.map(([label = "", ...row]) =>
      [label.padEnd(30), ...row.map((sum) => sum.padStart(width))].join("  "),
    );
  },
  subject: ({ addresses }: AddressReconciliation): string =>
    `${addresses} deposit ${addresses === 1 ? "address" : "addresses"}`,
};

function findingsLine({ transactionId, address, status, findings }: AddressReport): string {
  return `${transactionId} (${status}) ${address}: ${findings.map(sentence).join("; ")}`;
}

function sentence(finding: Finding): string {
  switch (finding.finding) {
    case "missing":
      return `${finding.amount} ${finding.asset} are missing`;
    case "marker_gone":
      return `the marker of its chunk ${finding.chunk} is on record, and not on the chain`;
    case "unknown_marker":
      return finding.length === null
        ? `something else stands in the place of its marker ${finding.seed}`
        : `its marker ${finding.seed} has the length ${finding.length}, which says nothing`;
    case "contradiction":
      return `shown as paid, and no marker says so: ${finding.recipients.join(", ")}`;
    case "open_reservation":
      return `${finding.lamports} lamports of the sponsor are still promised to it`;
    case "held":
      return `held for an operator (${finding.reason})`;
    case "other_mint":
      return `${finding.units} raw units of ${finding.mint} wait: \`paystate operator resolve --action foreign\` sends them on`;
    case "uncounted":
      return `${finding.amount} ${finding.asset} in another token account: \`paystate operator resolve --action collect\` brings it back`;
  }
}
