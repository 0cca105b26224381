/** `paystate operator reconcile`: the database against the chain, and what of it is not explained. */
import type { AddressReport, Finding } from "../payments/private/reconcile/findings.ts";
import type { AssetTally } from "../payments/private/reconcile/orders.ts";
import type { PurseReconciliation } from "../payments/operator/reconcile/purses.ts";
import type { Reconciliation } from "../service/reconcile-service.ts";
import type { WalletReconciliation, WalletFinding } from "../payments/operator/reconcile/wallet.ts";
import type { OperatorService } from "./open-service.ts";
import type { Print } from "./command.ts";

/** Prints the findings, and resolves with whether all findings are explained. */
export async function reconcile(
  service: OperatorService,
  print: Print,
  { json }: { readonly json: boolean },
): Promise<boolean> {
  const reconciliation = await service.reconcile();
  print(json ? JSON.stringify(reconciliation) : reconciliationPage(reconciliation));
  return reconciliation.isExplained;
}

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

/** The page for people: a line for each address with a problem, then the sums, then the verdict. */
function reconciliationPage(reconciliation: Reconciliation): string {
  const { isExplained, addresses, assets, findings, wallet, purses, mendedTotals } = reconciliation;
  const lines = [
    ...findings.map(findingsLine),
    ...wallet.findings.map(walletLine),
    ...purses.filter(({ unknownSignatures }) => unknownSignatures.length > 0).map(purseLine),
    ...mendedTotals.map(
      ({ resource, kept, counted }) =>
        `${resource}: its total was ${kept}, its rows sum to ${counted}: mended`,
    ),
  ];
  const table = SUMS.map(([name, label]) => [label, ...assets.map((sums) => sums[name])]).filter(
    ([label, ...sums]) => label === "deposited" || sums.some((sum) => sum !== "0"),
  );
  const rows = [["", ...assets.map(({ asset }) => asset)], ...table];
  const width = Math.max(...rows.flatMap(([, ...sums]) => sums.map((sum) => sum.length)));
  return [
    ...lines,
    ...(lines.length === 0 ? [] : [""]),
    ...rows.map(([label = "", ...sums]) =>
      [label.padEnd(30), ...sums.map((sum) => sum.padStart(width))].join("  "),
    ),
    "",
    `${walletSentence(wallet)}${purses.map(purseSentence).join("")}`,
    `${addresses} deposit ${addresses === 1 ? "address" : "addresses"}: ${
      isExplained ? "every base unit is explained." : "NOT everything is explained."
    }`,
  ].join("\n");
}

function walletSentence({ transactions, unproven }: WalletReconciliation): string {
  const what = `${transactions} wallet ${transactions === 1 ? "transaction" : "transactions"} that are over`;
  return unproven === 0 ? `${what}.` : `${what}, of ${unproven} of which no node has the history any more.`;
}

function purseSentence({ purse, transactions, isWhole }: PurseReconciliation): string {
  return ` ${isWhole ? "" : "The newest "}${transactions} transactions of the ${purse}.`;
}

const ON_CHAIN: Readonly<Record<WalletFinding["onChain"], string>> = {
  landed: "was carried out",
  landed_with_error: "failed on the chain",
  never_landed: "never landed",
};

function walletLine({ transactionId, status, signature, onChain }: WalletFinding): string {
  return `${transactionId} (${status}) ${signature}: ${ON_CHAIN[onChain]}`;
}

function purseLine({ purse, address, unknownSignatures }: PurseReconciliation): string {
  return `${purse} ${address}: has signed ${unknownSignatures.join(", ")}, which this database does not know`;
}

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
