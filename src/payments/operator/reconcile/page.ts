/** The page of a reconciliation, for people: a line for each problem, then the sums, then the verdict. */
import type { PurseReconciliation } from "./purses.ts";
import type { CommonReconciliation } from "./reconcile.ts";
import type { WalletFinding, WalletReconciliation } from "./wallet.ts";

/** A module's part of the page. */
export interface PagePart<Told> {
  /** A line for each record with a problem. */
  readonly findings: (told: Told) => readonly string[];
  readonly table: (told: Told) => readonly string[];
  /** The account whose base units are explained, or not. */
  readonly subject: (told: Told) => string;
}

function verdictOf({ isExplained }: Pick<CommonReconciliation, "isExplained">): string {
  return isExplained ? "every base unit is explained." : "NOT everything is explained.";
}

/** The page for people: a line for each address with a problem, then the sums, then the verdict. */
export function reconciliationPage<Told extends CommonReconciliation>(
  reconciliation: Told,
  parts: readonly PagePart<Told>[],
): string {
  const { wallet, purses, mendedTotals } = reconciliation;
  const lines = [
    ...parts.flatMap(({ findings }) => findings(reconciliation)),
    ...wallet.findings.map(walletLine),
    ...purses.filter(({ unknownSignatures }) => unknownSignatures.length > 0).map(purseLine),
    ...mendedTotals.map(
      ({ resource, kept, counted }) =>
        `${resource}: its total was ${kept}, its rows sum to ${counted}: mended`,
    ),
  ];
  const tables = parts.flatMap(({ table }) => [...table(reconciliation), ""]);
  return [
    ...lines,
    ...(lines.length === 0 ? [] : [""]),
    ...tables,
    `${walletSentence(wallet)}${purses.map(purseSentence).join("")}`,
    [...parts.map(({ subject }) => subject(reconciliation)), verdictOf(reconciliation)].join(": "),
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
